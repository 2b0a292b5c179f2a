"""Looks at one model in the background: first what it is, then its pictures for every context."""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from slipstream.cancel import CancelToken
from slipstream.hub.address import Address
from slipstream.ui.picker.notches import LONGEST, notches
from slipstream.ui.work import Job, Work

if TYPE_CHECKING:
    from slipstream.engine.advice import Desk, Subject
    from slipstream.engine.picker import Picker
    from slipstream.engine.picture import Knobs, Line, Picture
    from slipstream.hub.downloads.orders import Order
    from slipstream.hub.library.models import Library, LocalModel

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
        released: Callable[[], Mapping[str, int]] = dict,
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
        self._look = self._work.start(
            lambda cancel: self._steps(model, knobs, cancel),
            on_values=self._of(model, self._on_values),
            on_done=self._of(model, self._on_looked),
            on_error=self._of(model, self._on_error),
        )

    def again(self) -> None:
        """Look at the same model once more: something changed."""
        if self.model != Model():
            self.look(replace(self.model), self._knobs)

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
            self._draw(lambda picker, cancel: self._drawn(picker, knobs, cancel))
        self._rest.start()

    def order(self, line: "Line") -> "Order | None":
        """What to download for a quantization, as the knobs stand."""
        if self._picker is None or self.picture is None:
            return None
        return self._picker.order(line, self.picture.knobs)

    # In the workers

    def _steps(self, model: Model, knobs: "Knobs | None", cancel: CancelToken) -> Iterator[Any]:
        from slipstream.engine.picker import Picker

        picker = Picker(*self._looked_up(model, cancel))
        knobs = knobs or self._first_knobs(model)
        yield picker
        yield picker.sketch(knobs, cancel)
        with self._drawing:
            yield picker.picture(self._knobs or knobs, cancel)
        yield from self._around(picker, knobs, cancel)
        with self._drawing:
            picker.learn(self._knobs or knobs, cancel)
        yield from self._around(picker, self._knobs or knobs, cancel)
        with self._drawing:
            further = picker.further(cancel, self._wait)
        yield further
        with self._drawing:
            yield further.weigh(further.picture(self._knobs or knobs, cancel), cancel)
        yield from self._around(further, self._knobs or knobs, cancel)

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

    def _wait(self, seconds: float) -> None:
        self.waiting = seconds

    def _drawn(self, picker: "Picker", knobs: "Knobs", cancel: CancelToken) -> "Iterator[Picture]":
        with self._drawing:
            yield picker.sketch(knobs, cancel)
        yield from self._around(picker, knobs, cancel)

    def _around(self, picker: "Picker", knobs: "Knobs", cancel: CancelToken) -> "Iterator[Picture]":
        """Sketches for every stop of the slider, the nearest first: a drag only looks them up."""
        with self._drawing:
            first = picker.sketch(knobs, cancel)
        stops = notches(first.trained_context or LONGEST)
        for stop in sorted(
            stops, key=lambda stop: max(stop, knobs.context) / min(stop, knobs.context)
        ):
            with self._drawing:
                yield picker.sketch(replace(knobs, context=stop), cancel)

    # What comes of it

    def _draw(self, steps: "Callable[[Picker, CancelToken], Iterator[Picture]]") -> None:
        """Draw in a worker for the knobs as they stand; what was drawn for others is given up."""
        picker = self._picker
        assert picker is not None
        if self._turn is not None:
            self._turn.cancel()
        self._turn = self._work.start(
            lambda cancel: steps(picker, cancel),
            on_values=self._of(self.model, self._on_values),
            on_error=self._of(self.model, self._on_error),
        )

    def _of(self, model: Model, call: Callable[..., None]) -> Callable[..., None]:
        """The same call, as long as this model is looked at."""

        def checked(*values: Any) -> None:
            if model is self.model:
                call(*values)

        return checked

    def _end(self) -> None:
        for job in (self._look, self._turn):
            if job is not None:
                job.cancel()

    def _clear(self, model: Model, stage: Stage) -> None:
        self._rest.stop()
        self._look = self._turn = None
        self._pictures.clear()
        self._knobs = self._picker = None
        self.model = model
        self.stage = stage
        self.picture: Picture | None = None
        self.error: BaseException | None = None
        self.waiting = 0.0
        self.looking_further = stage is Stage.LOOKING
        self.changed.emit()

    def _on_values(self, values: list[Any]) -> None:
        from slipstream.engine.picture import Picture

        for value in values:
            if isinstance(value, Picture):
                self._keep(value)
            else:
                self._picker = value
                self._pictures.clear()

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
        if self._picker is None or knobs is None or (self.picture and self.picture.exact):
            return

        def steps(picker: "Picker", cancel: CancelToken) -> "Iterator[Picture]":
            with self._drawing:
                yield picker.picture(knobs, cancel)
            yield from self._around(picker, knobs, cancel)

        self._draw(steps)

    def _on_looked(self) -> None:
        self.looking_further = False
        self.changed.emit()

    def _on_error(self, error: BaseException) -> None:
        self._end()
        self.error = error
        self.stage = Stage.FAILED
        self.looking_further = False
        self.changed.emit()
