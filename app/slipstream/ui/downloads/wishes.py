"""What is asked of the queue of downloads: done in a worker, in order."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from slipstream.errors import SlipstreamError

if TYPE_CHECKING:
    from slipstream.hub.downloads.orders import Order
    from slipstream.hub.downloads.queue import Downloads

Wish = Callable[["Downloads"], object]


class Wishes:
    """What is still to be done; false if that is nothing. May be used from any thread."""

    def __init__(self) -> None:
        self._waiting: deque[Wish] = deque()
        self._doing = threading.Lock()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def append(self, wish: Wish) -> None:
        """Do this after all others."""
        self._waiting.append(wish)

    def clear(self) -> None:
        """Do nothing of it."""
        self._waiting.clear()

    def fulfil(self, queue: "Downloads") -> Iterator[SlipstreamError]:
        """Do what waits; tells what could not be done.

        At the end of the app a worker may be at it, too: then its wish is waited for.
        """
        more = True
        while more:
            with self._doing:
                more = bool(self._waiting)
                error = _failure(self._waiting.popleft(), queue) if more else None
            if error is not None:
                yield error


def _failure(wish: Wish, queue: "Downloads") -> SlipstreamError | None:
    """Do what is wished for; why that could not be done."""
    try:
        wish(queue)
    except SlipstreamError as error:
        return error
    return None


def add_once(queue: "Downloads", order: "Order") -> None:
    """Put an order into the queue; there is never more than one of the same."""
    same = [entry.record for entry in queue.list() if entry.record.order == order]
    for record in same:
        if record.stage == "done":
            queue.cancel(record.id, keep_parts=True)
        else:
            queue.resume(record.id)
    if all(record.stage == "done" for record in same):
        queue.add(order)
