"""How far a download is, as frozen values."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

State = Literal["pending", "resolving", "downloading", "checking", "waiting", "done", "failed"]

_WINDOW = 5.0
"""Seconds over which the speed is smoothed."""


@dataclass(frozen=True)
class FileProgress:
    """How far one file is.

    Attributes:
        repo: ``owner/name`` it comes from.
        path: in the repository.
        done: bytes that are on disk.
        total: bytes of the file.
        state: what is being done.
        seconds: how long a wait will still take; None if nobody knows.
        why: what is waited for, a sentence.
    """

    repo: str
    path: str
    done: int
    total: int
    state: State = "pending"
    seconds: float | None = None
    why: str = ""


@dataclass(frozen=True)
class Progress:
    """How far a set of files is.

    Attributes:
        files: in the order of their download.
        speed: bytes per second over the last seconds; None before anything can be said.
    """

    files: tuple[FileProgress, ...]
    speed: float | None = None

    @property
    def done(self) -> int:
        """Bytes that are on disk."""
        return sum(file.done for file in self.files)

    @property
    def total(self) -> int:
        """Bytes of all files."""
        return sum(file.total for file in self.files)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the last byte; None while nobody knows."""
        missing = sum(f.total - f.done for f in self.files if f.state != "failed")
        if not missing:
            return 0.0
        return missing / self.speed if self.speed else None

    @property
    def current(self) -> FileProgress | None:
        """The file that is worked on."""
        idle = ("pending", "done", "failed")
        return next((file for file in self.files if file.state not in idle), None)


Watch = Callable[[Progress], None]
"""Is told how far a set of files is, a few times a second."""


class Speed:
    """Bytes per second over the last seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def add(self, received: int) -> float | None:
        """Note how many bytes were received in all so far; the speed."""
        now = time.monotonic()
        self._seen.append((now, received))
        while len(self._seen) > 2 and self._seen[1][0] <= now - _WINDOW:
            self._seen.popleft()
        since, before = self._seen[0]
        return (received - before) / (now - since) if now - since > 0.2 else None
