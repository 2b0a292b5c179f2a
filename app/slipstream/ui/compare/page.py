"""The Compare page: measure what each way of drafting brings here, and use the best."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QMenu,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from slipstream.cancel import CancelToken
from slipstream.compare.report import Measured, Report, paired
from slipstream.compare.sentences import KIND_NAMES, best_row, mode_name
from slipstream.ui import icons, models
from slipstream.ui.compare.bench import Bench, Result, Stage, exported
from slipstream.ui.compare.kind_bars import KindBar, KindBars
from slipstream.ui.compare.lanes import Lanes
from slipstream.ui.compare.table import ModeTable
from slipstream.ui.compare.verdict_card import VerdictCard
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.model_desk import ModelDesk
from slipstream.ui.widgets.choice import ChoiceButton, Option
from slipstream.ui.widgets.labels import Pill, label
from slipstream.ui.widgets.notice_bar import Notice, notice_of
from slipstream.ui.widgets.trouble import Trouble
from slipstream.ui.wording import percent
from slipstream.words import duration

_LENGTHS = (64, 128, 256)
_USUAL = 128


class ComparePage(QWidget):
    """The page.

    Attributes:
        noticed: a Notice for the user.
        bench: runs comparisons.
        model, length: what is compared.
        run: the button that starts, or stops.
    """

    noticed = Signal(object)

    def __init__(self, look: Look, desk: ModelDesk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._look, self._desk = look, desk
        self._shown: Result | None = None
        self.bench = Bench(desk.work, desk.control, self)
        self.model = ChoiceButton(tr("Model to compare"), look)
        self.length = ChoiceButton(tr("Length of every answer"), look, kind="pill")
        self.length.show_choices([_length(each) for each in _LENGTHS], str(_USUAL))
        self._about = Pill()
        self._about.show_text(tr("temperature 0 · 8 kinds of prompt · 4 passes"))
        self.export = QPushButton(tr("Export"))
        self.run = QPushButton()
        self.run.clicked.connect(self._on_run)
        self._intro = label(_intro(), "muted", wrap=True)
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._progress.setAccessibleName(tr("How far the comparison is"))
        self._words = label("", wrap=True)
        self._trouble = Trouble()
        self.verdict = VerdictCard()
        self.verdict.use.clicked.connect(self.bench.use)
        self.lanes = Lanes(look)
        self.bars = KindBars(look)
        self._bars_title = label("", "section")
        self.table = ModeTable()
        self._results = QWidget()
        self._lay_out()
        self._fill_export()
        self.bench.changed.connect(self.refresh)
        self.bench.noticed.connect(self.noticed)
        desk.offered.connect(self._offer)
        self._offer()
        self.refresh()

    def refresh(self) -> None:
        """Show how things stand."""
        bench = self.bench
        busy = bench.stage in (Stage.WAITING, Stage.RUNNING)
        self.run.setText(tr("Stop") if busy else tr("Run again") if bench.result else tr("Run"))
        for each in (self.model, self.length, self.export):
            each.setEnabled(not busy)
        self.export.setVisible(bench.result is not None)
        self._intro.setVisible(bench.stage is Stage.IDLE)
        self._progress.setVisible(busy)
        self._words.setVisible(busy)
        self._show_progress()
        self._trouble.setVisible(bench.stage is Stage.FAILED)
        if bench.stage is Stage.FAILED and bench.error is not None:
            self._trouble.show_error(bench.error, [(tr("Try again"), self._on_run)])
        self._results.setVisible(bench.result is not None and not busy)
        if bench.result is not None and bench.result is not self._shown:
            self._shown = bench.result
            self._show(bench.result)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: D102, N802
        super().showEvent(event)
        ref = self._desk.selection.ref
        if ref and self.bench.stage is Stage.IDLE:
            self._offer(ref)

    # What the user does

    def _on_run(self) -> None:
        if self.bench.stage in (Stage.WAITING, Stage.RUNNING):
            self.bench.cancel()
        else:
            self.bench.start(self.model.value, int(self.length.value))

    def _on_export(self, ending: str) -> None:
        result = self.bench.result
        name = f"comparison.{ending}"
        path, _ = QFileDialog.getSaveFileName(self, tr("Export the comparison"), name)
        if path and result is not None:
            self._export(result, Path(path))

    def _export(self, result: Result, path: Path) -> None:
        def steps(_cancel: CancelToken) -> Iterator[None]:
            exported(result, path)
            yield

        told = Notice(tr("The comparison was written to {path}.").format(path=path))
        self._desk.work.start(
            steps,
            on_done=lambda: self.noticed.emit(told),
            on_error=lambda error: self.noticed.emit(notice_of(error)),
        )

    # What is shown

    def _offer(self, wanted: str = "") -> None:
        offer = self._desk.offer
        choices = {each.ref: each for each in (*models.demos(), *offer.recent, *offer.here)}
        options = [Option(ref, each.title, each.detail) for ref, each in choices.items()]
        value = wanted or self.model.value or models.DEMO
        self.model.show_choices(options, value if value in choices else models.DEMO)

    def _show_progress(self) -> None:
        far = self.bench.far
        self._progress.setRange(0, far.total if far else 0)
        self._progress.setValue(far.done if far else 0)
        if self.bench.stage is Stage.WAITING:
            self._words.setText(tr("Making room: the model that is loaded comes back afterwards."))
        elif far is None:
            self._words.setText(tr("Looking for drafters…"))
        else:
            words = tr("Running {mode}: {n} of {all} answers").format(
                mode=far.mode, n=far.done, all=far.total
            )
            left = ""
            if far.left is not None:
                left = " · " + tr("about {time} left").format(time=duration(far.left))
            self._words.setText(words + left)

    def _show(self, result: Result) -> None:
        measured, found = result.measured, result.report
        basis = measured.plan.baseline
        self.verdict.show_report(found, basis, whole=result.whole)
        self.verdict.use.setEnabled(bool(measured.launched))
        self.table.show_report(found)
        self._show_lanes(measured, found)

    def _show_lanes(self, measured: Measured, found: Report) -> None:
        """The mode to use beside the one compared with; else the fastest of the others."""
        basis = found.rows[measured.plan.baseline]
        others = [row for row in found.rows if row is not basis and row.gain is not None]
        fastest = max(others, key=lambda row: row.tokens_per_second, default=None)
        shown = best_row(found) or fastest
        if shown is None:
            self.lanes.show_pairs(())
            self.bars.show_bars(())
            return
        self.lanes.left.show_mode(mode_name(basis), "", basis.tokens_per_second)
        accepted = shown.acceptance
        detail = "" if accepted is None else tr("{n} accepted").format(n=percent(accepted))
        self.lanes.right.show_mode(mode_name(shown), detail, shown.tokens_per_second)
        self.lanes.show_pairs(paired(measured, found.rows.index(shown)))
        title = tr("By kind of prompt: tokens per second, {before} and {now}")
        self._bars_title.setText(title.format(before=mode_name(basis), now=mode_name(shown)))
        self.bars.show_bars(
            [
                KindBar(
                    _heading(kind),
                    basis.speed_by_kind.get(kind, 0.0),
                    shown.speed_by_kind.get(kind, 0.0),
                    gain.speedup,
                )
                for kind, gain in shown.by_kind.items()
            ]
        )

    # How it is put together

    def _fill_export(self) -> None:
        menu = QMenu(self.export)
        for ending, words in (
            ("csv", tr("Table (CSV)")),
            ("md", tr("Text (Markdown)")),
            ("json", tr("Everything, with the time of every token (JSON)")),
        ):
            menu.addAction(words).triggered.connect(partial(self._on_export, ending))
        self.export.setMenu(menu)
        icons.wear(self.export, "chevron-down", self._look, role="text_muted", size=14)
        self.export.setLayoutDirection(Qt.LayoutDirection.RightToLeft)

    def _lay_out(self) -> None:
        self.run.setProperty("kind", "primary")
        body = QWidget()
        body.setObjectName("page")
        column = QVBoxLayout(body)
        column.setContentsMargins(24, 18, 24, 20)
        column.setSpacing(14)
        for each in (self._intro, self._words, self._progress, self._trouble, self._results):
            column.addWidget(each)
        column.addStretch()
        bars = QFrame()
        bars.setProperty("kind", "card")
        inner = QVBoxLayout(bars)
        inner.setContentsMargins(16, 12, 16, 12)
        inner.setSpacing(10)
        inner.addWidget(self._bars_title)
        inner.addWidget(self.bars)
        results = QVBoxLayout(self._results)
        results.setContentsMargins(0, 0, 0, 0)
        results.setSpacing(14)
        for part in (self.verdict, self.lanes, bars, self.table):
            results.addWidget(part)
        area = QScrollArea()
        area.setObjectName("modelArea")
        area.setAccessibleName(tr("Comparison"))
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(body)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(self._head())
        outer.addWidget(area, 1)

    def _head(self) -> QWidget:
        head = QWidget()
        head.setObjectName("header")
        head.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = QHBoxLayout(head)
        row.setContentsMargins(18, 10, 18, 10)
        row.setSpacing(10)
        row.addWidget(label(tr("Compare"), "section"))
        for each in (self.model, self.length, self._about):
            row.addWidget(each)
        row.addStretch()
        row.addWidget(self.export)
        row.addWidget(self.run)
        return head


def _length(tokens: int) -> Option:
    return Option(str(tokens), tr("{n} tokens per answer").format(n=tokens))


def _heading(kind: str) -> str:
    name = KIND_NAMES.get(kind, kind)
    return f"{name[0].upper()}{name[1:]}"


def _intro() -> str:
    return tr(
        "Measures on this computer how fast the model runs without a drafter and with each one"
        " there is: every way in launches of its own, in turns, with the same prompts. The model"
        " that is loaded makes room for it and comes back afterwards. Close other programs that"
        " work; the numbers are only as good as the computer is quiet."
    )
