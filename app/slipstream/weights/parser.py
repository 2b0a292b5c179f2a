"""Walks over the bytes of a GGUF header, within bounds whatever they say.

Long arrays (a vocabulary of 262,144 tokens) are stepped over without building them.
"""

import math
import struct
from dataclasses import dataclass, replace

from slipstream.weights.cursor import MAX_HEADER_BYTES, Cursor, Damage, Readable, Scalar
from slipstream.weights.tensor_types import TENSOR_TYPES, TYPE_NUMBERS, type_name

MAX_KEYS = 65_536
MAX_TENSORS = 65_536
MAX_STRINGS = 4 << 20
MAX_KEY_BYTES = 65_535
MAX_DIMENSIONS = 4
SHORT_ARRAY = 1024
"""Elements up to which an array of numbers is built without being asked for."""
MAX_PLACE = (1 << 63) - 1
"""Of any byte in a file."""
ALIGNMENT = "general.alignment"
DEFAULT_ALIGNMENT = 32

UINT32, STRING, ARRAY = 4, 8, 9
SCALARS = {
    number: struct.Struct("<" + code) for number, code in enumerate("BbHhIif?__Qqd") if code != "_"
}


@dataclass(frozen=True)
class ArrayInfo:
    """An array that was stepped over: its element type (a GGUF number), and where it lies.

    Attributes:
        type: element type by its number in the format; 8 is text.
        length: elements.
        offset, bytes: where the elements lie in the file.
        digest: of the bytes of an array of texts, so that vocabularies can be compared without
            reading them again; empty for numbers.
    """

    type: int
    length: int
    offset: int
    bytes: int
    digest: str = ""


Value = Scalar | ArrayInfo | tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Tensor:
    """One row of the tensor table.

    Attributes:
        name: its name.
        shape: elements per dimension, the contiguous one first.
        type: name of its element type; ``type 99`` for one that is not known here.
        offset: bytes from the start of the tensor data.
        bytes: its size; of an unknown type, all that lies before the next tensor.
    """

    name: str
    shape: tuple[int, ...]
    type: str
    offset: int
    bytes: int


@dataclass(frozen=True)
class Parsed:
    """A header as it stands in the file; ``types`` is explained at ``Header``."""

    version: int
    keys: dict[str, Value]
    types: dict[str, int]
    tensors: tuple[Tensor, ...]
    data_start: int
    data_end: int


class NotGguf(Exception):  # noqa: N818 - what the file is
    """The file does not start like a GGUF file."""


class Unsupported(Exception):  # noqa: N818 - what the file is
    """A GGUF file of a kind that is not read here; the text completes "the file ..."."""


def parse(stream: Readable, file_bytes: int, keep: frozenset[str]) -> Parsed:
    """Read a header from a stream that stands at the start of a file of ``file_bytes`` bytes.

    Raises: NotGguf, Unsupported, Damage.
    """
    cursor = Cursor(stream, file_bytes)
    version = _start(cursor)
    tensor_count = cursor.count(MAX_TENSORS, "tensors")
    key_count = cursor.count(MAX_KEYS, "keys")
    keys, types = _keys(cursor, key_count, keep)
    tensors = _tensors(cursor, tensor_count)
    cursor.check_end()
    alignment = keys.get(ALIGNMENT, DEFAULT_ALIGNMENT)
    if (
        not isinstance(alignment, int)
        or types.get(ALIGNMENT, UINT32) != UINT32
        or alignment.bit_count() != 1
    ):
        raise Damage("its alignment is impossible")
    _check_places(tensors, alignment)
    data_start = padded(cursor.at, alignment)
    tensors = _sized(tensors, max(0, file_bytes - data_start))
    data_bytes = max((tensor.offset + tensor.bytes for tensor in tensors), default=0)
    # A file without tensors may end right after its header, without padding.
    data_end = data_start + data_bytes if tensors else cursor.at
    return Parsed(version, keys, types, tensors, data_start, data_end)


def padded(size: int, alignment: int) -> int:
    """``size`` rounded up to a multiple of ``alignment``."""
    return (size + alignment - 1) // alignment * alignment


def _keys(
    cursor: Cursor, count: int, keep: frozenset[str]
) -> tuple[dict[str, Value], dict[str, int]]:
    keys: dict[str, Value] = {}
    types: dict[str, int] = {}
    for _ in range(count):
        key = cursor.text(MAX_KEY_BYTES)
        if not key:
            raise Damage("it has a key without a name")
        if key in keys:
            raise Damage(f"it has the key {key[:80]} twice")
        types[key], keys[key] = _value(cursor, cursor.u32(), key in keep)
    return keys, types


