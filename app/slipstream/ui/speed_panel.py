"""The panel that makes speculation visible: the live numbers, and how drafting is chosen."""

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from slipstream.drafters.kinds import SpecChoice
from slipstream.engine.events import ReplyNumbers
from slipstream.engine.requests import Loaded
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look, tabular
from slipstream.ui.spec_options import offered, options
from slipstream.ui.widgets.choice import ChoiceButton
from slipstream.ui.widgets.labels import KeyValue, label, line
from slipstream.ui.widgets.position_bars import PositionBars
from slipstream.ui.widgets.sparkline import Sparkline
from slipstream.ui.wording import percent, speculation, speed
from slipstream.words import count

_SETTLE_MS = 700  # a new number of draft tokens restarts the engine: wait until the user is done
_MOST_DRAFT_TOKENS = 64


class SpeedPanel(QScrollArea):
    """Numbers of the running or last reply.

    Attributes:
        speculation_chosen: the choice ("auto", "off" or a kind) and the draft tokens, 0 for
            the kind's own.
    """

    speculation_chosen = Signal(str, int)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._loaded: Loaded | None = None
        self.setObjectName("speedArea")
        self.setAccessibleName(tr("Speed"))
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._title = label("", "small")
        self._now = label("–", "big")
        self._now.setFont(tabular(self._now.font()))
        self._curve = Sparkline(look)
        self._accepted = KeyValue(tr("Accepted"))
        self._per_step = KeyValue(tr("Tokens per step"))
        self._bars = PositionBars(look)
        self._no_bars = label("", "value")  # a dash in their place, which they keep
        self._first = KeyValue(tr("First token"))
        self._prompt = KeyValue(tr("Prompt"))
        self._per_token = KeyValue(tr("Per token"))
        self._choice = ChoiceButton(tr("Speculation"), look, kind="flat")
        self._choice.chosen.connect(lambda value: self.speculation_chosen.emit(value, 0))
        self._draft_tokens = QSpinBox()
        self._draft_tokens.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._draft_tokens.setAccessibleName(tr("Draft tokens"))
        self._draft_tokens.setToolTip(tr("The most tokens the drafter proposes at once"))
        self._draft_tokens.valueChanged.connect(self._on_draft_tokens_changed)
        self._sentence = label("", "small", wrap=True)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._settle.timeout.connect(self._on_settled)
        self._lay_out()
        look.changed.connect(self._fit)
        self._fit()
        self.show_loaded(None)
        self.clear()

    @property
    def shares(self) -> tuple[float, ...]:
        """The acceptance by draft position it shows."""
        return self._bars.shares

    @property
    def choice(self) -> str:
        """The choice of speculation it shows."""
        return self._choice.value

    @property
    def accepted(self) -> str:
        """The acceptance it shows, in words."""
        return self._accepted.text

    def clear(self) -> None:
        """Show no numbers, for a chat without replies."""
        self._curve.clear()
        self._show(None)
        self._title.setText(tr("Speed now"))

    def begin_reply(self) -> None:
        """A new reply starts: the curve starts anew."""
        self._curve.clear()

    def show_live(self, numbers: ReplyNumbers) -> None:
        """Show the numbers while a reply runs."""
        self._curve.add(numbers.speed_now)
        self._show(numbers, numbers.speed_now)
        self._title.setText(tr("Speed now"))

    def show_final(self, numbers: ReplyNumbers) -> None:
        """Show the numbers of a finished reply."""
        self._show(numbers, numbers.tokens_per_second)
        self._title.setText(tr("Speed of the last reply"))

    def show_loaded(self, loaded: Loaded | None, wanted: SpecChoice = "auto") -> None:
        """Show how the loaded model speculates.

        Args:
            loaded: None while nothing is loaded.
            wanted: then, how it is to speculate once something is.
        """
        self._loaded = loaded
        self._settle.stop()
        self._choice.setEnabled(loaded is not None)
        if loaded is None:
            self._choice.show_choices(options([wanted]), str(wanted))
            self._sentence.setText("")
            self._show_draft_tokens(0, _MOST_DRAFT_TOKENS)
            return
        self._choice.show_choices(offered(loaded), str(loaded.request.spec))
        self._sentence.setText(speculation(loaded))
        self._show_draft_tokens(loaded.spec.draft_tokens, _longest_draft(loaded))

    def _show_draft_tokens(self, number: int, most: int) -> None:
        """Show a number of draft tokens and allow up to ``most``; 0 where nothing is drafted."""
        box = self._draft_tokens
        box.setEnabled(number > 0)
        box.blockSignals(True)
        box.setSpecialValueText("" if number else "–")
        box.setRange(min(number, 1), most)
        box.setValue(number)
        box.blockSignals(False)

    def show_sentence(self, text: str) -> None:
        """Say something else than how it speculates, for example that it restarts."""
        self._sentence.setText(text)

    def _show(self, numbers: ReplyNumbers | None, now: float = 0.0) -> None:
        self._now.setText(speed(now) if numbers is not None and now > 0 else "–")
        numbers = numbers or ReplyNumbers()
        mean = numbers.tokens_per_second
        share, per_step = numbers.acceptance, numbers.tokens_per_step
        self._accepted.show_value("" if share is None else percent(share))
        most = tr("of {n}").format(n=len(numbers.by_position) + 1) if numbers.by_position else ""
        drafted = per_step is not None and share is not None
        self._per_step.show_value(f"{per_step:.2f}" if drafted else "", most if drafted else "")
        self._bars.show_shares(numbers.by_position)
        self._no_bars.setText("" if numbers.by_position else "–")
        self._first.show_value(f"{numbers.first_token:.2f} s" if numbers.first_token else "")
        reading = numbers.prompt_per_second
        self._prompt.show_value(f"{count(reading)} {tr('tok/s')}" if reading else "")
        self._per_token.show_value(f"{1000 / mean:.1f} ms" if mean else "")

    def _on_draft_tokens_changed(self) -> None:
        self._settle.start()

    def _on_settled(self) -> None:
        if (
            self._loaded is not None
            and self._draft_tokens.value() != self._loaded.spec.draft_tokens
        ):
            self.speculation_chosen.emit(self._choice.value, self._draft_tokens.value())

    def _fit(self) -> None:
        self.setFixedWidth(self._look.px(286))

    def _lay_out(self) -> None:
        panel = QWidget()
        panel.setObjectName("speedPanel")
        panel.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(panel)
        column.setContentsMargins(18, 18, 18, 18)
        column.setSpacing(4)
        column.addWidget(self._title)
        big = QHBoxLayout()
        big.setSpacing(8)
        big.addWidget(self._now, 0, Qt.AlignmentFlag.AlignBaseline)
        big.addWidget(label(tr("tok/s"), "unit"), 0, Qt.AlignmentFlag.AlignBaseline)
        big.addStretch()
        column.addLayout(big)
        column.addWidget(self._curve)
        _add_group(column, self._accepted, self._per_step)
        title = _row(tr("Accepted by draft position"), self._no_bars, "small")
        column.addLayout(title)
        column.addWidget(self._bars)
        _add_group(column, self._first, self._prompt, self._per_token)
        _add_group(column)
        column.addLayout(_row(tr("Speculation"), self._choice))
        column.addLayout(_row(tr("Draft tokens"), self._draft_tokens))
        column.addWidget(self._sentence)
        column.addStretch()
        self.setWidget(panel)


def _longest_draft(loaded: Loaded) -> int:
    """The most draft tokens the running drafter can make in one step."""
    for each in loaded.drafters:
        if each.kind is loaded.spec.kind and each.path == loaded.spec.drafter:
            return each.longest_draft or _MOST_DRAFT_TOKENS
    return _MOST_DRAFT_TOKENS


def _add_group(column: QVBoxLayout, *widgets: QWidget) -> None:
    column.addSpacing(10)
    column.addWidget(line())
    column.addSpacing(8)
    for each in widgets:
        column.addWidget(each)


def _row(name: str, widget: QWidget, kind: str = "muted") -> QHBoxLayout:
    row = QHBoxLayout()
    row.addWidget(label(name, kind))
    row.addStretch()
    row.addWidget(widget)
    return row
