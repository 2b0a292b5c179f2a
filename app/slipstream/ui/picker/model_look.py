"""Looks at one model in the background: first what it is, then its pictures for every context."""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from slipstream.cancel import Cancelled, CancelToken
from slipstream.hub.address import Address
from slipstream.ui.picker.notches import LONGEST, notches
from slipstream.ui.work import Job, Work

if TYPE_CHECKING:
    from slipstream.engine.advice import Desk, Subject
    from slipstream.engine.picker import Picker
    from slipstream.engine.picture import Knobs, Line, Picture
    from slipstream.hub.downloads.orders import Order
    from slipstream.hub.library.models import Library, LocalModel

_T = TypeVar("_T")
_FIRST_PAINT, _BREATH = 0.15, 0.01
"""Seconds that a worker lets the window draw, which shares the interpreter with it."""
_REST_MS = 350
"""The engine confirms what is shown when nothing was turned for so long."""


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


@dataclass(frozen=True)
class _Drawn:
    """A picture, and what drew it."""

    picker: "Picker"
    picture: "Picture"


class ModelLook(QObject):
    """One model at a time, and its picture for the knobs as they stand.

    Attributes:
        changed: the stage, the picture or the error is another one.
        stage: see Stage.
        model: what is looked at.
        picture: what is shown of it.
        error: why it cannot be shown.
        waiting: seconds that the Hub asked us to wait; 0 if it did not.
        looking_further: more drafters are looked for.
    """

    changed = Signal()

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
        self._drawing = threading.Lock()  # a picker serves one thread at a time
        self._look: Job | None = None
        self._turn: Job | None = None
        self._asking = CancelToken()
        self._knobs: Knobs | None = None
        self._picker: Picker | None = None
        self._pictures: dict[Knobs, Picture] = {}
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._confirm)
        self._clear(Model(), Stage.EMPTY)

    @property
    def subject(self) -> "Subject | None":
        """What the model turned out to be."""
        return self._picker.subject if self._picker is not None else None

    def look(self, model: Model, knobs: "Knobs | None" = None) -> None:
        """Look at a model.

        Args:
            model: what to look at.
            knobs: how it is shown at first; None for as its own settings say.
        """
        self._end()
        self._clear(model, Stage.LOOKING)
        self._begin(model, knobs)

    def _begin(self, model: Model, knobs: "Knobs | None") -> None:
        self._look = self._work.start(
            lambda cancel: self._steps(model, knobs, cancel),
            on_values=self._on_drawn,
            on_done=self._on_looked,
            on_error=self._on_error,
        )

    def again(self) -> None:
        """Look at the same model once more, because something changed; what is shown stays until
        there is something newer."""
        if self.stage is Stage.SHOWN:
            self._end()
            self.looking_further = True
            self._begin(self.model, self._knobs)
        elif self.model != Model():
            self.look(self.model)

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
            self._asking.cancel()
            self._draw(lambda picker, cancel: self._drawn(picker, knobs, cancel))
        self._rest.start()

    def order(self, line: "Line") -> "Order | None":
        """What to download for a quantization, as the knobs stand."""
        if self._picker is None or self.picture is None:
            return None
        return self._picker.order(line, self.picture.knobs)

    # In the workers

    def _steps(
        self, model: Model, knobs: "Knobs | None", cancel: CancelToken
    ) -> "Iterator[_Drawn]":
        from slipstream.engine.advice import look_further
        from slipstream.engine.picker import Picker

        picker = Picker(*self._looked_up(model, cancel))
        first = knobs or self._first_knobs(model)

        def now() -> "Knobs":
            return self._knobs or first

        yield self._sketched(picker, first, cancel)
        cancel.wait(_FIRST_PAINT)
        yield from self._exact(picker, now, cancel)
        yield from self._around(picker, now(), cancel)
        self._ask(lambda token: picker.learn(now(), token), cancel)
        yield from self._around(picker, now(), cancel)
        found = look_further(picker.subject, picker.desk, cancel, self._wait)
        with self._drawing:
            wider = picker.widened(found)
        yield from self._exact(wider, now, cancel)
        yield from self._around(wider, now(), cancel)

    def _sketched(self, picker: "Picker", knobs: "Knobs", cancel: CancelToken) -> "_Drawn":
        with self._drawing:
            return _Drawn(picker, picker.sketch(knobs, cancel))

    def _around(self, picker: "Picker", knobs: "Knobs", cancel: CancelToken) -> "Iterator[_Drawn]":
        """Sketches for every stop of the slider, the nearest first: a drag only looks them up."""
        first = self._sketched(picker, knobs, cancel)
        stops = notches(first.picture.trained_context or LONGEST)
        asked = knobs.context
        for stop in sorted(stops, key=lambda stop: max(stop, asked) / min(stop, asked)):
            yield self._sketched(picker, replace(knobs, context=stop), cancel)
            cancel.wait(_BREATH)

    def _exact(
        self, picker: "Picker", knobs: "Callable[[], Knobs]", cancel: CancelToken
    ) -> "Iterator[_Drawn]":
        """As the engine lays it out, then with what each drafter adds."""
        picture = self._ask(lambda token: picker.picture(knobs(), token), cancel)
        yield _Drawn(picker, picture)
        yield _Drawn(picker, self._ask(lambda token: picker.weigh(picture, token), cancel))

    def _ask(self, ask: Callable[[CancelToken], _T], cancel: CancelToken) -> _T:
        """An answer of the engine; whoever turns a knob meanwhile does not wait for it: it is given
        up, and asked for again a moment later."""
        while True:
            token = self._asking = CancelToken()
            try:
                with cancel.on_cancel(token.cancel), self._drawing:
                    return ask(token)
            except Cancelled:
                cancel.raise_if_cancelled()
                cancel.wait(_REST_MS / 1000)

    def _looked_up(self, model: Model, cancel: CancelToken) -> "tuple[Subject, Desk]":
        from slipstream.engine.advice import Question, desk_for, look_at, look_up
        from slipstream.hub.library.models import LocalModel
        from slipstream.planning.offer import Look

        question = Question()
        desk = desk_for(question, self._released())
        if isinstance(model.what, LocalModel) and model.library is not None:
            return look_at(model.what, model.library, cancel), desk
        assert not isinstance(model.what, LocalModel)
        subject = look_up(model.what, question, desk, cancel, self._wait, Look.HEADER)
        return subject, desk

    def _drawn(self, picker: "Picker", knobs: "Knobs", cancel: CancelToken) -> "Iterator[_Drawn]":
        yield self._sketched(picker, knobs, cancel)
        yield from self._around(picker, knobs, cancel)

    def _confirmed(
        self, picker: "Picker", knobs: "Knobs", cancel: CancelToken
    ) -> "Iterator[_Drawn]":
        yield from self._exact(picker, lambda: knobs, cancel)
        yield from self._around(picker, knobs, cancel)

    def _wait(self, seconds: float) -> None:
        self.waiting = seconds

    # What comes of it

    def _draw(self, steps: "Callable[[Picker, CancelToken], Iterator[_Drawn]]") -> None:
        """Draw in a worker for the knobs as they stand; what was drawn for others is given up."""
        picker = self._picker
        assert picker is not None
        if self._turn is not None:
            self._turn.abandon()
        self._turn = self._work.start(
            lambda cancel: steps(picker, cancel), on_values=self._on_drawn, on_error=self._on_error
        )

    def _end(self) -> None:
        for job in (self._look, self._turn):
            if job is not None:
                job.abandon()

    def _clear(self, model: Model, stage: Stage) -> None:
        self._rest.stop()
        self._look = self._turn = None
        self._pictures.clear()
        self._picker = self._knobs = None
        self.model = model
        self.stage = stage
        self.picture: Picture | None = None
        self.error: BaseException | None = None
        self.waiting = 0.0
        self.looking_further = stage is Stage.LOOKING
        self.changed.emit()

    def _on_drawn(self, values: "list[_Drawn]") -> None:
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
        if self._knobs is None:
            self._knobs = picture.knobs
        if picture.knobs == self._knobs and picture != self.picture:
            self._show(picture)

    def _show(self, picture: "Picture") -> None:
        self.picture = picture
        self.stage = Stage.SHOWN
        self.waiting = 0.0
        self.changed.emit()

    def _confirm(self) -> None:
        """Nothing was turned for a while: let the engine lay out what is shown."""
        knobs = self._knobs
        if knobs is not None and self.picture is not None and not self.picture.exact:
            self._draw(lambda picker, cancel: self._confirmed(picker, knobs, cancel))

    def _on_looked(self) -> None:
        self.looking_further = False
        self.changed.emit()

    def _on_error(self, error: BaseException) -> None:
        """What is shown already stays."""
        self._end()
        self.looking_further = False
        if self.stage is not Stage.SHOWN:
            self.error = error
            self.stage = Stage.FAILED
        self.changed.emit()
