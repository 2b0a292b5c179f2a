"""Ctrl+C."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from slipstream.cancel import CancelToken


@contextlib.contextmanager
def cancels(token: CancelToken) -> Iterator[None]:
    """Inside the block Ctrl+C asks for a stop; pressed again it raises KeyboardInterrupt."""
    pressed = False

    def on_interrupt(_signal: int, _frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True
        # Not here: the code that was interrupted may hold the lock that cancelling takes.
        threading.Thread(target=token.cancel, daemon=True).start()

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
