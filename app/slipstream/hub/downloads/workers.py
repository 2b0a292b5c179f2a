"""One connection of a download: a thread that fetches runs of blocks until none is left."""

import threading
import time
from dataclasses import replace

import httpx2

from slipstream.errors import SlipstreamError
from slipstream.hub.connection import Connection
from slipstream.hub.downloads.answers import (
    Changed,
    Cut,
    Expired,
    NotTheFile,
    Odd,
    span_of,
    strong_etag,
    wait_asked,
)
from slipstream.hub.downloads.blocks import BLOCK, sample_of
from slipstream.hub.downloads.body import Body
from slipstream.hub.downloads.failures import told
from slipstream.hub.downloads.job import GaveUp, Job, Stopped
from slipstream.hub.downloads.link import Link, Refused
from slipstream.hub.downloads.runs import Run

_HOPELESS = (Odd, httpx2.InvalidURL, httpx2.UnsupportedProtocol, httpx2.TooManyRedirects)
_HOPELESS_TRIES = 2
_TRIED_AGAIN = (Cut, Expired, Refused, httpx2.HTTPError, *_HOPELESS)
_AT_ONCE = 256 << 10
_OLD_LINK = frozenset({401, 403, 404, 410})
_BUSY = frozenset({429, 503})
_PASSING = frozenset({408, 425, 429}) | frozenset(range(500, 600))


