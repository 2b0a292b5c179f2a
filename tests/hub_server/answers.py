"""A call to the test Hub, and what it is answered."""

import json
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import parse_qs, urlsplit

from hub_server.contents import Content
from hub_server.faults import Sending
from hub_server.log import Listener


@dataclass(frozen=True)
class Call:
    """What was asked.

    Attributes:
        listener: who was asked.
        method: ``GET``, ``HEAD`` or ``POST``.
        target: path and query, still quoted.
        headers: by their names in small letters.
        body: what was posted.
    """

    listener: Listener
    method: str
    target: str
    headers: dict[str, str]
    body: bytes = b""

    @property
    def path(self) -> str:
        """The path, still quoted."""
        return urlsplit(self.target).path

    @cached_property
    def query(self) -> dict[str, list[str]]:
        """Every value of each parameter; ``expand[]`` and ``expand`` are the same."""
        found: dict[str, list[str]] = {}
        for name, values in parse_qs(urlsplit(self.target).query).items():
            found.setdefault(name.removesuffix("[]"), []).extend(values)
        return found

    def one(self, name: str) -> str:
        """The last value of a parameter; empty if it was not given."""
        return self.query.get(name, [""])[-1]

    def flag(self, name: str) -> bool:
        """Whether a parameter says yes."""
        return self.one(name).lower() in ("true", "1")


@dataclass(frozen=True)
class Part:
    """A part of a content, to be sent as ``sending`` says, the first being the file's own."""

    content: Content
    first: int
    end: int
    sending: tuple[Sending, ...] = ()


@dataclass(frozen=True)
class Answer:
    """Status, headers and body; the length of the body is added when it is sent."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | Part = b""

    @property
    def size(self) -> int:
        """Bytes of the body."""
        if isinstance(self.body, Part):
            return self.body.end - self.body.first
        return len(self.body)


class Refused(Exception):  # noqa: N818
    """A call that is answered with an error, or sent elsewhere."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def as_json(value: object, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    """An answer in JSON."""
    kind = {"Content-Type": "application/json; charset=utf-8"}
    return Answer(status, {**kind, **(headers or {})}, json.dumps(value).encode())


def refusal(status: int, message: str, code: str = "") -> Refused:
    """An error as the Hub words it: in headers for programs, in JSON for people."""
    headers = {"X-Error-Message": message}
    if code:
        headers["X-Error-Code"] = code
    return Refused(as_json({"error": message}, status, headers))


def moved(location: str, status: int = 307, headers: dict[str, str] | None = None) -> Answer:
    """A redirect."""
    text = f"Redirecting to {location}".encode()
    kind = {"Content-Type": "text/plain; charset=utf-8", "Location": location}
    return Answer(status, {**kind, **(headers or {})}, text)