def _tensors(cursor: Cursor, count: int) -> tuple[Tensor, ...]:
    tensors: dict[str, Tensor] = {}
    for _ in range(count):
        tensor = _tensor(cursor)
        if not tensor.name:
            raise Damage("it has a tensor without a name")
        if tensor.name in tensors:
            raise Damage(f"it has the tensor {tensor.name[:80]} twice")
        tensors[tensor.name] = tensor
    return tuple(tensors.values())


def _check_places(tensors: tuple[Tensor, ...], alignment: int) -> None:
    """Make sure that each tensor lies where the one before it ends, as llama.cpp demands.

    Where one of an unknown type ends is not known.
    """
    end: int | None = 0
    for tensor in tensors:
        if tensor.offset % alignment:
            raise Damage(f"the tensor {tensor.name[:80]} is not aligned")
        if end is not None and tensor.offset != end:
            what = "overlaps the one before it" if tensor.offset < end else "has a gap before it"
            raise Damage(f"the tensor {tensor.name[:80]} {what}")
        known = tensor.type in TYPE_NUMBERS
        end = padded(tensor.offset + tensor.bytes, alignment) if known else None


def _sized(tensors: tuple[Tensor, ...], data_bytes: int) -> tuple[Tensor, ...]:
    """Give each tensor of an unknown type what lies between it and the next one."""
    ends = [*(tensor.offset for tensor in tensors[1:]), data_bytes]
    return tuple(
        tensor
        if tensor.type in TYPE_NUMBERS
        else replace(tensor, bytes=max(0, end - tensor.offset))
        for tensor, end in zip(tensors, ends, strict=False)
    )


def _start(cursor: Cursor) -> int:
    """Check the first bytes; returns the version of the format."""
    try:
        magic = cursor.raw(4)
    except Damage as error:
        raise NotGguf from error
    if magic != b"GGUF":
        raise NotGguf
    version = cursor.u32()
    if version & 0xFFFF == 0:
        raise Unsupported("is made for big-endian computers")
    if version not in (2, 3):
        raise Unsupported(f"has version {version} of the GGUF format, which is not supported")
    return version


def _value(cursor: Cursor, kind: int, keep: bool) -> tuple[int, Value]:
    """Read a value; returns its type, for an array that of its elements, with it."""
    if kind == STRING:
        return STRING, cursor.text()
    if kind == ARRAY:
        kind = cursor.u32()
        if kind == ARRAY:
            raise Damage("it has arrays inside arrays")
        return kind, _texts(cursor, keep) if kind == STRING else _numbers(cursor, kind, keep)
    return kind, cursor.take(_scalar(kind))


def _scalar(kind: int) -> struct.Struct:
    if kind not in SCALARS:
        raise Damage(f"it has a value of the unknown type {kind}")
    return SCALARS[kind]


def _numbers(cursor: Cursor, kind: int, keep: bool) -> Value:
    layout = _scalar(kind)
    length = cursor.count(MAX_HEADER_BYTES // layout.size, "elements in one array")
    offset, size = cursor.at, length * layout.size
    if keep or length <= SHORT_ARRAY:
        cursor.build(length)
        return tuple(item for (item,) in layout.iter_unpack(cursor.raw(size)))
    cursor.skip(size)
    return ArrayInfo(kind, length, offset, size)


def _texts(cursor: Cursor, keep: bool) -> Value:
    length = cursor.count(MAX_STRINGS, "texts in one array")
    if keep:
        cursor.build(length)
        return tuple(cursor.text() for _ in range(length))
    offset = cursor.at
    cursor.skip_texts(length)
    return ArrayInfo(STRING, length, offset, cursor.at - offset, cursor.digest(offset))


def _tensor(cursor: Cursor) -> Tensor:
    name = cursor.text(MAX_KEY_BYTES)
    dimensions = cursor.u32()
    if dimensions > MAX_DIMENSIONS:
        raise Damage(f"a tensor has {dimensions:,} dimensions")
    shape = tuple(cursor.u64() for _ in range(dimensions))
    number, offset = cursor.u32(), cursor.u64()
    elements = math.prod(shape)
    known = TENSOR_TYPES.get(number)
    size = elements // known.block * known.bytes if known else 0
    if max(elements, size, offset) > MAX_PLACE or (known and shape and shape[0] % known.block):
        raise Damage(f"the tensor {name[:80]} has an impossible size")
    return Tensor(name, shape, type_name(number), offset, size)
