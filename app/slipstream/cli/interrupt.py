"""Ctrl+C."""

import contextlib
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from slipstream.cancel import CancelToken
from slipstream.errors import SlipstreamError

EXIT_CODE = 130
"""What shells show of a program that Ctrl+C ended (128 + SIGINT)."""

_STDOUT = 1


def stopped() -> SlipstreamError:
    """What is told of an action that Ctrl+C ended."""
    return SlipstreamError("cancelled", "You stopped it.", action="Run it again when you like.")


@contextlib.contextmanager
def ends(*, as_json: bool) -> Iterator[None]:
    """From the start of the block Ctrl+C ends the process at once, until ``raises_from_now``.

    Raising would not do: code that is being imported may catch it or lose it.

    Args:
        as_json: then the error object is printed.
    """

    def on_interrupt(_signal: int, _frame: FrameType | None) -> None:
        if as_json:
            document = json.dumps({"error": stopped().to_json()}, indent=2) + "\n"
            with contextlib.suppress(OSError):
                os.write(_STDOUT, document.encode())
        os._exit(EXIT_CODE)

    with _handled(on_interrupt):
        yield


def raises_from_now() -> None:
    """Let Ctrl+C raise KeyboardInterrupt again, for what has to be ended well."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


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

    with _handled(on_interrupt):
        yield


@contextlib.contextmanager
def _handled(handler: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
