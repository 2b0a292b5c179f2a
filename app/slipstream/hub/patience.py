"""How long, and how often, something is tried again that the Hub could not answer at once."""

from collections.abc import Callable
from typing import TypeVar

from slipstream.cancel import CancelToken
from slipstream.errors import SlipstreamError

_T = TypeVar("_T")
LONGEST_WAIT = 310.0
"""Seconds: the Hub counts requests in windows of five minutes."""
_WAITS = 3
_PAUSES = (0.5, 1.0, 2.0)
"""Seconds before a request is made again that the server, or the way to it, failed."""
_BUSY = frozenset({408, 500, 502, 503, 504})


class Patience:
    """The waits of one action.

    Args:
        stop: ends a wait at once.
        waiting: told the seconds whenever a rate limit makes us wait.
    """

    def __init__(self, stop: CancelToken, waiting: Callable[[float], None]) -> None:
        self._stop = stop
        self._waiting = waiting
        self._waits = _WAITS
        self._pauses = iter(_PAUSES)

    def after(self, status: object, limit: object) -> bool:
        """Wait after a refusal.

        Args:
            status: HTTP's.
            limit: seconds that a rate limit asks for.

        Returns: whether it is worth another try.
        """
        if status == 429:
            return isinstance(limit, int | float) and self._wait(limit)
        return status in _BUSY and self.pause()

    def pause(self) -> bool:
        """Wait a moment; returns whether it is worth another try."""
        seconds = next(self._pauses, None)
        if seconds is None:
            return False
        self._stop.wait(seconds)
        return True

    def _wait(self, seconds: float) -> bool:
        if not self._waits or seconds > LONGEST_WAIT:
            return False
        self._waits -= 1
        self._waiting(seconds)
        self._stop.wait(seconds)
        return True


def patiently(call: Callable[[], _T], cancel: CancelToken, waiting: Callable[[float], None]) -> _T:
    """Run something that asks the Hub, again when a rate limit ended or a server is itself again.

    Raises: Cancelled; SlipstreamError: what ``call`` raises at last.
    """
    patience = Patience(cancel, waiting)
    while True:
        try:
            return call()
        except SlipstreamError as error:
            if not patience.after(error.facts.get("http_status"), error.facts.get("seconds")):
                raise
        cancel.raise_if_cancelled()
