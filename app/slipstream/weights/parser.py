"""Walks over the bytes of a GGUF header, within bounds whatever they say.

Long arrays (a vocabulary of 262,144 tokens) are stepped over without building them.
"""

import math
import struct
from dataclasses import dataclass
from typing import BinaryIO

from slipstream.weights.tensor_types import TENSOR_TYPES

# Several times what the largest known files need.
MAX_HEADER_BYTES = 128 << 20
MAX_KEYS = 65_536
MAX_TENSORS = 65_536
MAX_STRINGS = 4 << 20
MAX_KEY_BYTES = 65_535
MAX_DIMENSIONS = 4
SHORT_ARRAY = 1024
"""Elements up to which an array of numbers is built without being asked for."""
MAX_BUILT = 1 << 20
"""Elements of all arrays that are built: a short array is cheap, 65,536 of them are not."""
CHUNK = 1 << 20

_U32 = struct.Struct("<I")
_U64 = struct.Struct("<Q")
_STRING, _ARRAY = 8, 9
_SCALARS = {
    number: struct.Struct("<" + code) for number, code in enumerate("BbHhIif?__Qqd") if code != "_"
}

Scalar = int | float | bool | str


@dataclass(frozen=True)
class ArrayInfo:
    """An array that was stepped over: its element type (a GGUF number), and where it lies.

    Attributes:
        type: element type by its number in the format; 8 is text.
        length: elements.
        offset, bytes: where the elements lie in the file.
    """

    type: int
    length: int
    offset: int
    bytes: int


Value = Scalar | ArrayInfo | tuple[Scalar, ...]


@dataclass(frozen=True)
class Tensor:
    """One row of the tensor table.

    Attributes:
        name: its name.
        shape: elements per dimension, the contiguous one first.
        type: name of its element type; ``type 99`` for one that is not known here.
        offset: bytes from the start of the tensor data.
        bytes: its size; 0 for an unknown type.
    """

    name: str
    shape: tuple[int, ...]
    type: str
    offset: int
    bytes: int


@dataclass(frozen=True)
class Parsed:
    """A header as it stands in the file."""

    version: int
    keys: dict[str, Value]
    tensors: tuple[Tensor, ...]
    data_start: int
    data_end: int


class NotGguf(Exception):  # noqa: N818 - what the file is
    """The file does not start like a GGUF file."""


class Unsupported(Exception):  # noqa: N818 - what the file is
    """A GGUF file of a kind that is not read here; the text completes "the file ..."."""


class Damage(Exception):  # noqa: N818 - what the file has
    """The header cannot be right; the text completes "it is damaged: ..."."""


def parse(stream: BinaryIO, file_bytes: int, keep: frozenset[str]) -> Parsed:
    """Read a header from a stream that stands at the start of a file of ``file_bytes`` bytes.

    Raises: NotGguf, Unsupported, Damage.
    """
    cursor = _Cursor(stream, file_bytes)
    version = _start(cursor)
    tensor_count = cursor.count(MAX_TENSORS, "tensors")
    key_count = cursor.count(MAX_KEYS, "keys")
    keys: dict[str, Value] = {}
    for _ in range(key_count):
        key = cursor.text(MAX_KEY_BYTES)
        keys[key] = _value(cursor, cursor.u32(), key in keep)
    tensors = tuple(_tensor(cursor) for _ in range(tensor_count))
    cursor.check_end()
    alignment = keys.get("general.alignment", 32)
    if not isinstance(alignment, int) or alignment < 1 or alignment & (alignment - 1):
        raise Damage("its alignment is impossible")
    data_start = (cursor.at + alignment - 1) // alignment * alignment
    data_bytes = max((tensor.offset + tensor.bytes for tensor in tensors), default=0)
    # A file without tensors may end right after its header, without padding.
    data_end = data_start + data_bytes if tensors else cursor.at
    return Parsed(version, keys, tensors, data_start, data_end)


