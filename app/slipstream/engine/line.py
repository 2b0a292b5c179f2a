"""The connection that one answer of an engine comes over."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from slipstream.engine.wire import read_body

if TYPE_CHECKING:
    import httpx2

_LOOK = 0.25
"""Seconds between two looks at whether the engine still lives."""


class Line:
    """The connection of one request: any thread can cut it, and silence cuts it.

    Attributes:
        silence: seconds to wait for the next event or log line.
        hung: silence has cut it.
    """

    def __init__(self, alive: Callable[[], float], silence: float) -> None:
        self.silence = silence
        self.hung = False
        self._alive = alive
        self._waiting_since: float | None = time.monotonic()
        self._socket: socket.socket | None = None
        self._cut = False
        self._done = threading.Event()

    def trace(self, name: str, info: dict[str, Any]) -> None:
        """httpcore's trace hook: the only place that shows the socket before headers arrive."""
        if name == "connection.connect_tcp.complete":
            self._socket = info["return_value"].get_extra_info("socket")
            if self._cut:
                self.cut()

    def cut(self) -> None:
        """Wake whoever is blocked on the connection, and tell the engine that nobody listens."""
        self._cut = True
        if self._socket:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Cut the line when the engine falls silent inside the block."""
        threading.Thread(target=self._watch, name="engine-watch", daemon=True).start()
        try:
            yield
        finally:
            self._done.set()

    @contextlib.contextmanager
    def not_waiting(self) -> Iterator[None]:
        """The time inside the block is the reader's own, not the engine's."""
        self._waiting_since = None
        try:
            yield
        finally:
            self._waiting_since = time.monotonic()

    def _watch(self) -> None:
        while not self._done.wait(_LOOK):
            since = self._waiting_since
            if since and time.monotonic() - max(since, self._alive()) > self.silence:
                self.hung = True
                self.cut()
                return


def ask(http: "httpx2.Client", path: str, line: Line, key: str | None = None) -> tuple[int, str]:
    """Ask a short question; however slowly the answer drips, the line's silence is its time.

    Args:
        http: knows the address.
        path: what to get.
        line: a new one, whose silence is seconds for the whole answer.
        key: API key; None sends the client's own.

    Returns: HTTP status and body.
    Raises: SlipstreamError ``not_an_engine``, if the answer has no end; httpx2's errors.
    """
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    timeout = line.silence
    with (
        line.watched(),
        http.stream(
            "GET", path, headers=headers, timeout=timeout, extensions={"trace": line.trace}
        ) as response,
    ):
        return response.status_code, read_body(response)
