"""Get one file: add connections while they help, check it while it comes, repair what is wrong."""

import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub.downloads.blocks import BLOCK, Part, map_of
from slipstream.hub.downloads.failures import cannot_write, checksum_mismatch
from slipstream.hub.downloads.hashing import Follower, expected
from slipstream.hub.downloads.job import GaveUp, Job, Patience, Source
from slipstream.hub.downloads.limit import SpeedLimit
from slipstream.hub.downloads.progress import FileProgress, State
from slipstream.hub.downloads.runs import Runs
from slipstream.hub.downloads.workers import Worker

MOST_CONNECTIONS = 4
_WORTH_ANOTHER = 64 << 20
"""Bytes still missing below which another connection is not worth its start."""
_GAIN = 1.15
"""How much faster another connection must have made it for one more to be tried."""
_FAST = 150e6
"""Bytes per second from which the network is not what is waited for."""
_MEASURE = 2.0
"""Seconds over which the speed with so many connections is measured."""
_LOOK = 0.1
_REPAIRS = 4

Told = Callable[[FileProgress, int], None]
"""Is told how far a file is, and how many bytes were received for it in all."""


def fetch(
    source: Source,
    path: Path,
    cancel: CancelToken,
    told: Told,
    limit: SpeedLimit,
    patience: Patience,
) -> None:
    """Get a file into its part file, going on with what is there; on return it is complete.

    Args:
        source: the file.
        path: of the part file; nobody else may write it meanwhile.
        cancel: ends it within 0.2 s; what arrived is kept.
        told: told how far it is, a few times a second.
        limit: of speed, shared with other downloads.
        patience: with the network.

    Raises: Cancelled; SlipstreamError ``changed_on_hub``, ``not_the_file``,
        ``checksum_mismatch``, ``disk_full``, ``cannot_write``, ``offline``, ``timed_out``,
        ``server_error``, or what the Hub's refusal means.
    """
    try:
        part = Part(path, source.file.bytes, source.file.blob)
    except OSError as error:
        raise _cannot_write(error, path, source.file.bytes) from error
    try:
        found = _Fetching(source, part, cancel, told, limit, patience).get()
    except OSError as error:
        raise _cannot_write(error, path, part.size - part.done) from error
    finally:
        part.close()
    if found is not None:
        path.unlink(missing_ok=True)
        map_of(path).unlink(missing_ok=True)
        raise checksum_mismatch(source.repo, source.file, found)


def _cannot_write(error: OSError, path: Path, needed: int) -> SlipstreamError:
    try:
        free = shutil.disk_usage(path.parent).free
    except OSError:
        free = None
    return cannot_write(error, path, needed, free)


class _Fetching:
    """One file on its way."""

    def __init__(
        self,
        source: Source,
        part: Part,
        cancel: CancelToken,
        told: Told,
        limit: SpeedLimit,
        patience: Patience,
    ) -> None:
        self._source, self._part, self._cancel, self._tell = source, part, cancel, told
        self._limit, self._patience = limit, patience
        self._news = threading.Event()
        self._before = 0

    def get(self) -> str | None:
        """Fetch until the checksum is right; the wrong checksum, if it will not be.

        Raises: Cancelled, SlipstreamError, OSError.
        """
        found: str | None = None
        sent_twice = False
        for _ in range(_REPAIRS):
            with self._cancel.on_cancel(self._news.set):
                found = self._round()
            if found == expected(self._source.file):
                return None
            wrong = self._wrong()
            if not wrong and sent_twice:
                return found
            if not wrong:  # on disk is what was sent, and that is not the file
                sent_twice = True
                wrong = list(range(self._part.blocks))
            self._part.forget(wrong)
        return found

    def _round(self) -> str:
        """Fetch what is missing; the checksum of the whole."""
        follower = Follower(self._part, self._source.file, self._news.set)
        runs = Runs(self._part)
        job = Job(self._source, self._part, self._limit, self._patience, runs, follower, self._news)
        workers: list[Worker] = []
        growth = _Growth(self._limit)
        try:
            while follower.result is None:
                self._cancel.raise_if_cancelled()
                if follower.error:
                    raise follower.error
                self._look_after(workers, job, growth)
                self._report(job, workers)
                self._news.wait(_LOOK)
                self._news.clear()
        finally:
            job.stop.set()
            follower.stop()
            self._before += sum(worker.received for worker in workers)
        return follower.result

    def _look_after(self, workers: list[Worker], job: Job, growth: "_Growth") -> None:
        """Raise what a connection failed of, and have as many connections as help."""
        alive = sum(worker.alive for worker in workers)
        for worker in workers:
            if worker.error is not None:
                growth.settled = True
                _raise(worker, others=alive)
        if self._part.complete:
            return
        missing = self._part.size - self._part.done
        received = sum(worker.received for worker in workers)
        if not alive or (job.runs.ranges and growth.helps(alive, received, missing, workers)):
            workers.append(Worker(job))

    def _report(self, job: Job, workers: list[Worker]) -> None:
        filled = sum(worker.filled for worker in workers)
        received = self._before + sum(worker.received for worker in workers)
        waits = [worker.waiting for worker in workers if worker.alive]
        state: State = "downloading"
        seconds, why = None, ""
        if self._part.complete:
            state = "checking"
            filled = 0
        elif waits and (asked := [wait for wait in waits if wait]) and len(asked) == len(waits):
            state = "waiting"
            until, why = min(asked)
            seconds = max(0.0, until - time.monotonic())
        elif not job.resolved:
            state = "resolving"
        done = min(self._part.done + filled, self._part.size)
        self._tell(self._at(done, state, seconds, why), received)

    def _wrong(self) -> list[int]:
        """The blocks that are not on disk as they arrived."""
        found = []
        for looked_at, number in enumerate(self._part.wrong()):
            self._cancel.raise_if_cancelled()
            if looked_at % 64 == 0:
                self._tell(self._at(self._part.size, "checking"), self._before)
            if number >= 0:
                found.append(number)
        return found

    def _at(
        self, done: int, state: State, seconds: float | None = None, why: str = ""
    ) -> FileProgress:
        file = self._source.file
        return FileProgress(self._source.repo, file.path, done, file.bytes, state, seconds, why)


def _raise(worker: Worker, others: int) -> None:
    """Raise what ended a connection, unless others go on without it."""
    error = worker.error
    if isinstance(error, GaveUp):
        if others:
            return
        raise error.error from error.__cause__
    if error is not None:
        raise error


class _Growth:
    """Whether another connection would help: it did the last time.

    Attributes:
        settled: no more are added.
    """

    def __init__(self, limit: SpeedLimit) -> None:
        self.settled = False
        self._limit = limit
        self._since = time.monotonic()
        self._then = 0
        self._speed = 0.0

    def helps(self, connections: int, received: int, missing: int, workers: list[Worker]) -> bool:
        """Whether to add one now."""
        now = time.monotonic()
        if received == 0:
            self._since = now
        if self.settled or now - self._since < _MEASURE:
            return False
        speed = (received - self._then) / (now - self._since)
        self._since, self._then = now, received
        self.settled = (
            connections >= MOST_CONNECTIONS
            or speed < self._speed * _GAIN
            or speed > _FAST
            or any(worker.waiting for worker in workers)
        )
        self._speed = speed
        limited = self._limit.bytes_per_second is not None
        return not self.settled and not limited and missing > max(_WORTH_ANOTHER, BLOCK)
