"""``resolve`` of the test Hub, and the CDN that it sends people to."""

import hashlib
import hmac
import re
import secrets
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlencode, urlsplit

from hub_server.access import check_readable, files_at, find_repo, user_of
from hub_server.answers import Answer, Call, Part, Refused, moved, refusal
from hub_server.contents import sha256
from hub_server.faults import Faults
from hub_server.ranges import answer_part
from hub_server.repos import HubFile

if TYPE_CHECKING:
    from hub_server.server import HubServer

RESOLVE = re.compile(r"/(?P<id>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<path>.+)")
CACHED = re.compile(
    r"/api/resolve-cache/models/(?P<id>[^/]+/[^/]+)/(?P<revision>[^/]+)/(?P<path>.+)"
)
_PAGE = b"<!DOCTYPE html><html><body><h1>Please sign in to this network</h1></body></html>\n"


def answer_resolve(hub: "HubServer", call: Call) -> Answer:
    """Answer ``/owner/name/resolve/revision/path``: send on to the CDN or to a small file.

    Raises: Refused.
    """
    match = RESOLVE.fullmatch(call.path) or CACHED.fullmatch(call.path)
    if match is None:
        raise refusal(404, "Sorry, we can't find the page you are looking for.")
    user = user_of(hub.tokens, call)
    repo = find_repo(hub.repos, call, unquote(match["id"]), user)
    check_readable(repo, user)
    commit, files = files_at(repo, unquote(match["revision"]))
    path = unquote(match["path"])
    file = next((file for file in files if file.path == path), None)
    if file is None:
        raise refusal(404, "Entry not found", "EntryNotFound")
    etag = file.link_etag
    headers = {"X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
    if match.re is CACHED:
        return _whole(hub, call, file, headers)
    linked = {
        **headers,
        "ETag": f'"{etag}"',
        "X-Linked-Etag": f'"{etag}"',
        "X-Linked-Size": str(file.link_size),
    }
    if file.is_large:
        return moved(hub.links.give(file, hub.faults, hub.cdn), 302, linked)
    place = f"/api/resolve-cache/models/{repo.id}/{commit}/{quote(path)}"
    return moved(f"{place}?{urlencode({'etag': etag})}", 307, linked)


def answer_cdn(hub: "HubServer", call: Call) -> Answer:
    """Answer a link that ``resolve`` gave.

    Raises: Refused: it is wrong, too old or used up.
    """
    file = hub.links.redeem(call)
    name = file.path.rpartition("/")[2]
    known = f"inline; filename*=UTF-8''{quote(name)}; filename=\"{quote(name)}\";"
    return _whole(hub, call, file, {"Content-Disposition": known})


def _whole(hub: "HubServer", call: Call, file: HubFile, headers: dict[str, str]) -> Answer:
    sending = (file.sending, hub.sending)
    if any(one.html for one in sending):
        page = {"Content-Type": "text/html; charset=utf-8"}
        return Answer(200, page, Part(_PAGE, 0, len(_PAGE), sending))
    kind = "application/octet-stream" if file.is_large else "text/plain; charset=utf-8"
    etag = file.etag
    if file.sends is not None:
        etag = sha256(file.sends) if file.is_large else file.link_etag
    return answer_part(call, file.body, etag, sending, {**headers, "Content-Type": kind})


@dataclass
class _Link:
    file: HubFile
    ends: float
    answers: int
    bytes: int


class Links:
    """The links to the CDN that were given, each for one file and a while."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(16)
        self._given: dict[str, _Link] = {}
        self._lock = threading.Lock()

    def give(self, file: HubFile, faults: Faults, cdn: str) -> str:
        """A new address for a file."""
        key = secrets.token_hex(8)
        with self._lock:
            ends = time.monotonic() + faults.link_seconds
            self._given[key] = _Link(file, ends, faults.link_answers, faults.link_bytes)
        path = f"/repos/{key}/{file.link_etag}"
        expires = int(time.time() + faults.link_seconds)
        query = {"Expires": expires, "Signature": self._sign(f"{path}?{expires}"), "Key-Pair-Id": 1}
        return f"{cdn}{path}?{urlencode(query)}"

    def redeem(self, call: Call) -> HubFile:
        """The file that an address is for.

        Raises: Refused.
        """
        signed = f"{urlsplit(call.target).path}?{call.one('Expires')}"
        if not hmac.compare_digest(self._sign(signed), call.one("Signature")):
            raise _denied("SignatureDoesNotMatch", "The signature does not match.")
        with self._lock:
            link = self._given[call.path.split("/")[2]]
            if time.monotonic() >= link.ends or link.answers <= 0 or link.bytes <= 0:
                raise _denied("AccessDenied", "Request has expired")
            if call.method != "HEAD":
                link.answers -= 1
            return link.file

    def spend(self, call: Call, count: int) -> None:
        """Count bytes that were sent for an address."""
        with self._lock:
            link = self._given.get((call.path.split("/") + [""] * 3)[2])
            if link:
                link.bytes -= count

    def expire(self) -> None:
        """Refuse every address that was given so far."""
        with self._lock:
            for link in self._given.values():
                link.ends = 0

    def _sign(self, text: str) -> str:
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()


def _denied(code: str, message: str) -> Refused:
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<Error><Code>{code}</Code><Message>{message}</Message></Error>"
    )
    return Refused(Answer(403, {"Content-Type": "application/xml"}, text.encode()))
