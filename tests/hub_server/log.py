"""What was asked of the test Hub."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Listener = Literal["hub", "cdn"]


@dataclass
class Request:
    """One request and its answer.

    Attributes:
        listener: who was asked.
        method: ``GET``, ``HEAD`` or ``POST``.
        path: as it was sent, with its query.
        headers: by their names in small letters; ``authorization`` is there if a token was sent.
        status: of the answer; 0 until it begins.
        sent: bytes of the body so far.
        ended: the answer is complete, or will not become so.
    """

    listener: Listener
    method: str
    path: str
    headers: dict[str, str]
    status: int = 0
    sent: int = 0
    ended: bool = False


class Log:
    """Requests, written by the threads that answer and read by a test."""

    def __init__(self, told: Callable[[Request], None] | None = None) -> None:
        self._requests: list[Request] = []
        self._changed = threading.Condition()
        self._told = told

    def requests(self) -> list[Request]:
        """All so far, the oldest first."""
        with self._changed:
            return list(self._requests)

    def clear(self) -> None:
        """Forget them."""
        with self._changed:
            self._requests.clear()

    def begin(self, request: Request) -> Request:
        """A request has come."""
        with self._changed:
            self._requests.append(request)
            self._changed.notify_all()
        return request

    def status(self, request: Request, status: int) -> None:
        """Its answer begins."""
        with self._changed:
            request.status = status
            self._changed.notify_all()

    def sent(self, request: Request, count: int) -> None:
        """Bytes of its body were sent."""
        with self._changed:
            request.sent += count
            self._changed.notify_all()

    def end(self, request: Request) -> None:
        """Its answer has ended."""
        with self._changed:
            request.ended = True
            self._changed.notify_all()
        if self._told:
            self._told(request)

    def wait_for(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait until something is true that follows from the log; whether it came true."""
        with self._changed:
            return self._changed.wait_for(condition, seconds)