class Worker:
    """One connection.

    Attributes:
        received: bytes so far, also those that came twice.
        filled: bytes of the block that is just being received.
        waiting: when the wait that it is in ends, by the monotonic clock, and why it waits.
        error: why it ended before everything was there.
        alive: it still runs.
    """

    def __init__(self, job: Job) -> None:
        self.received = 0
        self.filled = 0
        self.waiting: tuple[float, str] | None = None
        self.error: BaseException | None = None
        self.alive = True
        self._job = job
        self._asked = job.source.connection
        self._fresh = 0
        self._buffer = memoryview(bytearray(BLOCK))
        threading.Thread(target=self._run, name="download", daemon=True).start()

    def _run(self) -> None:
        runs = self._job.runs
        try:
            while run := runs.claim():
                try:
                    self._finish(run)
                finally:
                    runs.release(run)
        except Stopped:
            pass
        except BaseException as error:  # noqa: BLE001 - the thread that waits raises it
            self.error = error
        self.filled = 0
        self.alive = False
        self._job.news.set()

    def _finish(self, run: Run) -> None:
        """Fetch a run, however many requests that takes."""
        self.filled = 0
        tries = 0
        while self._job.runs.goes_on(run):
            before = self._fresh
            try:
                self._request(run)
            except (Changed, NotTheFile) as error:
                raise self._told(error) from error
            except _TRIED_AGAIN as error:
                tries = 1 if self._fresh > before else tries + 1
                self._wait_after(error, tries)

    def _request(self, run: Run) -> None:
        job = self._job
        if job.stop.is_set():
            raise Stopped
        self._asked = job.source.connection
        link = job.link()
        self._note_server(link, httpx2.URL(link.url))
        first, end = run.next * BLOCK + self.filled, min(run.end * BLOCK, job.part.size)
        headers = {
            **link.headers,
            "Accept-Encoding": "identity",
            "Range": f"bytes={first}-{end - 1}",
            **({"If-Range": job.etag} if job.etag else {}),
        }
        silence = job.patience.silence
        with job.source.connection.client.stream(
            "GET",
            link.url,
            headers=headers,
            timeout=httpx2.Timeout(silence, connect=min(silence, 10.0)),
            follow_redirects=not link.by_hub,  # without a token, it may lead anywhere
        ) as answer:
            self._note_server(link, answer.url)
            self._check_status(answer, link)
            span = span_of(answer.status_code, answer.headers, first, end, job.part.size)
            if (span.first, span.end) != (0, job.part.size):
                job.etag = strong_etag(answer.headers)
            elif not self._take_whole(run, answer, first):
                return
            length = span.end - span.first
            self._receive(run, Body(answer, length, silence), span.end)

    def _note_server(self, link: Link, url: httpx2.URL) -> None:
        """Remember who is asked: if that fails, it is named."""
        if not link.by_hub:
            self._asked = _at(self._asked, url)

    def _check_status(self, answer: httpx2.Response, link: Link) -> None:
        """Raises: Expired, Refused."""
        if answer.status_code in (200, 206, 416):
            return
        if answer.status_code in _OLD_LINK and not link.by_hub:
            self._job.drop(link)
            raise Expired(f"The link is not good any more: {answer.status_code}")
        raise Refused(answer)

    def _take_whole(self, run: Run, answer: httpx2.Response, first: int) -> bool:
        """The whole file comes; whether this connection shall read it."""
        job = self._job
        if answer.status_code == 206:
            return True
        if job.etag and first and "if-range" in answer.request.headers:
            job.etag = None
            raise Cut(
                "The file has another name on this server"
            )  # ask for the part without If-Range
        self.filled = 0
        return job.runs.from_the_start(run)

    def _receive(self, run: Run, body: Body, end: int) -> None:
        """Take blocks out of an answer that ends at ``end``, until the run or the answer ends."""
        part = self._job.part
        while True:
            number = run.next
            length = part.length(number)
            self._fill(body, number, min(length, end - number * BLOCK))
            if self.filled < length:
                return  # the server sends less than was asked for
            self._store(number, length)
            if not self._job.runs.advance(run):
                break
        if run.next == part.blocks and body.has_more():
            raise Changed(part.size + 1)

    def _fill(self, body: Body, number: int, length: int) -> None:
        """Read a block up to ``length``, writing it while it is in the processor's cache."""
        job = self._job
        known = job.part.has(number)
        while self.filled < length:
            if job.stop.is_set():
                raise Stopped
            allowed = job.limit.take(min(length - self.filled, _AT_ONCE))
            if not allowed:
                continue
            piece = self._buffer[self.filled : self.filled + allowed]
            count = body.read_into(piece)
            job.limit.give_back(allowed - count)
            if not count:
                raise Cut("The connection ended too early")
            self.received += count
            if not known and not job.part.write(number, self.filled, piece[:count]):
                raise Stopped
            self.filled += count
            if job.runs.ranges:
                self._fresh += count

    def _store(self, number: int, length: int) -> None:
        job = self._job
        if not job.part.has(number):
            sample = sample_of(self._buffer[:length])
            self._buffer = job.follower.offer(number, self._buffer)
            if not job.part.finish(number, sample):
                raise Stopped
            self._fresh += length
        self.filled = 0
        if job.part.complete:
            job.news.set()

    def _wait_after(self, error: Exception, tries: int) -> None:
        """Wait before the next try.

        Raises: SlipstreamError, if there shall be none.
        """
        patience = self._job.patience
        if isinstance(error, Refused) and error.answer.status_code not in _PASSING:
            raise self._told(error) from error
        most = _HOPELESS_TRIES if isinstance(error, _HOPELESS) else patience.tries
        if tries >= most:
            raise GaveUp(self._told(error)) from error
        seconds = patience.pause(tries)
        why = "the connection was lost"
        if isinstance(error, Expired):
            why = "the link is not good any more"
            seconds = 0.0 if tries == 1 else seconds
        elif isinstance(error, Refused):
            why = (
                "the Hub is busy" if error.answer.status_code in _BUSY else "the Hub has a problem"
            )
            asked = wait_asked(error.answer.headers)
            seconds = seconds if asked is None else max(seconds, asked)
        self.waiting = (time.monotonic() + seconds, why)
        self._job.news.set()
        if self._job.stop.wait(seconds):
            raise Stopped
        self.waiting = None

    def _told(self, error: Exception) -> SlipstreamError:
        source = self._job.source
        return told(error, source.repo, source.file, self._asked)


def _at(connection: Connection, url: httpx2.URL) -> Connection:
    """The same way, to another server."""
    return replace(connection, endpoint=f"{url.scheme}://{url.netloc.decode()}")
