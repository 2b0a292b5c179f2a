"""Two lanes that replay measured answers side by side, at the speed at which they came."""

import time
from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from slipstream.compare.samples import Sample, Token
from slipstream.ui import icons
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look, tabular
from slipstream.ui.widgets.eliding_button import ElidingButton
from slipstream.ui.widgets.labels import Pill, label

_FRAME_MS = 33
_STEPS = 1000

Pair = tuple[Sample, Sample]
"""Two answers to one prompt."""


class Lane(QFrame):
    """One way to run the model, and its answer as it comes."""

    def __init__(self, look: Look, *, accent: bool, parent: QWidget | None = None) -> None:
        """Empty.

        Args:
            look: colours and sizes.
            accent: it is the one that people look at.
            parent: as Qt has it.
        """
        super().__init__(parent)
        self.setProperty("kind", "card")
        self._look = look
        self._tokens: Sequence[Token] = ()
        self._shown = 0
        self._title = label("", "section")
        self._pill = Pill()
        self._speed = label("", "lane-fast" if accent else "lane")
        self._speed.setFont(tabular(self._speed.font()))
        self._bar = QProgressBar()
        self._bar.setRange(0, _STEPS)
        self._bar.setTextVisible(False)
        if not accent:
            self._bar.setProperty("kind", "muted")
        self.text = QTextEdit()
        self.text.setObjectName("lane")
        self.text.setReadOnly(True)
        self.text.setUndoRedoEnabled(False)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._title)
        head.addWidget(self._pill)
        head.addStretch()
        head.addWidget(self._speed)
        head.addWidget(label(tr("tok/s"), "muted"), 0, Qt.AlignmentFlag.AlignBottom)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 14)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self._bar)
        column.addWidget(self.text)
        look.changed.connect(self._on_look_changed)
        self._fit()

    def show_mode(self, title: str, detail: str, speed: float) -> None:
        """Say what runs in it."""
        self._title.setText(title)
        self._pill.show_text(detail)
        self._speed.setText(f"{speed:,.1f}")
        self._bar.setAccessibleName(tr("How far {mode} is").format(mode=title))
        self.text.setAccessibleName(tr("Answer of {mode}").format(mode=title))

    def begin(self, sample: Sample) -> None:
        """Show an answer from its start."""
        self._tokens, self._shown = sample.tokens, 0
        self.text.clear()
        self._bar.setValue(0)

    def show_until(self, seconds: float) -> bool:
        """Show what had come by then; whether that is all."""
        cursor = QTextCursor(self.text.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        while self._shown < len(self._tokens) and self._tokens[self._shown].at <= seconds:
            token = self._tokens[self._shown]
            cursor.insertText(token.text, self._format(drafted=token.drafted))
            self._shown += 1
        self._bar.setValue(_STEPS * self._shown // max(1, len(self._tokens)))
        bar = self.text.verticalScrollBar()
        bar.setValue(bar.maximum())
        return self._shown == len(self._tokens)

    def _on_look_changed(self) -> None:
        """What is shown already takes the new colours."""
        self._fit()
        shown = self._tokens[: self._shown]
        self._shown = 0
        self.text.clear()
        if shown:
            self.show_until(shown[-1].at)

    def _format(self, *, drafted: bool) -> QTextCharFormat:
        form = QTextCharFormat()
        if drafted:
            form.setBackground(QColor(self._look.theme.accent_soft))
        return form

    def _fit(self) -> None:
        self._bar.setFixedHeight(self._look.px(6))
        self.text.document().setDefaultFont(self._look.mono(12.5))
        self.text.setFixedHeight(self._look.px(150))


class Lanes(QWidget):
    """The mode compared with on the left, another one on the right, one prompt at a time.

    Attributes:
        left, right: the lanes.
        play: the button that replays, or pauses.
    """

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._pairs: Sequence[Pair] = ()
        self._place = 0
        self._began = 0.0
        self.left, self.right = Lane(look, accent=False), Lane(look, accent=True)
        self._before = self._button(tr("The prompt before"), "chevron-left", self._go_back)
        self.play = self._button(tr("Replay"), "play", self.replay)
        self._after = self._button(tr("The next prompt"), "chevron-right", self._go_on)
        self._prompt = ElidingButton()
        self._prompt.setProperty("kind", "link")
        self._prompt.setEnabled(False)
        self._timer = QTimer(self)
        self._timer.setInterval(_FRAME_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._lay_out()

    def show_pairs(self, pairs: Sequence[Pair]) -> None:
        """Take over the answers, and replay the first ones."""
        self._pairs, self._place = pairs, 0
        self.setVisible(bool(pairs))
        self.replay()

    def replay(self) -> None:
        """Show the answers to this prompt from their start."""
        if not self._pairs:
            return
        theirs, mine = self._pairs[self._place]
        self.left.begin(theirs)
        self.right.begin(mine)
        words = tr("Prompt {n} of {all}: “{text}”").format(
            n=self._place + 1, all=len(self._pairs), text=" ".join(mine.prompt.text.split())
        )
        self._prompt.setText(words)
        self._prompt.setToolTip(mine.prompt.text[:2000])
        self._before.setEnabled(self._place > 0)
        self._after.setEnabled(self._place + 1 < len(self._pairs))
        self._began = time.monotonic()
        self._timer.start()

    def _tick(self) -> None:
        seconds = time.monotonic() - self._began
        ended = [lane.show_until(seconds) for lane in (self.left, self.right)]
        if all(ended) or not self.isVisible():
            self._timer.stop()

    def _go_back(self) -> None:
        self._place = max(0, self._place - 1)
        self.replay()

    def _go_on(self) -> None:
        self._place = min(len(self._pairs) - 1, self._place + 1)
        self.replay()

    def _button(self, name: str, icon: str, act: object) -> QPushButton:
        made = QPushButton()
        made.setProperty("kind", "flat")
        made.setAccessibleName(name)
        made.setToolTip(name)
        icons.wear(made, icon, self._look, role="text_muted", size=16)
        made.clicked.connect(act)
        return made

    def _lay_out(self) -> None:
        lanes = QHBoxLayout()
        lanes.setSpacing(14)
        lanes.addWidget(self.left, 1)
        lanes.addWidget(self.right, 1)
        controls = QHBoxLayout()
        controls.setSpacing(4)
        for each in (self._before, self.play, self._after):
            controls.addWidget(each)
        words = tr("Replayed at the speed at which they came; they ran one after the other.")
        controls.addWidget(label(words, "small"))
        controls.addStretch()
        controls.addWidget(self._prompt, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(lanes)
        column.addLayout(controls)
