"""Which connection fetches which blocks."""

import threading
from dataclasses import dataclass

from slipstream.hub.downloads.blocks import BLOCK, Part

_LONGEST = 128
"""Blocks of one request: so many that a request costs nothing beside them, so few that what
several connections fetch is hashed while it is still in memory."""
_SHORTEST = 8


@dataclass(eq=False)
class Run:
    """Consecutive blocks that one connection fetches, from ``next`` up to ``end``."""

    next: int
    end: int


class Runs:
    """The runs of one file. All connections share one object."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._lock = threading.Lock()
        self._active: list[Run] = []
        self._ranges = True

    @property
    def ranges(self) -> bool:
        """Whether the server obeys ranges, as far as is known."""
        return self._ranges

    def claim(self) -> Run | None:
        """The next blocks to fetch; None if there is nothing left to do."""
        with self._lock:
            if not self._ranges and self._active:
                return None
            first = self._first_missing()
            if first is None:
                return None
            run = Run(first, self._end_of(first))
            self._active.append(run)
            return run

    def goes_on(self, run: Run) -> bool:
        """Whether a run has blocks left to fetch."""
        with self._lock:
            return run in self._active and run.next < run.end

    def advance(self, run: Run) -> bool:
        """Go on to the next block; whether that one is still to be fetched by this run."""
        with self._lock:
            run.next += 1
            return run in self._active and run.next < run.end

    def release(self, run: Run) -> None:
        """Give back what a run did not fetch."""
        with self._lock:
            if run in self._active:
                self._active.remove(run)

    def from_the_start(self, run: Run) -> bool:
        """The server sends only whole files: this run gets all of it, every other ends.

        Returns: False if another run was first; then this one ends.
        """
        with self._lock:
            if run not in self._active:
                return False
            self._ranges = False
            self._active = [run]
            run.next, run.end = 0, self._part.blocks
            return True

    def _first_missing(self) -> int | None:
        number = self._part.wait_for_prefix(-1, 0) // BLOCK
        while number < self._part.blocks:
            taken = [run.end for run in self._active if run.next <= number < run.end]
            if taken:
                number = taken[0]
            elif self._part.has(number):
                number += 1
            else:
                return number
        return None

    def _end_of(self, first: int) -> int:
        """Where to stop: the last runs are short, so that all connections end together."""
        end = min([self._part.blocks, *(run.next for run in self._active if run.next > first)])
        most = _LONGEST
        if self._active:
            most = max(_SHORTEST, (self._part.blocks - first) // (2 * len(self._active) + 2))
        end = min(end, first + min(most, _LONGEST))
        return next((number for number in range(first, end) if self._part.has(number)), end)
