"""Sends a body: fast from a file, or as badly as a test wants it."""

import socket
import threading
import time
from collections.abc import Callable
from enum import Enum, auto
from pathlib import Path

from hub_server.answers import Part
from hub_server.contents import Content, pieces

_STEP = 1 << 20
_TICK = 0.02
"""Seconds between two pieces of a body whose rate is limited."""


class End(Enum):
    """How a body ended."""

    WHOLE = auto()
    CUT = auto()


def send_body(
    connection: socket.socket, part: Part, stopped: threading.Event, sent: Callable[[int], None]
) -> End:
    """Send a part of a content.

    Args:
        connection: its headers are sent already.
        part: what to send, and how.
        stopped: ends waiting, when the server stops.
        sent: told the bytes of each piece.

    Returns: whether the connection can be used for the next answer.
    Raises: OSError: the other side has gone.
    """
    size = part.end - part.first
    cut = next((n for one in part.sending if (n := one.cut(size)) is not None), None)
    stall = next((n for one in part.sending if (n := one.stall(size)) is not None), None)
    wrong = next(
        (n for one in part.sending if (n := one.corrupt(part.first, part.end)) is not None), None
    )
    end = part.first + min(size if cut is None else cut, size if stall is None else stall)
    at = part.first
    while at < end and not stopped.is_set():
        began, rate = time.monotonic(), next((o.rate for o in part.sending if o.rate), 0.0)
        step = max(1, int(rate * _TICK)) if rate else _STEP
        step = min(step, end - at)
        sent(step)  # told before, so that who has the body finds it counted
        count = 0
        try:
            count = _send(connection, part.content, at, at + step, wrong)
        finally:
            sent(count - step)
        if not count:  # the file became shorter
            return End.CUT
        at += count
        if rate:
            stopped.wait(max(0.0, count / rate - (time.monotonic() - began)))
    if at < part.end and (cut is None or (stall is not None and stall < cut)):
        stopped.wait()
    return End.WHOLE if at == part.end else End.CUT


def _send(connection: socket.socket, content: Content, at: int, end: int, wrong: int | None) -> int:
    """Send bytes of a content, that at ``wrong`` changed; how many were sent."""
    damaged = wrong is not None and at <= wrong < end
    if isinstance(content, Path) and not damaged:
        with content.open("rb") as file:
            return connection.sendfile(file, at, end - at)
    count = 0
    for piece in pieces(content, at, end):
        data: bytes | memoryview = piece
        if wrong is not None and at + count <= wrong < at + count + len(piece):
            changed = bytearray(piece)
            changed[wrong - at - count] ^= 0xFF
            data = bytes(changed)
        connection.sendall(data)
        count += len(data)
    return count
