"""Looks at one model in the background: first what it is, then its pictures for every context."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from slipstream.cancel import CancelToken
from slipstream.hub.address import Address
from slipstream.ui.picker.drawing import REST_SECONDS, Drawing, Drawn
from slipstream.ui.work import Job, Work

if TYPE_CHECKING:
    from slipstream.engine.advice import Desk, Subject
    from slipstream.engine.picker import Picker
    from slipstream.engine.picture import Knobs, Line, Picture
    from slipstream.hub.downloads.orders import Order
    from slipstream.hub.library.models import Library, LocalModel

_FIRST_PAINT = 0.15
"""Seconds that a worker lets the window draw, which shares the interpreter with it."""
_MOST_PICTURES = 128
"""That are kept of one model; one position of the other knobs has up to 20, one for each stop."""


class Stage(StrEnum):
    """What the user sees of a model."""

    EMPTY = "empty"
    LOOKING = "looking"
    SHOWN = "shown"
    FAILED = "failed"


@dataclass(frozen=True)
class Model:
    """What is looked at.

    Attributes:
        what: a repository of the Hub, a model on this computer, or MODEL of the command line;
            empty for nothing.
        library: the models on this computer, beside which one of them is looked at.
        title: its name, until more is known.
    """

    what: "Address | LocalModel | str" = ""
    library: "Library | None" = None
    title: str = ""

    @property
    def repo(self) -> str:
        """Its repository; empty for what is on this computer."""
        return self.what.repo if isinstance(self.what, Address) else ""


@dataclass
class _Wait:
    """What the Hub asked one look to wait: seconds."""

    seconds: float = 0.0


class ModelLook(QObject):
    """One model at a time, and its picture for the knobs as they stand.

    Attributes:
        changed: the stage, the picture or the error is another one.
        failed: what was raised, where what is shown already stays as it is.
        stage: see Stage.
        model: what is looked at.
        usual: the knobs that it was shown with at first.
        picture: what is shown of it.
        error: why it cannot be shown.
        looking_further: more drafters are looked for.
    """

    changed = Signal()
    failed = Signal(object)

    def __init__(
        self,
        work: Work,
        first_knobs: "Callable[[Model], Knobs]",
        released: Callable[[], Mapping[str, int]],
        parent: QObject | None = None,
    ) -> None:
        """Prepare.

        Args:
            work: the background work.
            first_knobs: how a model is shown at first; called in a worker.
            released: bytes that the app's own engine will give back, by device; called in a worker.
            parent: as Qt has it.
        """
        super().__init__(parent)
        self._work = work
        self._first_knobs = first_knobs
        self._released = released
        self._drawing = Drawing()
        self.model, self.stage = Model(), Stage.EMPTY
        self._look: Job | None = None
        self._turn: Job | None = None
        self._wait = _Wait()
        self._knobs: Knobs | None = None
        self.usual: Knobs | None = None
        self._picker: Picker | None = None
        self._pictures: dict[Knobs, Picture] = {}
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(round(REST_SECONDS * 1000))
        self._rest.timeout.connect(self._confirm)
        self._clear(Model(), Stage.EMPTY)

    @property
    def subject(self) -> "Subject | None":
        """What the model turned out to be."""
        return self._picker.subject if self._picker is not None else None

    @property
    def waiting(self) -> float:
        """Seconds that the Hub asked us to wait; 0 if it did not."""
        return self._wait.seconds

    def look(self, model: Model) -> None:
        """Look at a model, with the knobs as its own settings say."""
        self._end()
        self._clear(model, Stage.LOOKING)
        self._begin(None)

    def _begin(self, knobs: "Knobs | None") -> None:
        model, wait = self.model, _Wait()
        self._wait = wait
        self._look = self._work.start(
            lambda cancel: self._steps(model, knobs, wait, cancel),
            on_values=self._on_drawn,
            on_done=self._on_looked,
            on_error=self._on_look_failed,
        )

    def again(self, model: Model | None = None) -> None:
        """Look at the same model once more, because something changed; what is shown stays until
        there is something newer.

        Args:
            model: the same as it is on this computer now; None for a look at what it was.
        """
        now = self.model if model is None else model
        if self.stage is Stage.SHOWN:
            self._end()
            self.model = now
            self.looking_further = True
            self._begin(self._knobs)
        elif self.stage is not Stage.EMPTY:
            self.look(now)

    def stop(self) -> None:
        """Look no more at what is not shown yet."""
        self._end()
        self._clear(Model(), Stage.EMPTY)

    def turn(self, knobs: "Knobs") -> None:
        """Show the model as it is with other knobs."""
        if self._picker is None or knobs == self._knobs:
            return
        before, self._knobs = self._knobs, knobs
        known = self._pictures.get(knobs)
        if known is not None:
            self._show(known)
        slid = before is not None and replace(before, context=knobs.context) == knobs
        if known is None or not slid:
            self._draw(lambda picker, cancel: self._drawing.turned(picker, knobs, cancel))
        self._rest.start()

    def order(self, line: "Line") -> "Order | None":
        """What to download for a quantization, as the knobs stand."""
        if self._picker is None or self.picture is None:
            return None
        return self._picker.order(line, self.picture.knobs)

    # In the workers

    def _steps(
        self, model: Model, knobs: "Knobs | None", wait: _Wait, cancel: CancelToken
    ) -> Iterator[Drawn]:
        from slipstream.engine.advice import look_further
        from slipstream.engine.picker import Picker

        def waiting(seconds: float) -> None:
            wait.seconds = seconds

        picker = Picker(*self._looked_up(model, waiting, cancel))
        first = knobs or self._first_knobs(model)
        drawing = self._drawing

        def now() -> "Knobs":
            return self._knobs or first

        yield drawing.sketch(picker, first, cancel)
        cancel.wait(_FIRST_PAINT)
        yield from drawing.exact(picker, now, cancel)
        yield from drawing.around(picker, now(), cancel)
        drawing.ask(lambda token: picker.learn(now(), token), cancel)
        yield from drawing.around(picker, now(), cancel)
        found = look_further(picker.subject, picker.desk, cancel, waiting)
        wider = drawing.widened(picker, found)
        yield from drawing.exact(wider, now, cancel)
        yield from drawing.around(wider, now(), cancel)

    def _looked_up(
        self, model: Model, waiting: Callable[[float], None], cancel: CancelToken
    ) -> "tuple[Subject, Desk]":
        from slipstream.engine.advice import Question, desk_for, look_at, look_up
        from slipstream.hub.library.models import LocalModel
        from slipstream.planning.offer import Look

        question = Question()
        desk = desk_for(question, self._released())
        if isinstance(model.what, LocalModel) and model.library is not None:
            return look_at(model.what, model.library, cancel), desk
        assert not isinstance(model.what, LocalModel)
        subject = look_up(model.what, question, desk, cancel, waiting, Look.HEADER)
        return subject, desk

    # What comes of it

    def _draw(self, steps: "Callable[[Picker, CancelToken], Iterator[Drawn]]") -> None:
        """Draw in a worker for the knobs as they stand; what was drawn for others is given up."""
        picker = self._picker
        assert picker is not None
        if self._turn is not None:
            self._turn.abandon()
        self._turn = self._work.start(
            lambda cancel: steps(picker, cancel), on_values=self._on_drawn, on_error=self._stay
        )

    def _end(self) -> None:
        for job in (self._look, self._turn):
            if job is not None:
                job.abandon()

    def _clear(self, model: Model, stage: Stage) -> None:
        self._rest.stop()
        self._look = self._turn = None
        self._pictures.clear()
        self._picker = self._knobs = self.usual = None
        self._wait = _Wait()
        self.model = model
        self.stage = stage
        self.picture: Picture | None = None
        self.error: BaseException | None = None
        self.looking_further = stage is Stage.LOOKING
        self.changed.emit()

    def _on_drawn(self, values: "list[Drawn]") -> None:
        for drawn in values:
            if drawn.picker is not self._picker:
                self._adopt(drawn.picker)
            self._keep(drawn.picture)

    def _adopt(self, picker: "Picker") -> None:
        """More was found out: what was drawn before does not count, and what still is being drawn
        does not come any more."""
        if self._turn is not None:
            self._turn.abandon()
        self._turn = None
        self._picker = picker
        self._pictures.clear()
        if self._knobs is not None:
            self._rest.start()

    def _keep(self, picture: "Picture") -> None:
        known = self._pictures.get(picture.knobs)
        if known is not None and known.exact and not picture.exact:
            return
        self._pictures[picture.knobs] = picture
        if len(self._pictures) > _MOST_PICTURES:
            del self._pictures[next(iter(self._pictures))]
        if self._knobs is None:
            self._knobs = self.usual = picture.knobs
        if picture.knobs == self._knobs and picture != self.picture:
            self._show(picture)

    def _show(self, picture: "Picture") -> None:
        self.picture = picture
        self.stage = Stage.SHOWN
        self.changed.emit()

    def _confirm(self) -> None:
        """Nothing was turned for a while: let the engine lay out what is shown."""
        knobs = self._knobs
        picture = self.picture
        if knobs is None or picture is None:
            return
        if picture.knobs != knobs or not picture.exact:
            self._draw(lambda picker, cancel: self._drawing.confirmed(picker, knobs, cancel))

    def _on_looked(self) -> None:
        self.looking_further = False
        self.changed.emit()

    def _on_look_failed(self, error: BaseException) -> None:
        self._end()
        self.looking_further = False
        if self.stage is Stage.SHOWN:
            self._stay(error)
            return
        self.error = error
        self.stage = Stage.FAILED
        self.changed.emit()

    def _stay(self, error: BaseException) -> None:
        """What is shown stays, and the knobs are as they were for it."""
        if self.picture is not None:
            self._knobs = self.picture.knobs
        self._rest.stop()
        self.changed.emit()
        self.failed.emit(error)
