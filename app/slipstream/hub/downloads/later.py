"""When an order that the network broke off is tried again by itself."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from slipstream.errors import SlipstreamError

WAITS = (60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0)
"""Seconds before each of the tries; after the last one the user has to ask for another."""
_PASSING = frozenset({"offline", "timed_out", "server_error", "rate_limited"})


@dataclass(frozen=True)
class _Broken:
    """An order that was broken off.

    Attributes:
        tries: how often in a row, without anything that arrived in between.
        done: bytes that had arrived.
        due: when it is tried again, by the monotonic clock.
    """

    tries: int = 0
    done: int = 0
    due: float = 0.0


class Later:
    """The orders that are to be tried again; may be asked from any thread."""

    def __init__(self, waits: Sequence[float] = WAITS) -> None:
        self._waits = waits
        self._broken: dict[str, _Broken] = {}

    def note(self, name: str, error: SlipstreamError, done: int) -> bool:
        """Take note of a failure.

        Args:
            name: of the order.
            error: what ended it.
            done: bytes that have arrived.

        Returns: whether it is tried again by itself.
        """
        before = self._broken.pop(name, _Broken())
        tries = before.tries if done <= before.done else 0
        if error.code not in _PASSING or tries == len(self._waits):
            return False
        self._broken[name] = _Broken(tries + 1, done, time.monotonic() + self._waits[tries])
        return True

    def seconds(self, name: str) -> float | None:
        """How long it will take until an order is tried again; None if it was not broken off."""
        broken = self._broken.get(name)
        return max(0.0, broken.due - time.monotonic()) if broken else None

    def forget(self, name: str) -> None:
        """An order is done, given up, or asked for by the user."""
        self._broken.pop(name, None)
