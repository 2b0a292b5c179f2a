"""One engine, one thing at a time: loading and replying take turns, and what waits is visible."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from slipstream.cancel import Cancelled, CancelToken
from slipstream.engine.events import EngineState, FellBack, LoadEvent, StateChanged
from slipstream.engine.requests import Loaded, LoadRequest
from slipstream.errors import SlipstreamError
from slipstream.ui.i18n import tr
from slipstream.ui.work import Job, Work

if TYPE_CHECKING:
    # The session brings the HTTP client along: it is imported after the window shows.
    from slipstream.engine.session import Session

ReplySteps = Callable[["Session", CancelToken], Iterable[Any]]


class Phase(StrEnum):
    """What the user can expect from the engine now."""

    EMPTY = "empty"
    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True)
class _Reply:
    """A reply that runs or waits for its turn."""

    steps: ReplySteps
    on_values: Callable[[list[Any]], None]
    on_done: Callable[[], None]
    on_error: Callable[[BaseException], None]


class EngineControl(QObject):
    """Drives the session from the window.

    Attributes:
        changed: the phase, the progress or what is loaded changed.
        loaded_model: a model was loaded and runs.
        fell_back: a FellBack: it loads, but not as asked.
        load_failed: what was raised while loading.
        phase: see Phase.
        progress: share of the file that is loaded; None where nobody knows.
        request: what was asked for last.
        loaded: what runs; None while nothing does.
    """

    changed = Signal()
    loaded_model = Signal()
    fell_back = Signal(object)
    load_failed = Signal(object)

    def __init__(
        self, work: Work, make_session: Callable[[], "Session"], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._work = work
        self._make_session = make_session
        self._session: Session | None = None
        self._job: Job | None = None
        self._next_load: LoadRequest | None = None
        self._waiting: _Reply | None = None
        self.phase = Phase.EMPTY
        self.progress: float | None = None
        self.request: LoadRequest | None = None
        self.loaded: Loaded | None = None

    def load(self, request: LoadRequest) -> None:
        """Load a model; what runs is stopped first."""
        self.request = request
        self._next_load = request
        self._enter(Phase.LOADING)
        if self._job is not None:
            self._job.cancel()
        self._go_on()

    def reply(
        self,
        steps: ReplySteps,
        *,
        on_values: Callable[[list[Any]], None],
        on_done: Callable[[], None],
        on_error: Callable[[BaseException], None],
    ) -> None:
        """Run one reply, now or as soon as the model is loaded; like ``Work.start`` otherwise."""
        self._waiting = _Reply(steps, on_values, on_done, on_error)
        self._go_on()

    def stop_reply(self) -> None:
        """Stop the reply that runs, or the one that waits."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.on_done()
        elif self._job is not None and self.phase is Phase.READY:
            self._job.cancel()

    def cancel_load(self) -> None:
        """Stop loading."""
        self._next_load = None
        if self._job is not None and self.phase is Phase.LOADING:
            self._job.cancel()

    def forget_failure(self) -> None:
        """The model that ran before the failed load still runs: it is what is wanted again."""
        if self.loaded is not None:
            self.request = self.loaded.request
            self.changed.emit()

    def shut_down(self) -> None:
        """End the engine; for the end of the program."""
        if self._session is not None:
            self._session.stop()

    def _enter(self, phase: Phase, progress: float | None = None) -> None:
        self.phase = phase
        self.progress = progress
        self.loaded = self._session.loaded if self._session is not None else None
        self.changed.emit()

    def _go_on(self) -> None:
        """Start what comes next, if nothing runs."""
        if self._job is not None:
            return
        if self._next_load is not None:
            request, self._next_load = self._next_load, None
            self._start_load(request)
        elif self._waiting is not None:
            self._serve()

    def _serve(self) -> None:
        """Start the reply that waits; an engine that ended meanwhile is started again."""
        if self.phase is Phase.READY and self._running and self._waiting is not None:
            reply, self._waiting = self._waiting, None
            self._start_reply(reply)
        elif self.request is not None:
            self.load(self.request)
        else:
            self._drop_waiting(_no_model())

    def _start_load(self, request: LoadRequest) -> None:
        self._job = self._work.start(
            lambda cancel: self._load_steps(request, cancel),
            on_values=self._on_load_events,
            on_done=self._on_loaded,
            on_error=self._on_load_failed,
        )

    def _load_steps(self, request: LoadRequest, cancel: CancelToken) -> Iterator[LoadEvent]:
        if self._session is None:
            self._session = self._make_session()
        yield from self._session.load(request, cancel)

    def _on_load_events(self, events: list[LoadEvent]) -> None:
        for event in events:
            if isinstance(event, FellBack):
                self.fell_back.emit(event)
            elif isinstance(event, StateChanged) and event.state is EngineState.LOADING:
                self.progress = event.progress
        self.changed.emit()

    @property
    def _running(self) -> bool:
        alive = (EngineState.READY, EngineState.BUSY)
        return self._session is not None and self._session.state in alive

    def _on_loaded(self) -> None:
        self._job = None
        if self._next_load is None:
            self._enter(Phase.READY if self._running else Phase.EMPTY)
            if self._running:
                self.loaded_model.emit()
            else:
                self._drop_waiting(Cancelled())
        self._go_on()

    def _on_load_failed(self, error: BaseException) -> None:
        self._job = None
        if self._next_load is None:
            self._enter(Phase.READY if self._running else Phase.FAILED)
            self.load_failed.emit(error)
            self._drop_waiting(Cancelled())
        self._go_on()

    def _drop_waiting(self, why: BaseException) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.on_error(why)

    def _start_reply(self, reply: _Reply) -> None:
        session = self._session
        assert session is not None  # phase READY says so

        def done() -> None:
            self._after_reply()
            reply.on_done()
            self._go_on()

        def failed(error: BaseException) -> None:
            self._after_reply()
            reply.on_error(error)
            self._go_on()

        self._job = self._work.start(
            lambda cancel: reply.steps(session, cancel),
            on_values=reply.on_values,
            on_done=done,
            on_error=failed,
        )

    def _after_reply(self) -> None:
        self._job = None
        if self.phase is not Phase.LOADING:
            self._enter(Phase.READY if self._running else Phase.FAILED)


def _no_model() -> SlipstreamError:
    return SlipstreamError(
        "no_model", tr("No model is loaded."), action=tr("Choose a model at the top.")
    )
