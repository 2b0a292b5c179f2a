"""The checksum of a file, computed while the file arrives."""

import hashlib
import io
import threading
from collections.abc import Callable
from typing import Protocol

from slipstream.hub.downloads.blocks import BLOCK, Part
from slipstream.hub.files import RepoFile

_AHEAD = 4
"""Blocks that wait in memory for their turn."""


class Digest(Protocol):
    """What hashlib makes."""

    def update(self, data: memoryview, /) -> None:
        """Go on with more bytes."""

    def hexdigest(self) -> str:
        """The checksum of all bytes so far."""


def digest_for(file: RepoFile) -> Digest:
    """What names this file's content: SHA-256, or git's own id of a small file."""
    if file.sha256:
        return hashlib.sha256()
    header = b"blob %d\0" % file.bytes
    return hashlib.sha1(header, usedforsecurity=False)


def expected(file: RepoFile) -> str:
    """The checksum that the listing promises."""
    return (file.sha256 or file.blob).lower()


class Follower:
    """A thread that goes over what is finished from the start on, whatever connection it came by.

    Blocks that just came are taken from memory, all others are read from the disk.

    Attributes:
        result: the checksum, once it has the whole file.
        error: why it could not be read.
    """

    def __init__(self, part: Part, file: RepoFile, news: Callable[[], None]) -> None:
        """Begin; ``news`` is called in its thread at the end."""
        self.result: str | None = None
        self.error: OSError | None = None
        self._part, self._digest, self._news = part, digest_for(file), news
        self._next = 0
        self._lock = threading.Lock()
        self._offered: dict[int, memoryview] = {}
        self._spare = [memoryview(bytearray(BLOCK)) for _ in range(_AHEAD)]
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="checksum", daemon=True)
        self._thread.start()

    def offer(self, number: int, buffer: memoryview) -> memoryview:
        """Hand over a block that is about to be stored.

        Returns: a buffer for the next block; the same one if the block was not wanted.
        """
        with self._lock:
            if not self._spare or not self._next <= number < self._next + _AHEAD:
                return buffer
            self._offered[number] = buffer
            return self._spare.pop()

    def stop(self) -> None:
        """End soon, and wait for that."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._follow()
        except OSError as error:
            self.error = error
        self._news()

    def _follow(self) -> None:
        own = memoryview(bytearray(BLOCK))
        with self._part.path.open("rb", buffering=0) as file:
            while self._next < self._part.blocks:
                ready = self._part.wait_for_prefix(self._next * BLOCK, 0.1)
                if self._stopped.is_set():
                    return
                if ready > self._next * BLOCK:
                    self._take(file, own[: self._part.length(self._next)])
        self.result = self._digest.hexdigest()

    def _take(self, file: io.FileIO, own: memoryview) -> None:
        with self._lock:
            offered = self._offered.pop(self._next, None)
        if offered is not None:
            self._digest.update(offered[: len(own)])
        else:
            file.seek(self._next * BLOCK)
            if file.readinto(own) != len(own):
                raise OSError("The file became shorter")
            self._digest.update(own)
        with self._lock:
            self._next += 1
            if offered is not None:
                self._spare.append(offered)
