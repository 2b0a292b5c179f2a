"""One token that stops a long action from another thread."""

import contextlib
import threading
from collections.abc import Callable, Iterator


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
