"""The page of one model: the recommendation, the knobs, and every quantization."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from slipstream.engine.picture import Line, Picture
from slipstream.errors import SlipstreamError
from slipstream.planning.placement import Fit
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.picker.actions import Action, What
from slipstream.ui.picker.banner import Banner
from slipstream.ui.picker.drafter_chips import DrafterChips
from slipstream.ui.picker.found import seen
from slipstream.ui.picker.knobs_row import KnobsRow
from slipstream.ui.picker.model_look import Model, ModelLook, Stage
from slipstream.ui.picker.quant_rows import QuantRows
from slipstream.ui.picker.wording import capacity_words, machine_words
from slipstream.ui.widgets.flow import FlowLayout
from slipstream.ui.widgets.labels import Pill, label
from slipstream.ui.widgets.legend import Legend
from slipstream.ui.widgets.trouble import Trouble, Way
from slipstream.words import context_size

_LOOK_MS = 500
_SOON_MS = 60


class ModelView(QWidget):
    """What is shown of the model that is looked at.

    Attributes:
        wanted: what the user wants to do (``What``) with a Line.
        card_wanted: the user wants to read the model's card.
        settings_wanted: the user wants to change the model's settings.
        banner: what is recommended.
        rows: the quantizations.
        knobs: what can be turned.
    """

    wanted = Signal(object, object)
    card_wanted = Signal()
    settings_wanted = Signal()

    def __init__(
        self,
        look: Look,
        model: ModelLook,
        ways: Callable[[BaseException], list[Way]],
        actions_of: Callable[[Line], Sequence[Action]],
        parent: QWidget | None = None,
    ) -> None:
        """Prepare.

        Args:
            look: colours and sizes.
            model: what is looked at.
            ways: what helps when a model cannot be shown.
            actions_of: what can be done with a quantization now.
            parent: as Qt has it.
        """
        super().__init__(parent)
        self.setObjectName("page")
        self._look, self._model, self._ways = look, model, ways
        self._actions_of = actions_of
        self._title = label("", "section", wrap=True)
        self._title.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._pills = FlowLayout(gap=6)
        self._worn: tuple[tuple[str, str], ...] = ()
        self.card = QPushButton(tr("Model card"))
        self.card.clicked.connect(self.card_wanted)
        self.settings = QPushButton(tr("Settings"))
        self.settings.setAccessibleName(tr("Settings of this model"))
        self.settings.clicked.connect(self.settings_wanted)
        self.banner = Banner()
        self.banner.buttons.pressed.connect(self._on_action)
        self.knobs = KnobsRow(look)
        self.knobs.turned.connect(model.turn)
        self._legend = Legend(look)
        self._capacity = label("", "small")
        self.rows = QuantRows(look, actions_of)
        self.rows.wanted.connect(self.wanted)
        self.drafters = DrafterChips()
        self.drafters.chosen.connect(self._on_drafter)
        self._problems = label("", "small", wrap=True)
        self._machine = label("", "small", wrap=True)
        self._busy = label("", "muted", wrap=True)
        self._progress = QProgressBar()
        self._progress.setRange(0, 0)
        self._progress.setTextVisible(False)
        self._progress.setAccessibleName(tr("Looking into the repository"))
        self._stop = QPushButton(tr("Cancel"))
        self._stop.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._stop.clicked.connect(model.stop)
        self.trouble = Trouble()
        self._stack = QStackedWidget()
        self._shown: Model | None = None
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_SOON_MS)
        self._soon.timeout.connect(self._show_rest)
        self._ticks = QTimer(self)
        self._ticks.setInterval(_LOOK_MS)
        self._ticks.timeout.connect(self._say_waiting)
        self._lay_out()
        model.changed.connect(self.refresh)
        look.changed.connect(self.refresh)
        self.refresh()

    @property
    def line(self) -> Line | None:
        """What the button at the top is about: the recommended one, or else the smallest."""
        picture = self._model.picture
        if picture is None:
            return None
        return picture.recommended or next(iter(picture.lines), None)

    def refresh(self) -> None:
        """Show what is known now."""
        stage, picture = self._model.stage, self._model.picture
        self._title.setText(self._heading())
        self._ticks.start() if stage is Stage.LOOKING else self._ticks.stop()
        subject = self._model.subject
        self.card.setVisible(stage is Stage.SHOWN and subject is not None and bool(subject.offer))
        self.settings.setVisible(self._is_here())
        if stage is Stage.SHOWN and picture is not None:
            self._show(picture)
            self._stack.setCurrentIndex(0)
        elif stage is Stage.FAILED and self._model.error is not None:
            self._wear_pills()
            self.trouble.show_error(self._model.error, self._ways(self._model.error))
            self._stack.setCurrentIndex(2)
        else:
            self._wear_pills()
            self._say_waiting()
            self._stack.setCurrentIndex(1)

    def show_actions(self) -> None:
        """Offer what can be done now."""
        self.banner.buttons.show_actions(self._actions_of(self.line) if self.line else ())
        self.banner.fit()
        self.rows.show_actions()

    def _heading(self) -> str:
        model, picture = self._model.model, self._model.picture
        if model.repo:
            return model.repo.replace("/", " / ", 1)
        return picture.name if picture is not None else model.title

    def _is_here(self) -> bool:
        picture = self._model.picture
        return picture is not None and any(line.here for line in picture.lines)

    def _show(self, picture: Picture) -> None:
        """The bars follow at once; what is written beside them, and makes Qt lay out the page anew,
        a moment later."""
        if self._model.model is not self._shown:
            self.rows.fold()
        self.rows.show_picture(picture)
        if self._model.model is self._shown:
            self._soon.start()
        else:
            self._shown = self._model.model
            self._show_rest()

    def _show_rest(self) -> None:
        picture = self._model.picture
        if picture is None:
            return
        self._show_pills(picture)
        self.banner.show_picture(picture)
        line = self.line
        if line is not None:
            fits = line.plan.placement.fit is not Fit.NONE
            self.banner.buttons.wear("primary" if fits else "outline")
        self.show_actions()
        self.knobs.show_picture(picture)
        self._legend.show_needs([each.plan.placement.need for each in picture.lines])
        self._capacity.setText(capacity_words(picture))
        self.drafters.show_picture(picture, looking=self._model.looking_further)
        self._problems.setText("\n".join(_sentence(each) for each in picture.problems))
        self._problems.setVisible(bool(picture.problems))
        self._machine.setText(machine_words(picture))

    def _show_pills(self, picture: Picture) -> None:
        offer = self._model.subject.offer if self._model.subject else None
        pills = [(words, "pill-accent") for words in seen(picture).drafters]
        if offer is not None and offer.listing.licence:
            pills.append((offer.listing.licence, "pill"))
        if picture.trained_context:
            words = tr("{n} trained context").format(n=context_size(picture.trained_context))
            pills.append((words, "pill"))
        if offer is not None and offer.listing.gated:
            pills.append((tr("gated"), "pill-warning"))
        self._wear_pills(tuple(pills))

    def _wear_pills(self, pills: tuple[tuple[str, str], ...] = ()) -> None:
        if pills != self._worn:
            self._worn = pills
            self._pills.clear()
            for words, kind in pills:
                self._add_pill(words, kind)

    def _add_pill(self, words: str, kind: str) -> None:
        pill = Pill()
        pill.setProperty("kind", kind)
        self._pills.addWidget(pill)
        pill.show_text(words)

    def _say_waiting(self) -> None:
        words = tr("Looking into {name}…").format(name=self._heading())
        if self._model.waiting:
            seconds = round(self._model.waiting)
            words += " " + tr("The Hub asks us to wait {n} s.").format(n=seconds)
        self._busy.setText(words)

    def _on_action(self, what: What) -> None:
        if self.line is not None:
            self.wanted.emit(what, self.line)

    def _on_drafter(self, key: str) -> None:
        self.knobs.choose_drafter(key)

    # How it is put together

    def _lay_out(self) -> None:
        self._stack.addWidget(self._scrolled(self._body()))
        self._stack.addWidget(_column(self._busy, self._progress, self._stop))
        self._stack.addWidget(self._scrolled(_column(self.trouble)))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._head())
        column.addWidget(self._stack, 1)

    def _head(self) -> QWidget:
        head = QWidget()
        head.setObjectName("header")
        head.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        words = QVBoxLayout()
        words.setSpacing(6)
        words.addWidget(self._title)
        words.addLayout(self._pills)
        row = QHBoxLayout(head)
        row.setContentsMargins(18, 10, 18, 10)
        row.setSpacing(10)
        row.addLayout(words, 1)
        row.addWidget(self.settings, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.card, 0, Qt.AlignmentFlag.AlignTop)
        return head

    def _body(self) -> QWidget:
        legend = QHBoxLayout()
        legend.addWidget(self._legend, 1)
        legend.addWidget(self._capacity)
        body = QWidget()
        body.setObjectName("page")
        column = QVBoxLayout(body)
        column.setContentsMargins(24, 20, 24, 20)
        column.setSpacing(14)
        column.addWidget(self.banner)
        column.addWidget(self.knobs)
        column.addLayout(legend)
        for each in (self.rows, self.drafters, self._problems, self._machine):
            column.addWidget(each)
        column.addStretch()
        return body

    def _scrolled(self, inner: QWidget) -> QScrollArea:
        area = QScrollArea()
        area.setObjectName("modelArea")
        area.setAccessibleName(tr("About this model"))
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inner)
        return area


def _column(*widgets: QWidget) -> QWidget:
    """A page with a few things below each other."""
    page = QWidget()
    page.setObjectName("page")
    column = QVBoxLayout(page)
    column.setContentsMargins(24, 24, 24, 24)
    column.setSpacing(12)
    for each in widgets:
        column.addWidget(each)
    column.addStretch()
    return page


def _sentence(problem: SlipstreamError) -> str:
    return f"{problem.message} {problem.action}"
