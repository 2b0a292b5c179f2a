"""A position in a GGUF header that stays within bounds whatever the bytes say."""

import hashlib
import struct
from typing import Protocol

# Several times what the largest known files need.
MAX_HEADER_BYTES = 128 << 20
MAX_BUILT = 1 << 20
"""Elements of all arrays that are built: a short array is cheap, 65,536 of them are not."""
CHUNK = 16 << 10
GROWTH = 8
"""One part in so many of a long header, and ``CHUNK`` bytes of a short one, are read too far."""

_U32 = struct.Struct("<I")
_U64 = struct.Struct("<Q")

Scalar = int | float | bool | str


class Damage(Exception):  # noqa: N818 - what the file has
    """The header cannot be right; the text completes "it is damaged: ..."."""


class Readable(Protocol):
    """What a header is read from."""

    def read(self, count: int, /) -> bytes:
        """The next ``count`` bytes, fewer only at the end."""


class Cursor:
    """A position in the header; reads the file in growing pieces, as far as needed.

    Whatever goes beyond the file or a limit raises Damage.
    """

    def __init__(self, stream: Readable, file_bytes: int) -> None:
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
        further = len(self._data) + max(CHUNK, len(self._data) // GROWTH)
        wanted = min(max(end, further), MAX_HEADER_BYTES)
        self._data += self._stream.read(wanted - len(self._data))
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
        """One value of a layout."""
        self.need(layout.size)
        value: Scalar = layout.unpack_from(self._data, self.at)[0]
        self.at += layout.size
        return value

    def u32(self) -> int:
        """A whole number of 4 bytes."""
        return int(self.take(_U32))

    def u64(self) -> int:
        """A whole number of 8 bytes."""
        return int(self.take(_U64))

    def count(self, most: int, what: str) -> int:
        """A number of things that follow. Raises: Damage, if it is more than ``most``."""
        number = self.u64()
        if number > most:
            raise Damage(f"it claims to have {number:,} {what}")
        return number

    def raw(self, count: int) -> bytes:
        """The next ``count`` bytes."""
        self.need(count)
        self.at += count
        return bytes(self._data[self.at - count : self.at])

    def text(self, most: int = MAX_HEADER_BYTES) -> str:
        """A text of at most ``most`` bytes; what is not UTF-8 is replaced."""
        return self.raw(self.count(most, "bytes in one name or text")).decode(errors="replace")

    def build(self, count: int) -> None:
        """Take ``count`` elements out of the budget of arrays that are built."""
        self._built += count
        if self._built > MAX_BUILT:
            raise Damage("it has impossibly long lists")

    def skip(self, count: int) -> None:
        """Step over ``count`` bytes."""
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

    def digest(self, start: int) -> str:
        """Of the bytes from ``start`` to here."""
        self.need(0)
        with memoryview(self._data) as view:
            return hashlib.sha256(view[start : self.at]).hexdigest()
