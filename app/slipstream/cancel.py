"""One token that stops a long action from another thread."""

import concurrent.futures
import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

_T = TypeVar("_T")
_LOOK = 0.05
"""Seconds between two looks at whether to go on."""


class Cancelled(Exception):  # noqa: N818 - a decision of the user's, not an error
    """The user stopped the action."""


class CancelToken:
    """Asked to stop once, stopped for good; callbacks wake work that is blocked."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked to stop."""
        return self._event.is_set()

    def cancel(self) -> None:
        """Ask to stop: runs every callback in the calling thread, once."""
        with self._lock:
            if self._event.is_set():
                return
            self._event.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def raise_if_cancelled(self) -> None:
        """Raises: Cancelled, if somebody asked to stop."""
        if self.cancelled:
            raise Cancelled

    def wait(self, seconds: float) -> bool:
        """Sleep up to ``seconds``, less if cancelled; returns whether cancelled."""
        return self._event.wait(seconds)

    @contextlib.contextmanager
    def on_cancel(self, callback: Callable[[], None]) -> Iterator[None]:
        """Run ``callback`` if the token is cancelled inside the block (or was before it)."""
        with self._lock:
            late = self._event.is_set()
            if not late:
                self._callbacks.append(callback)
        if late:
            callback()
        try:
            yield
        finally:
            with self._lock, contextlib.suppress(ValueError):
                self._callbacks.remove(callback)


def run_apart(call: Callable[[], _T], cancel: CancelToken, deadline: Callable[[], float]) -> _T:
    """Run something in a thread that can be left behind.

    What a request waits for (the look-up of a name, a connection, the next byte) cannot always be
    interrupted; the thread ends when that wait does.

    Args:
        call: what to run; what it raises is raised here.
        cancel: ends the waiting at once.
        deadline: monotonic time in seconds at which it takes too long; it may move.

    Raises: Cancelled; TimeoutError.
    """
    outcome: concurrent.futures.Future[_T] = concurrent.futures.Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:  # noqa: BLE001 - the thread that waits raises it
            outcome.set_exception(error)

    cancel.raise_if_cancelled()
    threading.Thread(target=run, name="apart", daemon=True).start()
    while not concurrent.futures.wait([outcome], timeout=_LOOK).done:
        cancel.raise_if_cancelled()
        if time.monotonic() > deadline():
            raise TimeoutError
    return outcome.result()
