"""One engine, one thing at a time: loading and replying take turns, and what waits is visible."""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from slipstream.cancel import Cancelled, CancelToken
from slipstream.drafters.kinds import Unfit
from slipstream.engine.events import EngineState, FellBack, LoadEvent, StateChanged
from slipstream.engine.requests import Loaded
from slipstream.errors import SlipstreamError
from slipstream.ui.i18n import tr
from slipstream.ui.models import Selection
from slipstream.ui.work import Job, Work

if TYPE_CHECKING:
    # The session brings the HTTP client along: it is imported after the window shows.
    from slipstream.engine.session import Session

ReplySteps = Callable[["Session", CancelToken], Iterable[Any]]

_log = logging.getLogger(__name__)
_LOOK_EVERY_MS = 1000  # whether an idle engine still lives


class Phase(StrEnum):
    """What the user can expect from the engine now."""

    EMPTY = "empty"
    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, eq=False)
class Turn:
    """A reply that runs or waits for its turn; like the arguments of ``Work.start``."""

    steps: ReplySteps
    on_values: Callable[[list[Any]], None]
    on_done: Callable[[], None]
    on_error: Callable[[BaseException], None]


class EngineControl(QObject):
    """Drives the session from the window.

    Attributes:
        changed: the phase, the progress or what is loaded changed.
        load_began: a model is being loaded; what was told of another one is over.
        loaded_model: a model was loaded and runs.
        fell_back: a FellBack: it loads, but not as asked.
        left_out: an Unfit: a drafter that was meant for the model and cannot draft for it.
        load_failed: the Selection that could not be loaded, and what was raised.
        went_back: the same, when what was loaded last is loaded again instead.
        died: why the engine ended while nothing ran.
        phase: see Phase.
        progress: share of the file that is loaded; None where nobody knows.
        wanted: what was asked for last, as long as it may still come; otherwise what runs.
        last_loaded: what was loaded last; it runs while the phase is READY.
        loaded: what runs; None while nothing does.
    """

    changed = Signal()
    load_began = Signal()
    loaded_model = Signal()
    fell_back = Signal(object)
    left_out = Signal(object)
    load_failed = Signal(object, object)
    went_back = Signal(object, object)
    died = Signal(object)

    def __init__(
        self, work: Work, make_session: Callable[[], "Session"], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._work = work
        self._make_session = make_session
        self._session: Session | None = None
        self._job: Job | None = None
        self._next_load: Selection | None = None
        self._checked: Selection | None = None  # loaded next, if its file turns out to be usable
        self._active: Turn | None = None
        self._waiting: list[Turn] = []
        self._arrived = False  # what the present job loads
        self._was_alive = False  # an engine, when that job began
        self._loading: Path | None = None  # what the present job loads
        self._in_use = ""  # the reference of the model that is in use
        self._watch = QTimer(self)
        self._watch.setInterval(_LOOK_EVERY_MS)
        self._watch.timeout.connect(self._look)
        self.phase = Phase.EMPTY
        self.progress: float | None = None
        self.wanted = Selection()
        self.last_loaded = Selection()
        self.loaded: Loaded | None = None

    def load(self, selection: Selection) -> None:
        """Load a model; a reply that runs goes on until the file turned out to be usable."""
        if self._active is None:
            self._load_now(selection)
            return
        self._checked = self.wanted = selection
        self._work.start(
            lambda _cancel: _check(selection),
            on_done=lambda: self._on_checked(selection),
            on_error=lambda error: self._on_check_failed(selection, error),
        )

    def _on_checked(self, selection: Selection) -> None:
        if self._checked is selection:
            self._load_now(selection)

    def _on_check_failed(self, selection: Selection, error: BaseException) -> None:
        if self._checked is selection:
            self._checked = None
            self.wanted = self.last_loaded
            self.changed.emit()
            self.load_failed.emit(selection, error)

    def _load_now(self, selection: Selection) -> None:
        self._checked = None
        self.wanted = selection
        self._next_load = selection
        self.load_began.emit()
        self._enter(Phase.LOADING)
        if self._job is not None:
            self._job.cancel()
        self._go_on()

    def cancel_load(self) -> None:
        """Stop loading; what runs stays, if it was not stopped yet."""
        self._next_load = self._checked = None
        if self._active is not None:
            self._settle(Phase.FAILED)
        elif self._job is not None:
            self._job.cancel()

    def unload(self) -> Callable[[], None]:
        """End the engine; what is loaded or waits is given up.

        Returns: what loads it again, unless something else is wanted by then.
        """
        before, self.last_loaded = self.wanted, Selection()
        self._load_now(Selection())

        def load_again() -> None:
            if not self.wanted.ref:
                self.load(before)

        return load_again

    @property
    def model_in_use(self) -> Path | None:
        """The file of the model that runs, or is being loaded; may be asked in any thread."""
        loaded = self.loaded
        return self._loading or (loaded.request.model if loaded is not None else None)

    @property
    def leaving(self) -> bool:
        """Whether the model in use makes room for another one, or for none."""
        return self._checked is None and self.wanted.ref != self._in_use

    def reply(self, turn: Turn) -> None:
        """Run a reply, as soon as the model is loaded and the replies before it have ended."""
        self._waiting.append(turn)
        self._go_on()

    def stop_reply(self, turn: Turn) -> None:
        """Stop a reply that runs or waits."""
        if turn in self._waiting:
            self._waiting.remove(turn)
            turn.on_done()
        elif turn is self._active and self._job is not None:
            self._job.cancel()

    def shut_down(self) -> None:
        """End the engine; for the end of the program."""
        self._watch.stop()
        if self._session is not None:
            self._session.stop()
        self.loaded = self._loading = None

    def holds(self) -> dict[str, int]:
        """Bytes that unloading would give back, by device id (``Session.holds``)."""
        return self._session.holds() if self._session is not None else {}

    def command(self) -> str | None:
        """The command line of what runs, for a shell; None while nothing does."""
        return self._session.command() if self._session is not None else None

    @property
    def changing(self) -> bool:
        """Whether another model, or another way to run it, was asked for and does not run yet."""
        return self._checked is not None or self.phase is Phase.LOADING

    @property
    def _alive(self) -> bool:
        alive = (EngineState.READY, EngineState.BUSY)
        return self._session is not None and self._session.state in alive

    def _enter(self, phase: Phase, progress: float | None = None) -> None:
        self.phase = phase
        self.progress = progress
        self.loaded = self._session.loaded if self._session is not None and self._alive else None
        if phase is Phase.READY:
            self.wanted = self._checked or self.last_loaded
            self._in_use = self.last_loaded.ref
            self._watch.start()
        else:
            self._watch.stop()
        self.changed.emit()

    def _settle(self, otherwise: Phase) -> None:
        """Nothing is to be loaded any more: show whether an engine runs."""
        if self._next_load is None:
            self._enter(Phase.READY if self._alive else otherwise)

    def _go_on(self) -> None:
        """Start what comes next, if nothing runs."""
        if self._job is not None:
            return
        if self._next_load is not None:
            selection, self._next_load = self._next_load, None
            self._start_load(selection)
        elif self._waiting:
            self._serve()

    def _serve(self) -> None:
        """Start the reply that is next; an engine that ended meanwhile is started again."""
        if self.phase is Phase.READY and self._alive:
            self._start_reply(self._waiting.pop(0))
        elif self.wanted.ref:
            self.load(self.wanted)
        else:
            self._drop_waiting(_no_model())

    # Loading

    def _start_load(self, selection: Selection) -> None:
        self._arrived = False
        self._was_alive = self._alive
        self._in_use = selection.ref or self._in_use
        self._job = self._work.start(
            lambda cancel: self._load_steps(selection, cancel),
            on_values=lambda events: self._on_load_events(selection, events),
            on_done=lambda: self._on_load_ended(selection, None),
            on_error=lambda error: self._on_load_ended(selection, error),
        )

    def _load_steps(self, selection: Selection, cancel: CancelToken) -> Iterator[LoadEvent | None]:
        if not selection.ref:
            if self._session is not None:
                self._session.stop()
            return
        request = selection.request()
        if self._session is None:
            self._session = self._make_session()
        self._loading = request.model
        try:
            yield from self._session.load(request, cancel)
        finally:
            self._loading = None
        yield None

    def _on_load_events(self, selection: Selection, events: list[LoadEvent | None]) -> None:
        for event in events:
            if event is None:
                self._arrived = True
                self.last_loaded = selection
            elif self._next_load is not None:
                continue  # another model was asked for
            elif isinstance(event, FellBack):
                self.fell_back.emit(event)
            elif isinstance(event, Unfit):
                self.left_out.emit(event)
            elif isinstance(event, StateChanged) and event.state is EngineState.LOADING:
                self.progress = event.progress
        self.changed.emit()

    def _on_load_ended(self, selection: Selection, error: BaseException | None) -> None:
        self._job = None
        if error is not None and self._can_go_back(selection):
            self._load_now(self.last_loaded)
            self.went_back.emit(selection, error)
            return
        self._settle(Phase.EMPTY if error is None else Phase.FAILED)
        if self._next_load is None:
            if error is not None:
                self.load_failed.emit(selection, error)
            elif self._arrived:
                self.loaded_model.emit()
                _log.info("loaded %s", selection.ref)
            if not (self._arrived and self.phase is Phase.READY):
                self._drop_waiting(Cancelled())
        self._go_on()

    def _can_go_back(self, failed: Selection) -> bool:
        """Whether the engine ended for a model that failed, and another one ran before."""
        ended = self._was_alive and not self._alive
        return ended and self.last_loaded != failed and self._next_load is None

    # Replying

    def _start_reply(self, turn: Turn) -> None:
        session = self._session
        assert session is not None  # phase READY says so
        self._active = turn
        self._job = self._work.start(
            lambda cancel: turn.steps(session, cancel),
            on_values=turn.on_values,
            on_done=lambda: self._on_reply_ended(turn.on_done),
            on_error=lambda error: self._on_reply_ended(lambda: turn.on_error(error)),
        )

    def _on_reply_ended(self, tell: Callable[[], None]) -> None:
        self._job = self._active = None
        self._settle(Phase.FAILED)
        tell()
        self._go_on()

    def _drop_waiting(self, why: BaseException) -> None:
        dropped, self._waiting = self._waiting, []
        for turn in dropped:
            turn.on_error(why)

    # Idle

    def _look(self) -> None:
        """An engine that ended by itself while nothing ran is told as what it is."""
        session = self._session
        if session is None or self._job is not None or self._alive:
            return
        self._enter(Phase.FAILED)
        self._work.start(lambda _cancel: _why_it_ended(session), on_error=self.died.emit)


def _check(selection: Selection) -> Iterator[None]:
    """Raises: SlipstreamError, if it cannot be loaded whatever the engine."""
    from slipstream.engine.preflight import check_files
    from slipstream.weights.shards import read_model

    file = selection.request().model
    check_files(file, read_model(file))
    yield


def _why_it_ended(session: "Session") -> Iterator[None]:
    """In a worker, because naming a failure waits for the last lines of the log; raises it."""
    failure = session.failure()
    if failure is not None:
        raise failure
    yield


def _no_model() -> SlipstreamError:
    return SlipstreamError(
        "no_model", tr("No model is loaded."), action=tr("Choose a model at the top.")
    )
