"""How far each file of a set is, told as one value."""

import time
from dataclasses import replace

from slipstream.cancel import CancelToken
from slipstream.hub.downloads.places import Place
from slipstream.hub.downloads.progress import FileProgress, Progress, Speed, Watch


class Board:
    """How far every file is."""

    def __init__(self, places: tuple[Place, ...], watch: Watch, cancel: CancelToken) -> None:
        self._watch, self._cancel = watch, cancel
        self._files = [
            FileProgress(place.repo, place.file.path, 0, place.file.bytes) for place in places
        ]
        self._received = [0] * len(places)
        self._speed = Speed()

    def told(self, number: int, now: FileProgress, received: int = 0) -> None:
        """Take note of one file, and tell the whole."""
        self._files[number] = now
        self._received[number] = max(received, self._received[number])
        self._watch(Progress(tuple(self._files), self._speed.add(sum(self._received))))

    def change(self, number: int, **changes: object) -> None:
        """Take note of a change of one file."""
        self.told(number, replace(self._files[number], **changes))  # type: ignore[arg-type]

    def checking(self, number: int) -> "Look":
        """What a long look at a file calls."""
        return Look(self, number, self._cancel)

    def waiting(self, number: int) -> None:
        """Another program is at it."""
        self.change(
            number, state="waiting", seconds=None, why="another program is downloading this file"
        )

    def done(self, number: int) -> None:
        """It is there."""
        total = self._files[number].total
        self.change(number, state="done", done=total, seconds=None, why="")

    def failed(self, number: int) -> None:
        """It will not come."""
        self.change(number, state="failed", seconds=None, why="")


class Look:
    """Called often during a long look: tells now and then, and ends it when cancelled."""

    def __init__(self, board: Board, number: int, cancel: CancelToken) -> None:
        self._board, self._number, self._cancel = board, number, cancel
        self._told = time.monotonic()

    def __call__(self) -> None:
        """Raises: Cancelled."""
        self._cancel.raise_if_cancelled()
        if time.monotonic() - self._told > 0.1:
            self._told = time.monotonic()
            self._board.change(self._number, state="checking")
