"""The one way to do background work: a worker thread produces values, a shared timer delivers them.

Values arrive in batches at 30 Hz, never one signal per value, so a fast stream cannot flood the
event loop. The timer runs only while jobs do: an idle window costs nothing.
"""

import logging
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer

from slipstream.cancel import Cancelled, CancelToken
from slipstream.errors import SlipstreamError

Steps = Callable[[CancelToken], Iterable[Any]]
"""Long work: called in the worker thread, its values are delivered on the window's thread."""

_log = logging.getLogger(__name__)
_PERIOD_MS = 33

# How long a worker that computes keeps the interpreter when the window's thread wants it. That
# thread wants it after each call into Qt, so Python's own 5 ms would make one frame take 80.
_SWITCH_SECONDS = 0.0005


@dataclass(frozen=True)
class _End:
    """The last thing a worker sends."""

    error: BaseException | None


@dataclass(eq=False)
class Job:
    """One piece of background work.

    Attributes:
        cancel_token: what the work looks at.
        done: whether the end was delivered.
    """

    steps: Steps
    on_values: Callable[[list[Any]], None]
    on_done: Callable[[], None]
    on_error: Callable[[BaseException], None]
    cancel_token: CancelToken = field(default_factory=CancelToken)
    done: bool = False
    _end: _End | None = None
    _values: "queue.SimpleQueue[Any]" = field(default_factory=queue.SimpleQueue)

    def cancel(self) -> None:
        """Ask the work to stop; its end is still delivered."""
        self.cancel_token.cancel()

    def abandon(self) -> None:
        """Ask the work to stop; nothing of it is delivered any more."""
        self.on_values, self.on_done, self.on_error = _ignore, _nothing, _ignore
        self.cancel()

    def run(self) -> None:
        """Do the work; the body of the worker thread."""
        error: BaseException | None = None
        try:
            for value in self.steps(self.cancel_token):
                self._values.put(value)
        except BaseException as failure:  # noqa: BLE001 - every end is delivered, none is lost
            error = failure
            if not isinstance(failure, SlipstreamError | Cancelled):
                _log.exception("a bug in background work")
        self._values.put(_End(error))

    def deliver(self) -> None:
        """Hand over what has come in since the last time; the end comes in a turn of its own."""
        values = []
        while not self._values.empty():
            value = self._values.get()
            if isinstance(value, _End):
                self._end = value
            else:
                values.append(value)
        if values:
            self.on_values(values)
        elif self._end is not None:
            self._finish(self._end)

    def _finish(self, end: _End) -> None:
        self.done = True
        if end.error is None or isinstance(end.error, Cancelled):
            self.on_done()
        else:
            self.on_error(end.error)


def _ignore(_: object) -> None:
    """For values and failures that are of no interest."""


def _nothing() -> None:
    """For an end that is of no interest."""


def _raise(error: BaseException) -> None:
    """Default for work that fails only by a bug: the window tells it like any other."""
    raise error


class Work(QObject):
    """Starts jobs and delivers what they produce on the thread this object lives in."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        sys.setswitchinterval(_SWITCH_SECONDS)
        self._jobs: list[Job] = []
        self._threads: list[threading.Thread] = []
        self._timer = QTimer(self)
        self._timer.setInterval(_PERIOD_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._drain)

    def start(
        self,
        steps: Steps,
        *,
        on_error: Callable[[BaseException], None] = _raise,
        on_values: Callable[[list[Any]], None] = _ignore,
        on_done: Callable[[], None] = _nothing,
    ) -> Job:
        """Run ``steps`` in a worker thread.

        Args:
            steps: given a cancel token, returns the iterable to run to its end.
            on_error: called with what was raised; this ends the job.
            on_values: called with the values since the last call, in order.
            on_done: called when the work ended or was cancelled.

        Returns: the job, to cancel it.
        """
        job = Job(steps, on_values, on_done, on_error)
        thread = threading.Thread(target=job.run, name="work", daemon=True)
        self._jobs.append(job)
        self._threads = [t for t in self._threads if t.is_alive()] + [thread]
        thread.start()
        self._timer.start()
        return job

    @property
    def idle(self) -> bool:
        """Whether no job runs."""
        return not self._jobs

    @property
    def ticking(self) -> bool:
        """Whether values are waited for."""
        return self._timer.isActive()

    def stop(self, seconds: float) -> None:
        """Cancel every job and wait up to ``seconds`` for their threads; nothing is delivered."""
        self._timer.stop()
        jobs, self._jobs = self._jobs, []
        for job in jobs:
            job.cancel()
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _drain(self) -> None:
        for job in list(self._jobs):
            try:
                job.deliver()
            finally:
                if job.done and job in self._jobs:
                    self._jobs.remove(job)
        if not self._jobs:
            self._timer.stop()
