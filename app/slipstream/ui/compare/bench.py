"""Runs a comparison from the window: the engine makes room for it, and what ran comes back."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from slipstream.cancel import Cancelled, CancelToken
from slipstream.compare.runner import PASSES
from slipstream.errors import SlipstreamError
from slipstream.hub.reference import resolve
from slipstream.ui.engine_control import EngineControl, Phase
from slipstream.ui.i18n import tr
from slipstream.ui.widgets.notice_bar import Level, Notice, notice_of
from slipstream.ui.work import Job, Work

if TYPE_CHECKING:
    # Brings the HTTP client along; the window shows before.
    from slipstream.compare.modes import Mode
    from slipstream.compare.report import Measured, Report

_SURE_AFTER = 3
"""Answers after which the time that is left can be told."""


class Stage(StrEnum):
    """What a comparison is at."""

    IDLE = "idle"
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True)
class Far:
    """How far a comparison is.

    Attributes:
        mode: what runs now.
        done, total: answers.
        left: seconds, about; None as long as nobody can tell.
    """

    mode: "Mode"
    done: int
    total: int
    left: float | None


@dataclass(frozen=True)
class Result:
    """What was measured.

    Attributes:
        measured: every answer.
        report: what they come to.
        whole: everything that was planned.
    """

    measured: "Measured"
    report: "Report"
    whole: bool


class Bench(QObject):
    """One comparison at a time.

    Attributes:
        changed: any of the following.
        noticed: a Notice for the user.
        stage: see Stage.
        far: how far it is; None before the first answer.
        result: of the last one that brought something.
        error: why it failed.
        passes: how often every way is launched.
    """

    changed = Signal()
    noticed = Signal(object)

    def __init__(self, work: Work, control: EngineControl, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work, self._control = work, control
        self._job: Job | None = None
        self._wanted: tuple[str, int] | None = (
            None  # what is compared as soon as the engine is free
        )
        self._load_again: Callable[[], None] | None = None
        self._brought = False  # the present run has a result
        self.passes = PASSES
        self.stage = Stage.IDLE
        self.far: Far | None = None
        self.result: Result | None = None
        self.error: BaseException | None = None
        control.changed.connect(self._on_engine_changed)

    def start(self, ref: str, tokens: int) -> None:
        """Compare the ways to run a model.

        Args:
            ref: "demo", "demo-small" or a path.
            tokens: length of every answer.
        """
        if self.stage in (Stage.WAITING, Stage.RUNNING):
            return
        self._wanted = (ref, tokens)
        self.far, self.error, self._brought = None, None, False
        self._enter(Stage.WAITING)
        if self._control.model_in_use is not None:
            self._load_again = self._control.unload()
        self._on_engine_changed()

    def cancel(self) -> None:
        """Stop; what was measured so far is summed up."""
        if self._job is not None:
            self._job.cancel()
        elif self.stage is Stage.WAITING:
            self._wanted = None
            self._end(Stage.DONE if self.result else Stage.IDLE)

    def use(self) -> None:
        """The model speculates from now on as the verdict says."""
        result = self.result
        if result is None:
            return

        def steps(_cancel: CancelToken) -> Iterator[None]:
            from slipstream.compare.keeping import use

            use(result.measured, result.report)
            yield

        told = Notice(tr("This setting is used from now on, wherever the model is loaded."))
        self._work.start(
            steps,
            on_done=lambda: self.noticed.emit(told),
            on_error=lambda error: self.noticed.emit(notice_of(error)),
        )

    # How it is done

    def _on_engine_changed(self) -> None:
        free = self._control.phase in (Phase.EMPTY, Phase.FAILED)
        if self.stage is Stage.WAITING and free and self._wanted is not None:
            (ref, tokens), self._wanted = self._wanted, None
            self._enter(Stage.RUNNING)
            self._job = self._work.start(
                lambda cancel: _steps(ref, tokens, self.passes, cancel),
                on_values=self._on_values,
                on_done=lambda: self._on_ended(None),
                on_error=self._on_ended,
            )
        elif self._job is not None and not free and not self._job.cancel_token.cancelled:
            self._job.cancel()
            text = tr("The comparison was stopped, because a model is being loaded.")
            self.noticed.emit(Notice(text, Level.WARNING))

    def _on_values(self, values: list[Far | Result]) -> None:
        for value in values:
            if isinstance(value, Far):
                self.far = value
            else:
                self.result, self._brought = value, True
        self.changed.emit()

    def _on_ended(self, error: BaseException | None) -> None:
        self._job = None
        if error is not None and self._brought:  # it could not be kept
            self.noticed.emit(notice_of(error))
        elif error is not None:
            self.error = error
            self._end(Stage.FAILED)
            return
        self._end(Stage.DONE if self.result else Stage.IDLE)

    def _end(self, stage: Stage) -> None:
        load_again, self._load_again = self._load_again, None
        self._enter(stage)
        if load_again is not None:
            load_again()

    def _enter(self, stage: Stage) -> None:
        self.stage = stage
        self.changed.emit()


def _steps(ref: str, tokens: int, passes: int, cancel: CancelToken) -> Iterator[Far | Result]:
    """In the worker. Raises: SlipstreamError, Cancelled."""
    from slipstream.compare.document import document
    from slipstream.compare.history import keep_run
    from slipstream.compare.keeping import keep
    from slipstream.compare.modes import default_modes
    from slipstream.compare.prompts import own_set
    from slipstream.compare.report import Measured, report
    from slipstream.compare.runner import Again, Failed, Launched, Plan, run
    from slipstream.compare.samples import Sample

    model = resolve(ref)
    measured = Measured(Plan(model, default_modes(model, cancel), own_set(), passes, tokens))
    plan, began, mode = measured.plan, time.monotonic(), measured.plan.baseline
    try:
        for event in run(plan, cancel):
            measured.take(event)
            if isinstance(event, Launched | Failed | Sample):
                mode = event.mode
            elif isinstance(event, Again):
                mode = plan.baseline
            done = len(measured.samples) + len(measured.again)
            each = (time.monotonic() - began) / done if done >= _SURE_AFTER else None
            left = each * (plan.answers - done) if each is not None else None
            yield Far(plan.modes[mode], done, plan.answers, left)
    except Cancelled:
        if not measured.samples:
            raise
    whole = not cancel.cancelled
    found = report(measured)
    yield Result(measured, found, whole)
    if whole:
        keep(measured, found)
        keep_run(document(measured, found), datetime.now(UTC))


def exported(result: Result, path: Path) -> None:
    """Write a result for other programs, in the form that the name of the file tells.

    Raises: SlipstreamError ``not_saved``.
    """
    import json

    from slipstream.compare.document import document
    from slipstream.compare.export import as_csv, as_markdown
    from slipstream.small_files import write_text

    told = document(result.measured, result.report)
    forms = {".csv": as_csv, ".md": as_markdown}
    form = forms.get(path.suffix.lower(), lambda one: json.dumps(one, indent=1))
    try:
        write_text(path, form(told))
    except OSError as error:
        raise SlipstreamError(
            "not_saved",
            tr("The file could not be written."),
            facts={"path": str(path), "reason": error.strerror or str(error)},
            action=tr("Choose another folder."),
        ) from error