class _Cursor:
    """A position in the header; reads the file in growing pieces, as far as needed."""

    def __init__(self, stream: BinaryIO, file_bytes: int) -> None:
        self._stream = stream
        self._file_bytes = file_bytes
        self._data = bytearray()
        self._built = 0
        self.at = 0

    def need(self, count: int) -> None:
        """Have the next ``count`` bytes in memory."""
        end = self.at + count
        if end <= len(self._data):
            return
        self._check(end)
        wanted = max(end, 2 * len(self._data), CHUNK)
        self._data += self._stream.read(min(wanted, MAX_HEADER_BYTES) - len(self._data))
        if end > len(self._data):
            raise Damage("it ends in the middle of its header")

    def check_end(self) -> None:
        """Make sure that what was stepped over is there."""
        self._check(self.at)

    def _check(self, end: int) -> None:
        if end > self._file_bytes:
            raise Damage("it ends in the middle of its header")
        if end > MAX_HEADER_BYTES:
            raise Damage("its header is impossibly large")

    def take(self, layout: struct.Struct) -> Scalar:
        self.need(layout.size)
        value: Scalar = layout.unpack_from(self._data, self.at)[0]
        self.at += layout.size
        return value

    def u32(self) -> int:
        return int(self.take(_U32))

    def u64(self) -> int:
        return int(self.take(_U64))

    def count(self, most: int, what: str) -> int:
        number = self.u64()
        if number > most:
            raise Damage(f"it claims to have {number:,} {what}")
        return number

    def raw(self, count: int) -> bytes:
        self.need(count)
        self.at += count
        return bytes(self._data[self.at - count : self.at])

    def text(self, most: int = MAX_HEADER_BYTES) -> str:
        return self.raw(self.count(most, "bytes in one name or text")).decode(errors="replace")

    def build(self, count: int) -> None:
        """Take ``count`` elements out of the budget of arrays that are built."""
        self._built += count
        if self._built > MAX_BUILT:
            raise Damage("it has impossibly long lists")

    def skip(self, count: int) -> None:
        self.at += count
        self.check_end()

    def skip_texts(self, count: int) -> None:
        """Step over ``count`` strings; the loop is tight because vocabularies are large."""
        unpack, data, at, left = _U64.unpack_from, self._data, self.at, count
        while left:
            try:
                while left:
                    at += 8 + unpack(data, at)[0]
                    left -= 1
            except (struct.error, OverflowError):  # the next length is not in memory yet
                self.at = at
                self.need(8)
        self.at = at
        self.check_end()


def _start(cursor: _Cursor) -> int:
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


def _value(cursor: _Cursor, kind: int, keep: bool) -> Value:
    if kind == _STRING:
        return cursor.text()
    if kind == _ARRAY:
        return _array(cursor, keep)
    return cursor.take(_scalar(kind))


def _scalar(kind: int) -> struct.Struct:
    if kind not in _SCALARS:
        raise Damage(f"it has a value of the unknown type {kind}")
    return _SCALARS[kind]


def _array(cursor: _Cursor, keep: bool) -> Value:
    kind = cursor.u32()
    if kind == _ARRAY:
        raise Damage("it has arrays inside arrays")
    if kind == _STRING:
        return _texts(cursor, keep)
    layout = _scalar(kind)
    length = cursor.count(MAX_HEADER_BYTES // layout.size, "elements in one array")
    offset, size = cursor.at, length * layout.size
    if keep or length <= SHORT_ARRAY:
        cursor.build(length)
        return tuple(item for (item,) in layout.iter_unpack(cursor.raw(size)))
    cursor.skip(size)
    return ArrayInfo(kind, length, offset, size)


def _texts(cursor: _Cursor, keep: bool) -> Value:
    length = cursor.count(MAX_STRINGS, "texts in one array")
    if keep:
        cursor.build(length)
        return tuple(cursor.text() for _ in range(length))
    offset = cursor.at
    cursor.skip_texts(length)
    return ArrayInfo(_STRING, length, offset, cursor.at - offset)


def _tensor(cursor: _Cursor) -> Tensor:
    name = cursor.text(MAX_KEY_BYTES)
    dimensions = cursor.u32()
    if dimensions > MAX_DIMENSIONS:
        raise Damage(f"a tensor has {dimensions:,} dimensions")
    shape = tuple(cursor.u64() for _ in range(dimensions))
    number, offset = cursor.u32(), cursor.u64()
    elements = math.prod(shape)
    known = TENSOR_TYPES.get(number)
    if max(elements, offset) >= 1 << 63 or (known and shape and shape[0] % known.block):
        raise Damage(f"the tensor {name[:80]} has an impossible size")
    if known is None:
        return Tensor(name, shape, f"type {number}", offset, 0)
    return Tensor(name, shape, known.name, offset, elements // known.block * known.bytes)
