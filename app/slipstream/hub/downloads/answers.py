"""What a server answered to a request for a range of a file, judged before a byte is used."""

import email.utils
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

_CONTENT_RANGE = re.compile(r"bytes\s+(?:([0-9]{1,18})-([0-9]{1,18})|\*)/([0-9]{1,18}|\*)")
_NUMBER = re.compile(r"[0-9]{1,18}")
_LONGEST_WAIT = 300.0
"""Seconds: the window of the Hub's rate limits."""


class Cut(Exception):  # noqa: N818 - an event that is tried again
    """The answer broke off, never came, or makes no sense; another try may help."""


class Odd(Exception):  # noqa: N818 - as above
    """The answer makes no sense, and another is not likely to make more."""


class Changed(Exception):  # noqa: N818 - as above
    """The server has a file of another size.

    Attributes:
        size: its bytes there, as far as is known.
    """

    def __init__(self, size: int) -> None:
        super().__init__(f"{size} bytes")
        self.size = size


class NotTheFile(Exception):  # noqa: N818 - as above
    """The server sent a page for people instead of the file."""


class Expired(Exception):  # noqa: N818 - as above
    """The link is not good any more."""


@dataclass(frozen=True)
class Span:
    """The bytes of a file that an answer holds, from ``first`` up to ``end``."""

    first: int
    end: int


def span_of(status: int, headers: Mapping[str, str], first: int, end: int, size: int) -> Span:
    """What an answer to a request for the bytes from ``first`` up to ``end`` holds.

    A server that does not know ranges sends the whole file.

    Raises: Changed, NotTheFile, Cut, Odd.
    """
    if headers.get("content-encoding", "identity") != "identity":
        raise Odd("The file came compressed")
    if status == 200:
        _check_whole(headers, size)
        return Span(0, size)
    match = _CONTENT_RANGE.fullmatch(headers.get("content-range", "").strip())
    if not match:
        raise Odd("The answer does not say which part of the file it is")
    if match[3] != "*" and int(match[3]) != size:
        raise Changed(int(match[3]))
    if status == 416 or match[1] is None:
        raise Cut("The server does not have this part of the file")
    span = Span(int(match[1]), int(match[2]) + 1)
    if span.first != first or not first < span.end <= end:
        raise Cut("The server sent another part of the file")
    if "content-length" in headers and length_of(headers) != span.end - first:
        raise Cut("The length of the answer is wrong")
    return span


def length_of(headers: Mapping[str, str], name: str = "content-length") -> int | None:
    """The bytes that a header tells; None if it tells no number that a file could have."""
    text = headers.get(name, "").strip()
    return int(text) if _NUMBER.fullmatch(text) else None


def _check_whole(headers: Mapping[str, str], size: int) -> None:
    length = length_of(headers)
    if length == size:
        return  # the sha256 decides
    if headers.get("content-type", "").partition(";")[0].strip().lower() in _PAGES:
        raise NotTheFile
    if length is not None:
        raise Changed(length)


_PAGES = frozenset({"text/html", "application/xhtml+xml", "application/xml", "text/xml"})


def strong_etag(headers: Mapping[str, str]) -> str | None:
    """The ETag, if it names these very bytes."""
    etag = headers.get("etag", "")
    return etag if etag.startswith('"') else None


def wait_asked(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait; None if it does not say."""
    after = headers.get("retry-after", "").strip()
    if _NUMBER.fullmatch(after):
        return min(float(after), _LONGEST_WAIT)
    with suppress(ValueError, OverflowError):
        date = email.utils.parsedate_to_datetime(after)
        return min(max(0.0, date.timestamp() - time.time()), _LONGEST_WAIT)
    reset = re.search(r"\bt=([0-9]+)", headers.get("ratelimit", ""))  # "api";r=0;t=55
    return min(float(reset[1]), _LONGEST_WAIT) if reset else None
