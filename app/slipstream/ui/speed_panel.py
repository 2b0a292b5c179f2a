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

from slipstream.drafters.kinds import DrafterKind, SpecChoice
from slipstream.engine.events import ReplyNumbers
from slipstream.engine.requests import Loaded
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look, tabular
from slipstream.ui.widgets.choice import ChoiceButton
from slipstream.ui.widgets.labels import KeyValue, label, line
from slipstream.ui.widgets.position_bars import PositionBars
from slipstream.ui.widgets.sparkline import Sparkline
from slipstream.ui.wording import choice_name, count, percent, speculation, speed

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
        self._now = label("–", "big")
        self._now.setFont(tabular(self._now.font()))
        self._curve = Sparkline(look)
        self._accepted = KeyValue(tr("Accepted"))
        self._per_step = KeyValue(tr("Tokens per step"))
        self._bars = PositionBars(look)
        self._bars_title = label(tr("Accepted by draft position"), "small")
        self._first = KeyValue(tr("First token"))
        self._prompt = KeyValue(tr("Prompt"))
        self._per_token = KeyValue(tr("Per token"))
        self._choice = ChoiceButton(tr("Speculation"), look, kind="flat")
        self._choice.chosen.connect(lambda value: self.speculation_chosen.emit(value, 0))
        self._draft_tokens = QSpinBox()
        self._draft_tokens.setRange(1, _MOST_DRAFT_TOKENS)
        self._draft_tokens.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._draft_tokens.setAccessibleName(tr("Draft tokens"))
        self._draft_tokens.setToolTip(tr("The most tokens the drafter proposes at once"))
        self._draft_tokens.valueChanged.connect(self._on_draft_tokens_changed)
        self._draft_row = QWidget()
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

    def begin_reply(self) -> None:
        """A new reply starts: the curve starts anew."""
        self._curve.clear()

    def show_live(self, numbers: ReplyNumbers) -> None:
        """Show the numbers while a reply runs."""
        self._curve.add(numbers.speed_now)
        self._show(numbers, numbers.speed_now)

    def show_final(self, numbers: ReplyNumbers) -> None:
        """Show the numbers of a finished reply."""
        self._show(numbers, numbers.tokens_per_second)

    def show_loaded(self, loaded: Loaded | None) -> None:
        """Show how the loaded model speculates; None while nothing is loaded."""
        self._loaded = loaded
        self._choice.setEnabled(loaded is not None)
        drafting = loaded is not None and loaded.spec.kind is not None
        self._draft_row.setVisible(drafting)
        if loaded is None:
            self._choice.show_choices([("auto", choice_name("auto"))], "auto")
            self._sentence.setText("")
            return
        self._settle.stop()
        choices = [(str(each), choice_name(each)) for each in offered(loaded)]
        self._choice.show_choices(choices, str(loaded.request.spec))
        self._sentence.setText(speculation(loaded))
        self._draft_tokens.blockSignals(True)
        self._draft_tokens.setMaximum(_longest_draft(loaded))
        self._draft_tokens.setValue(max(1, loaded.spec.draft_tokens))
        self._draft_tokens.blockSignals(False)

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
        self._bars.setVisible(bool(numbers.by_position))
        self._bars_title.setVisible(bool(numbers.by_position))
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
        column.addWidget(label(tr("Speed now"), "small"))
        big = QHBoxLayout()
        big.setSpacing(8)
        big.addWidget(self._now, 0, Qt.AlignmentFlag.AlignBaseline)
        big.addWidget(label(tr("tok/s"), "unit"), 0, Qt.AlignmentFlag.AlignBaseline)
        big.addStretch()
        column.addLayout(big)
        column.addWidget(self._curve)
        _add_group(column, self._accepted, self._per_step, self._bars_title, self._bars)
        _add_group(column, self._first, self._prompt, self._per_token)
        _add_group(column)
        column.addLayout(_row(tr("Speculation"), self._choice))
        drafts = _row(tr("Draft tokens"), self._draft_tokens)
        drafts.setContentsMargins(0, 0, 0, 0)
        self._draft_row.setLayout(drafts)
        column.addWidget(self._draft_row)
        column.addWidget(self._sentence)
        column.addStretch()
        self.setWidget(panel)


def offered(loaded: Loaded) -> list[SpecChoice]:
    """The choices of speculation that make sense for this model."""
    kinds = list(dict.fromkeys(each.kind for each in loaded.drafters))
    if DrafterKind.NGRAM not in kinds:
        kinds.append(DrafterKind.NGRAM)
    return ["auto", *kinds, "off"]


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


def _row(name: str, widget: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.addWidget(label(name, "muted"))
    row.addStretch()
    row.addWidget(widget)
    return row
