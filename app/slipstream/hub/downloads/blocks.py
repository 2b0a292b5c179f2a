"""A file that arrives in blocks, and a map of those that did.

The part file has the full size from the start and holes where nothing arrived yet. The map beside
it has one record per block, written when the block is: a process that is killed loses only the
blocks that it was receiving.
"""

import contextlib
import os
import struct
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path

BLOCK = 1 << 20
"""Bytes of a block; each connection holds one in memory and loses at most one."""

_HEAD = struct.Struct("<8sQ72s")
_MAGIC = b"SLIPMAP1"
_RECORD = struct.Struct("<II")
_DONE = 1
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def map_of(part: Path) -> Path:
    """The map that belongs to a part file, or to the file that it became."""
    return part.with_suffix(".map") if part.suffix == ".part" else Path(f"{part}.map")


def held(part: Path) -> int:
    """Bytes that a part file takes on disk; holes take none."""
    try:
        status = part.stat()
    except OSError:
        return 0
    blocks = getattr(status, "st_blocks", None)  # Windows has none: there, holes take space
    return status.st_size if blocks is None else min(blocks * 512, status.st_size)


class Part:
    """The blocks of one file that arrived so far.

    Attributes:
        path: of the part file.
        size: of the whole file, in bytes.
        blocks: how many it has.
    """

    def __init__(self, path: Path, size: int, name: str) -> None:
        """Open the part file, or begin it; a map of another file is ignored.

        Args:
            path: of the part file.
            size: of the whole file, in bytes.
            name: of its content; what was kept under another name is not used.

        Raises: OSError.
        """
        self.path, self.size = path, size
        self.blocks = -(-size // BLOCK)
        self._lock = threading.Condition()
        self._writing = 0
        self._stopped = False
        self._prefix = 0
        self._head = _HEAD.pack(_MAGIC, size, name.encode())
        with contextlib.ExitStack() as opened:
            self._map = os.open(map_of(path), _FLAGS, 0o666)
            opened.callback(os.close, self._map)
            self._file = os.open(path, _FLAGS, 0o666)
            opened.callback(os.close, self._file)
            known = self._known() if os.fstat(self._file).st_size == size else None
            self._done = self._begin() if known is None else known
            self._close = opened.pop_all().close

    def _known(self) -> dict[int, int] | None:
        """The blocks that the map tells of; None if it is not of this file."""
        whole = _HEAD.size + self.blocks * _RECORD.size
        data = b""
        os.lseek(self._map, 0, os.SEEK_SET)
        while len(data) <= whole and (more := os.read(self._map, whole + 1 - len(data))):
            data += more
        if data[: _HEAD.size] != self._head or len(data) != whole:
            return None
        records = _RECORD.iter_unpack(data[_HEAD.size :])
        return {number: crc for number, (flag, crc) in enumerate(records) if flag == _DONE}

    def _begin(self) -> dict[int, int]:
        os.ftruncate(self._map, 0)
        os.ftruncate(self._file, 0)
        os.ftruncate(self._file, self.size)
        os.ftruncate(self._map, _HEAD.size + self.blocks * _RECORD.size)
        _write(self._map, self._head, 0)
        return {}

    @property
    def done(self) -> int:
        """Bytes of the blocks that arrived."""
        with self._lock:
            whole = len(self._done) * BLOCK
            last = self.blocks - 1
            return whole - (BLOCK - self.length(last) if last in self._done else 0)

    @property
    def complete(self) -> bool:
        """Whether every block arrived."""
        with self._lock:
            return len(self._done) == self.blocks

    def length(self, number: int) -> int:
        """Bytes of a block: the last one may be shorter."""
        return min(BLOCK, self.size - number * BLOCK)

    def has(self, number: int) -> bool:
        """Whether a block arrived."""
        with self._lock:
            return number in self._done

    def store(self, number: int, data: memoryview) -> bool:
        """Write a block that arrived, then its record.

        Returns: False if nobody waits for it any more; then nothing was written.
        Raises: OSError.
        """
        with self._lock:
            if self._stopped:
                return False
            self._writing += 1
        crc = zlib.crc32(data)
        try:
            _write(self._file, data, number * BLOCK)
            self._record(number, _DONE, crc)
        finally:
            with self._lock:
                self._writing -= 1
                self._lock.notify_all()
        with self._lock:
            self._done[number] = crc
            self._lock.notify_all()
        return True

    def forget(self, numbers: list[int]) -> None:
        """Let blocks be missing again.

        Raises: OSError.
        """
        for number in numbers:
            self._record(number, 0, 0)
        with self._lock:
            for number in numbers:
                self._done.pop(number, None)
            self._prefix = 0

    def wrong(self) -> Iterator[int]:
        """Look at every block on disk, one after the other.

        Yields: the number of each block whose bytes are not those that arrived, -1 for others.
        Raises: OSError.
        """
        with self.path.open("rb", buffering=0) as file:
            for number in range(self.blocks):
                data = file.read(BLOCK)
                yield number if zlib.crc32(data) != self._done.get(number) else -1

    def wait_for_prefix(self, beyond: int, seconds: float) -> int:
        """Bytes from the start that have all arrived; waits until they are more than ``beyond``."""
        with self._lock:
            self._lock.wait_for(lambda: self._stopped or self._grown() > beyond, seconds)
            return self._grown()

    def close(self) -> None:
        """Store nothing from now on; waits for a block that is just being written."""
        with self._lock:
            if self._stopped:
                return
            self._stopped = True
            self._lock.notify_all()
            self._lock.wait_for(lambda: not self._writing)
        self._close()

    def _grown(self) -> int:
        while self._prefix in self._done:
            self._prefix += 1
        return min(self._prefix * BLOCK, self.size)

    def _record(self, number: int, flag: int, crc: int) -> None:
        _write(self._map, _RECORD.pack(flag, crc), _HEAD.size + number * _RECORD.size)


_seeking = threading.Lock()


def _write(file: int, data: bytes | memoryview, at: int) -> None:
    view = memoryview(data)
    while view:
        written = _write_some(file, view, at)
        view, at = view[written:], at + written


def _write_some(file: int, data: memoryview, at: int) -> int:
    if hasattr(os, "pwrite"):
        return os.pwrite(file, data, at)
    with _seeking:  # Windows has no write at a position
        os.lseek(file, at, os.SEEK_SET)
        return os.write(file, data)
