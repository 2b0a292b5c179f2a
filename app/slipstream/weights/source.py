"""A file on a server, read from its start in pieces over HTTP Range (RFC 9110, section 14)."""

import re
import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Self

import httpx2

from slipstream.cancel import CancelToken

FIRST_BYTES = 1 << 20
"""Of the first request, which also tells how large the file is. A header without a vocabulary fits
into it, one of 262,000 tokens (6 to 16 MB) takes four or five requests."""
SILENCE = 15.0
"""Seconds that a server may be silent."""
_GRACE = 30.0
_SLOWEST = 50_000
"""Bytes per second below which a request takes too long; before, it has a grace in seconds."""
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,19})-([0-9]{1,19})/([0-9]{1,19})")


class Refused(Exception):  # noqa: N818 - what the server did
    """The server answered with a status that brings no file."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Changed(Exception):  # noqa: N818 - what the file did
    """The file is not the one that the first pieces came from."""


class Senseless(Exception):  # noqa: N818 - what the answer is
    """An answer that is not HTTP as it should be; the text completes "the server ..."."""


class RemoteFile:
    """A file on a server; it is read from its start, and only as far as asked for.

    Args:
        client: makes the requests.
        url: of the file; redirects are followed.
        headers: sent with each request; an ``Authorization`` only to the host of the URL.

    Attributes:
        file_bytes: size of the file.
        deadline: monotonic time at which the current request takes too long.

    Raises: Refused, Changed, Senseless, Cancelled, httpx2's errors; so does ``read``.
    """

    def __init__(self, client: httpx2.Client, url: str, headers: Mapping[str, str]) -> None:
        self._client = client
        self._url = url
        self._headers = headers
        self._stop = CancelToken()
        self._response: httpx2.Response | None = None
        self._whole: Iterator[bytes] | None = None
        self._version = ""
        self._data = bytearray()
        self._fetched = 0
        self.file_bytes = 0
        self.deadline = float("inf")

    def __enter__(self) -> Self:
        try:
            self._fetch(FIRST_BYTES)
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._close()

    def read(self, count: int, /) -> bytes:
        """The next ``count`` bytes, fewer only at the end of the file."""
        left = self.file_bytes - self._fetched + len(self._data)
        count = min(count, left)
        while len(self._data) < count:
            self._fetch(count - len(self._data))
        content = bytes(self._data[:count])
        del self._data[:count]
        return content

    def stop(self) -> None:
        """Any thread may end it: it raises ``Cancelled`` before its next piece."""
        self._stop.cancel()

    def _fetch(self, count: int) -> None:
        self.deadline = time.monotonic() + _GRACE + count / _SLOWEST
        before = self._fetched
        if self._whole is None:
            self._request(before, count)
        if self._whole is not None:
            self._take(self._whole, count)
        if self._fetched == before and self.file_bytes:
            raise Senseless("sent nothing")

    def _request(self, first: int, count: int) -> None:
        headers = {
            **self._headers,
            "Accept-Encoding": "identity",
            "Range": f"bytes={first}-{first + count - 1}",
        }
        if self._version.startswith('"'):
            headers["If-Range"] = self._version
        request = self._client.build_request(
            "GET", self._url, headers=headers, timeout=httpx2.Timeout(SILENCE)
        )
        self._response = self._client.send(request, stream=True, follow_redirects=True)
        self._stop.raise_if_cancelled()
        self._check_version(self._response, first)
        match self._response.status_code:
            case 206:
                self._begin_part(self._response, first, count)
            case 200 if first == 0:
                self._begin_whole(self._response)
            case 200:
                raise Changed
            case 416 if first == 0:
                self._close()  # the file is empty
            case status:
                raise Refused(status)

    def _check_version(self, response: httpx2.Response, first: int) -> None:
        version = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
        if first == 0:
            self._version = version
        elif version != self._version and not response.is_error:
            raise Changed

    def _begin_part(self, response: httpx2.Response, first: int, count: int) -> None:
        said = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if not said:
            raise Senseless("does not say which part of the file it sends")
        start, end, size = (int(number) for number in said.groups())
        if start != first or not start <= end < size:
            raise Senseless("sends another part of the file than it was asked for")
        if first and size != self.file_bytes:
            raise Changed
        self.file_bytes = size
        self._take(response.iter_raw(), min(count, end + 1 - start))
        self._close()

    def _begin_whole(self, response: httpx2.Response) -> None:
        """The server knows no ranges: its answer is read piece by piece instead."""
        size = response.headers.get("Content-Length", "")
        if not re.fullmatch(r"[0-9]{1,19}", size) or "Content-Encoding" in response.headers:
            raise Senseless("does not say how large the file is")
        self.file_bytes = int(size)
        self._whole = response.iter_raw()

    def _take(self, pieces: Iterator[bytes], count: int) -> None:
        """Fetch at least ``count`` bytes, or what there is."""
        end = self._fetched + count
        while self._fetched < end:
            self._stop.raise_if_cancelled()
            piece = next(pieces, b"")
            if not piece:
                return
            self._data += piece
            self._fetched += len(piece)

    def _close(self) -> None:
        if self._response is not None:
            self._response.close()
            self._response = None
