"""A file that arrives in blocks, and a map of those that did.

The part file has the full size from the start and holes where nothing arrived yet. The map beside
it has one record per block, written when the block is: a process that is killed loses only the
blocks that it was receiving.
"""

import contextlib
import os
import stat
import struct
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path

BLOCK = 1 << 20
"""Bytes of a block; each connection holds one in memory and loses at most one."""

_PIECE = 64 << 10
"""Bytes of one write: larger ones make the system look for large pieces of memory, which took
three times as long (ext4, Linux 6)."""
_WORD, _EVERY = 8, 256
"""Bytes of a word, and of how many words one is looked at: two of each page of 4 KiB."""
_HEAD = struct.Struct("<8sQ72s")
_MAGIC = b"SLIPMAP2"
_RECORD = struct.Struct("<II")
_DONE = 1
_FLAGS = os.O_RDWR | os.O_CREAT
for _name in ("O_BINARY", "O_CLOEXEC", "O_NOFOLLOW"):  # each where the system has it
    _FLAGS |= getattr(os, _name, 0)


def map_of(part: Path) -> Path:
    """The map that belongs to a part file, or to the file that it became."""
    return part.with_suffix(".map") if part.suffix == ".part" else Path(f"{part}.map")


def sample_of(block: memoryview | bytes) -> int:
    """A checksum of a few bytes of each page of a block.

    What a power cut loses are whole pages, which are empty or old then. The checksum of the file
    covers every byte; looking at all of them twice would cost a fifth of the speed.
    """
    whole = len(block) // _WORD * _WORD
    words = memoryview(block)[:whole].cast("Q")[::_EVERY]
    return zlib.crc32(bytes(block[whole:]), zlib.crc32(words.tobytes()))


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
            self._map = _open(map_of(path))
            opened.callback(os.close, self._map)
            self._file = _open(path)
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
        return {number: sample for number, (flag, sample) in enumerate(records) if flag == _DONE}

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

    def write(self, number: int, start: int, data: memoryview) -> bool:
        """Write bytes of a block, from ``start`` in it on, as they arrive.

        Returns: False if nobody waits for them any more; then nothing was written.
        Raises: OSError.
        """
        with self._writing_now() as wanted:
            if wanted:
                _write(self._file, data, number * BLOCK + start)
        return wanted

    def finish(self, number: int, sample: int) -> bool:
        """Note that a block was written whole, and the ``sample_of`` what arrived.

        Returns, raises: as ``write``.
        """
        with self._writing_now() as wanted:
            if wanted:
                self._record(number, _DONE, sample)
                with self._lock:
                    self._done[number] = sample
        return wanted

    @contextlib.contextmanager
    def _writing_now(self) -> Iterator[bool]:
        with self._lock:
            wanted = not self._stopped
            self._writing += wanted
        try:
            yield wanted
        finally:
            with self._lock:
                self._writing -= wanted
                self._lock.notify_all()

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
                yield number if sample_of(data) != self._done.get(number) else -1

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

    def _record(self, number: int, flag: int, sample: int) -> None:
        _write(self._map, _RECORD.pack(flag, sample), _HEAD.size + number * _RECORD.size)


def _open(path: Path) -> int:
    """Open a file of ours; what lies in its place and is none, such as a link, is replaced."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(path.lstat().st_mode):
            path.unlink()
    return os.open(path, _FLAGS, 0o666)


_seeking = threading.Lock()


def _write(file: int, data: bytes | memoryview, at: int) -> None:
    view = memoryview(data)
    while view:
        written = _write_some(file, view[:_PIECE], at)
        view, at = view[written:], at + written


def _write_some(file: int, data: memoryview, at: int) -> int:
    if hasattr(os, "pwrite"):
        return os.pwrite(file, data, at)
    with _seeking:  # Windows has no write at a position
        os.lseek(file, at, os.SEEK_SET)
        return os.write(file, data)
