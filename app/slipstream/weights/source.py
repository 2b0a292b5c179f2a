"""A file on a server, read from its start as far as needed: one request, which is given up then."""

import re
import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Self

import httpx2

from slipstream.cancel import CancelToken

SILENCE = 15.0
"""Seconds that a server may be silent."""
_GRACE = 30.0
_SLOWEST = 50_000
"""Bytes per second below which reading takes too long, after a grace in seconds."""
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,19})-([0-9]{1,19})/([0-9]{1,19})")


class Refused(Exception):  # noqa: N818 - what the server did
    """The server answered with a status that brings no file.

    Attributes:
        answer: status and headers.
    """

    def __init__(self, answer: httpx2.Response) -> None:
        super().__init__(answer.status_code)
        self.answer = answer


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
        fetched: bytes that were read from the connection.
        deadline: monotonic time at which it takes too long.

    Raises: Refused, Senseless, Cancelled, httpx2's errors; so does ``read``.
    """

    def __init__(self, client: httpx2.Client, url: str, headers: Mapping[str, str]) -> None:
        self._client = client
        self._url = url
        self._headers = headers
        self._stop = CancelToken()
        self._response: httpx2.Response | None = None
        self._pieces: Iterator[bytes] = iter(())
        self._data = bytearray()
        self.fetched = 0
        self.file_bytes = 0
        self.deadline = float("inf")
        self._began = 0.0

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        self._be_patient(0)
        try:
            self._open()
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
        left = self.file_bytes - self.fetched + len(self._data)
        count = min(count, left)
        self._be_patient(count)
        while len(self._data) < count:
            self._stop.raise_if_cancelled()
            piece = next(self._pieces, b"")
            if not piece:
                raise Senseless("sent less than it promised")
            self._data += piece
            self.fetched += len(piece)
        content = bytes(self._data[:count])
        del self._data[:count]
        return content

    def stop(self) -> None:
        """Any thread may end it: it raises ``Cancelled`` before its next piece."""
        self._stop.cancel()

    def _be_patient(self, count: int) -> None:
        self.deadline = self._began + _GRACE + (self.fetched + count) / _SLOWEST

    def _open(self) -> None:
        headers = {**self._headers, "Accept-Encoding": "identity", "Range": "bytes=0-"}
        request = self._client.build_request(
            "GET", self._url, headers=headers, timeout=httpx2.Timeout(SILENCE)
        )
        self._response = response = self._client.send(request, stream=True, follow_redirects=True)
        self._stop.raise_if_cancelled()
        match response.status_code:
            case 206:
                self.file_bytes = _size_of_range(response)
            case 200:  # it knows no ranges
                self.file_bytes = _size_of_whole(response)
            case 416:
                return  # the file is empty
            case _:
                raise Refused(response)
        self._pieces = response.iter_raw()

    def _close(self) -> None:
        if self._response is not None:
            self._response.close()
            self._response = None


def _size_of_range(response: httpx2.Response) -> int:
    said = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if not said:
        raise Senseless("does not say which part of the file it sends")
    start, end, size = (int(number) for number in said.groups())
    if start or end + 1 != size:
        raise Senseless("sends another part of the file than it was asked for")
    return size


def _size_of_whole(response: httpx2.Response) -> int:
    size = response.headers.get("Content-Length", "")
    if not re.fullmatch(r"[0-9]{1,19}", size) or "Content-Encoding" in response.headers:
        raise Senseless("does not say how large the file is")
    return int(size)
