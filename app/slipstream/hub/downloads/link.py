"""Where the bytes of a file are: the Hub sends on to a link that is good for a while."""

import email.utils
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import httpx2

from slipstream.hub.connection import Connection
from slipstream.hub.downloads.answers import Changed, Odd, length_of
from slipstream.hub.files import RepoFile

_MOST_HOPS = 8
_SENT_ON = frozenset({301, 302, 303, 307, 308})


class Refused(Exception):  # noqa: N818 - becomes an error for people where the file is known
    """A server did not give what was asked for.

    Attributes:
        answer: status and headers.
    """

    def __init__(self, answer: httpx2.Response) -> None:
        super().__init__(f"status {answer.status_code}")
        self.answer = answer


@dataclass(frozen=True)
class Link:
    """Where the bytes are.

    Attributes:
        url: to ask.
        headers: to send with each request; a token only if the Hub itself has the file.
        expires: monotonic time in seconds after which it is not good; None if nobody says.
        by_hub: the Hub itself sends the file.
    """

    url: str
    headers: Mapping[str, str]
    expires: float | None
    by_hub: bool

    @property
    def expired(self) -> bool:
        """Whether a new one is needed."""
        return self.expires is not None and time.monotonic() > self.expires


def resolve(connection: Connection, repo: str, revision: str, file: RepoFile) -> Link:
    """Ask the Hub where a file is, following it only within its own host.

    The token goes to the endpoint alone: another host gets the request without it, later.

    Raises: Refused; Changed, if it is not the file that was listed; Odd; httpx2.HTTPError.
    """
    url = httpx2.URL(connection.file_url(repo, revision, file.path))
    home = _origin(url)
    headers = {**connection.headers(), "Accept-Encoding": "identity"}
    for _ in range(_MOST_HOPS):
        with connection.client.stream(
            "GET", url, headers={**headers, "Range": "bytes=0-0"}, follow_redirects=False
        ) as answer:
            _check(answer.headers, file)
            if answer.status_code in (200, 206):
                return Link(str(url), headers, None, by_hub=True)
            if answer.status_code not in _SENT_ON or "location" not in answer.headers:
                raise Refused(answer)
            url = _led_to(url, answer.headers["location"])
            if _origin(url) != home:
                return Link(
                    str(url),
                    _without_token(headers),
                    _expiry(str(url), answer.headers),
                    by_hub=False,
                )
    raise Odd("The Hub sends on without end")


def _led_to(url: httpx2.URL, location: str) -> httpx2.URL:
    """Raises: Odd: nothing can be asked for there."""
    try:
        there = url.join(location)
    except (httpx2.InvalidURL, ValueError) as error:
        raise Odd(f"It sends on to no address: {error}") from error
    if there.scheme not in ("http", "https") or not there.host:
        raise Odd(f"It sends on to no server: {there}")
    return there


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _without_token(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() != "authorization"}


def _check(headers: httpx2.Headers, file: RepoFile) -> None:
    size = length_of(headers, "x-linked-size")
    if size is not None and size != file.bytes:
        raise Changed(size)


def _expiry(url: str, headers: Mapping[str, str]) -> float | None:
    """When a signed link ends, by this computer's monotonic clock and the server's calendar."""
    try:
        query = {name.lower(): values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        if "x-amz-expires" in query:
            lifetime = float(query["x-amz-expires"])
        else:
            date = email.utils.parsedate_to_datetime(headers["date"])
            lifetime = float(query["expires"]) - date.timestamp()
    except (KeyError, ValueError, TypeError):
        return None
    return time.monotonic() + lifetime
