"""A sparse file that holds only a model's header: engines lay a model out from it without its
weights, and it takes no space.
"""

import hashlib
import os
import struct
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from slipstream.errors import SlipstreamError
from slipstream.small_files import in_place_of
from slipstream.weights.cursor import Scalar
from slipstream.weights.header import Header
from slipstream.weights.parser import (
    ARRAY,
    MAX_PLACE,
    SCALARS,
    STRING,
    UINT32,
    ArrayInfo,
    Tensor,
    Value,
    padded,
)
from slipstream.weights.tensor_types import TYPE_NUMBERS, type_number

VERSION = 3
_TOKENIZER = "tokenizer.ggml.model"
_LEFT_OUT = ("split.", "tokenizer.chat_template")
_MOST_TOKENS = (1 << 32) - 1
_PROBE_BYTES = 4 << 20
"""Size of the hole that shows whether a file system has holes."""

Entry = tuple[str, int, Value]
"""A key, its type (for an array that of its elements), and its value."""


@dataclass(frozen=True)
class Skeleton:
    """A file without its tensor data: how it starts, and how large it is in bytes."""

    content: bytes
    file_bytes: int


def skeleton(header: Header) -> Skeleton:
    """The skeleton of a model.

    It has no vocabulary but the number of its tokens, and is one file whatever the model is.

    Raises: SlipstreamError ``cannot_lay_out``, if a tensor's size or the architecture is not known.
    """
    if not header.architecture:
        raise _cannot(header.path, "it does not name its architecture")
    if not 0 <= header.token_count <= _MOST_TOKENS:
        raise _cannot(header.path, "it claims to have an impossible number of tokens")
    tensors, data_bytes = _placed(header)
    content = encoded(_entries(header), tensors)
    data_start = padded(len(content), header.alignment) if tensors else len(content)
    return Skeleton(content, data_start + data_bytes)


def write_skeleton(header: Header, path: Path) -> Path:
    """Write the skeleton of a model to ``path``; it appears there whole or not at all.

    Returns: ``path``.
    Raises: SlipstreamError ``cannot_lay_out``, also where such a file cannot be made.
    """
    made = skeleton(header)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with in_place_of(path) as stream:
            _write(stream, made)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _cannot(header.path, reason, file_bytes=made.file_bytes) from error
    return path


def shape_key(header: Header) -> str:
    """A name for all that a model's context and compute depend on.

    Equal for every quantization of one model, and for its skeleton.
    """
    prefix = f"{header.architecture}."
    keys = sorted(
        (key, header.types[key], value)
        for key, value in header.keys.items()
        if key.startswith(prefix)
        and not isinstance(value, ArrayInfo)
        and key != f"{prefix}vocab_size"
    )
    tensors = sorted((tensor.name, _dimensions(tensor.shape)) for tensor in header.tensors)
    shape = (header.architecture, header.token_count, keys, tensors)
    return hashlib.sha256(repr(shape).encode()).hexdigest()[:16]


def _dimensions(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without the dimensions of one at its end: quantizing a file leaves them out."""
    length = len(shape)
    while length and shape[length - 1] == 1:
        length -= 1
    return shape[:length]


def encoded(entries: Iterable[Entry], tensors: Iterable[Tensor]) -> bytes:
    """A GGUF header, without the padding after it; the types of all tensors must have numbers."""
    keys = [_text(key) + _encoded(kind, value) for key, kind, value in entries]
    rows = [_row(tensor) for tensor in tensors]
    start = b"GGUF" + struct.pack("<IQQ", VERSION, len(rows), len(keys))
    return b"".join((start, *keys, *rows))


def _entries(header: Header) -> Iterator[Entry]:
    size = f"{header.architecture}.vocab_size"
    for key, value in header.keys.items():
        long = isinstance(value, ArrayInfo)
        token_array = key.startswith("tokenizer.") and isinstance(value, tuple)
        if not (long or token_array or key.startswith(_LEFT_OUT) or key in (_TOKENIZER, size)):
            yield key, header.types[key], value
    yield _TOKENIZER, STRING, "no_vocab"
    if header.token_count:
        yield size, UINT32, header.token_count


def _placed(header: Header) -> tuple[list[Tensor], int]:
    """The tensors one after another, and the bytes of them all."""
    if len(header.by_name) < len(header.tensors):
        raise _cannot(header.path, "two of its files hold the same tensor")
    tensors: list[Tensor] = []
    end = 0
    for tensor in header.tensors:
        if tensor.type not in TYPE_NUMBERS:
            raise _cannot(
                header.path, f"the tensor {tensor.name[:80]} is of the unknown {tensor.type}"
            )
        tensors.append(Tensor(tensor.name, tensor.shape, tensor.type, end, tensor.bytes))
        end = padded(end + tensor.bytes, header.alignment)
        if end > MAX_PLACE:
            raise _cannot(header.path, "it is larger than any file")
    return tensors, end


def _text(text: str) -> bytes:
    content = text.encode()
    return struct.pack("<Q", len(content)) + content


def _encoded(kind: int, value: Value) -> bytes:
    if isinstance(value, ArrayInfo):
        raise TypeError("an array that was stepped over has no elements")
    if isinstance(value, tuple):
        items = b"".join(_item(kind, item) for item in value)
        return struct.pack("<IIQ", ARRAY, kind, len(value)) + items
    return struct.pack("<I", kind) + _item(kind, value)


def _item(kind: int, value: Scalar) -> bytes:
    return _text(value) if isinstance(value, str) else SCALARS[kind].pack(value)


def _row(tensor: Tensor) -> bytes:
    dimensions = len(tensor.shape)
    layout = f"<I{dimensions}QIQ"
    number = type_number(tensor.type)
    return _text(tensor.name) + struct.pack(
        layout, dimensions, *tensor.shape, number, tensor.offset
    )


def _write(stream: BinaryIO, made: Skeleton) -> None:
    """Raises: OSError, OverflowError."""
    _make_sparse(stream.fileno())
    stream.write(made.content)
    stream.truncate(made.file_bytes)


if sys.platform == "win32":

    def _make_sparse(file: int) -> None:
        """Make holes take no space. Raises: OSError, where they would."""
        import ctypes
        import msvcrt
        from ctypes import wintypes

        set_sparse = 0x000900C4  # FSCTL_SET_SPARSE
        control = ctypes.WinDLL("kernel32", use_last_error=True).DeviceIoControl
        control.argtypes = [
            wintypes.HANDLE, wintypes.DWORD, wintypes.LPVOID, wintypes.DWORD,
            wintypes.LPVOID, wintypes.DWORD, wintypes.LPDWORD, wintypes.LPVOID,
        ]  # fmt: skip
        returned = wintypes.DWORD()
        handle = msvcrt.get_osfhandle(file)
        if not control(handle, set_sparse, None, 0, None, 0, ctypes.byref(returned), None):
            raise ctypes.WinError(ctypes.get_last_error())

else:

    def _make_sparse(file: int) -> None:
        """Make sure that holes take no space. Raises: OSError, where they do."""
        os.ftruncate(file, _PROBE_BYTES)
        if os.fstat(file).st_blocks * 512 >= _PROBE_BYTES:
            raise OSError("this file system has no sparse files")
        os.ftruncate(file, 0)


def _cannot(path: Path, reason: str, **facts: int) -> SlipstreamError:
    return SlipstreamError(
        "cannot_lay_out",
        f"The engine cannot be asked how much memory {path.name} needs.",
        facts={"path": str(path), "reason": reason, **facts},
        action="Use the estimate instead.",
    )
