"""The chat as it is read: one text document that grows with the conversation."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRectF, QTimer, QUrl, Signal
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from slipstream.engine.events import Piece
from slipstream.ui.i18n import tr
from slipstream.ui.theme import LIGHT, Theme
from slipstream.ui.transcript import painting
from slipstream.ui.transcript.builder import COPY_CODE
from slipstream.ui.transcript.colours import warm_up
from slipstream.ui.transcript.message import (
    COPY,
    FOLD,
    REGENERATE,
    Message,
    Notice,
    Reply,
    UserMessage,
)
from slipstream.ui.transcript.page import Page
from slipstream.ui.transcript.styles import Styles
from slipstream.ui.transcript.writer import ACTION, Writer
from slipstream.ui.work import Work

_WARM_UP_MS = 500  # after the window came up


def _give_up(error: BaseException) -> None:
    raise error


class Transcript(Page):
    """Shows a chat, and a reply while it is written.

    Attributes:
        regenerate_requested: the user wants the last reply anew.
        link_activated: the user chose a link (http, https or mailto); nothing is opened here.
        copied: this text was put into the clipboard.
    """

    regenerate_requested = Signal()
    link_activated = Signal(str)
    copied = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Conversation"))
        self.anchorClicked.connect(self._on_link)
        self._theme = LIGHT
        self._percent = 100
        self._tint = False
        self._messages: list[Message] = []
        self._work = Work(self)
        self._warm = False
        self._rebuild()

    # What is shown

    def clear(self) -> None:
        """Remove all messages."""
        self._messages = []
        self._rebuild()

    def add_user(self, text: str) -> None:
        """Add what the user wrote, and show it."""
        self.set_actions(regenerate=False)
        self._add(UserMessage(len(self._messages), text=text))
        self.scroll_to_end()

    def add_notice(self, text: str) -> None:
        """Add a muted line, such as "The model was changed"."""
        self._add(Notice(len(self._messages), text=text))

    def add_reply(
        self,
        text: str,
        *,
        reasoning: str = "",
        spans: Sequence[tuple[int, bool]] = (),
        note: str = "",
        seconds_thinking: float | None = None,
    ) -> None:
        """Add a reply that is complete.

        Args:
            text: its Markdown.
            reasoning: the thinking before it.
            spans: run lengths over the text, True where the drafter supplied it.
            note: its speed line; what stands before the first " · " is emphasized.
            seconds_thinking: how long the thinking took; None if unknown.
        """
        reply = Reply(
            len(self._messages), reasoning=reasoning, seconds_thinking=seconds_thinking, note=note
        )
        reply.add_text(text, spans)
        reply.answer.finish()
        self._add(reply)

    def begin_reply(self) -> None:
        """Add an empty reply that will be written while it is read."""
        self.set_actions(regenerate=False)
        self._add(Reply(len(self._messages), streaming=True))

    def append(self, pieces: Sequence[Piece]) -> None:  # type: ignore[override]
        """Write more of the reply that was begun."""
        reply = self._last_reply()
        if reply is None or not reply.streaming:
            return
        reply.add_pieces(pieces)
        self._show(reply)

    def finish_reply(self, note: str) -> None:
        """The reply is complete; ``note`` becomes its speed line."""
        reply = self._last_reply()
        if reply is None:
            return
        reply.streaming = False
        reply.end_thinking()
        reply.answer.finish()
        reply.note = note
        self._show(reply)

    def set_note(self, note: str) -> None:
        """Change the speed line of the last reply."""
        reply = self._last_reply()
        if reply is not None:
            reply.note = note
            self._show(reply)

    def set_actions(self, regenerate: bool) -> None:
        """Whether the last reply offers to be made anew."""
        reply = self._last_reply()
        if reply is not None and reply.can_regenerate != regenerate:
            reply.can_regenerate = regenerate
            self._show(reply)

    # How it looks

    def set_tint(self, on: bool) -> None:
        """Show which text the drafter supplied."""
        self._tint = on
        self.viewport().update()

    def apply_theme(self, theme: Theme) -> None:
        """Take over the colours."""
        if theme != self._theme:
            self._theme = theme
            self._rebuild()

    def set_text_size(self, percent: int) -> None:
        """Take over the text size; 100 is normal."""
        if percent != self._percent:
            self._percent = percent
            self._rebuild()

    # What it holds

    def current_text(self) -> str:
        """The Markdown of the last reply."""
        reply = self._last_reply()
        return reply.answer.text if reply else ""

    def current_reasoning(self) -> str:
        """The thinking of the last reply."""
        reply = self._last_reply()
        return reply.reasoning if reply else ""

    def current_spans(self) -> list[tuple[int, bool]]:
        """Run lengths over ``current_text()``, True where the drafter supplied it."""
        reply = self._last_reply()
        return reply.spans() if reply else []

    def seconds_thinking(self) -> float | None:
        """How long the last reply was thought about, in seconds; None if it was not."""
        reply = self._last_reply()
        return reply.seconds_thinking if reply else None

    def plain_text(self) -> str:
        """All text on the page, a line for each block."""
        return self.toPlainText().strip("\n")

    # Inside

    def _last_reply(self) -> Reply | None:
        replies = (each for each in reversed(self._messages) if isinstance(each, Reply))
        return next(replies, None)

    def _add(self, message: Message) -> None:
        self._messages.append(message)
        self._show(message)

    def _show(self, message: Message) -> None:
        with self.editing():
            self._write(message)

    def _write(self, message: Message) -> None:
        before = self._messages[message.number - 1].entries[-1] if message.number else self._start
        self._writer.update(message.entries, message.blocks(), before, message.number)

    def _rebuild(self) -> None:
        """Write everything anew: the look changed."""
        with self.reading_on():
            for message in self._messages:
                message.entries = []
            self._styles = Styles(self._theme, self._percent, self.column(self._percent))
            self.empty(self._theme, self._percent)
            self.place(self.column(self._percent))
            self._writer = Writer(self.document(), self._styles)
            with self.editing():
                self._start = self._writer.start()
                for message in self._messages:
                    self._write(message)

    def _refit(self, column: int) -> None:
        """Take over a new width of the column."""
        self._styles.column = column
        before = self._start
        with self.editing():
            for message in self._messages:
                self._writer.refit(message.entries, before)
                before = message.entries[-1]

    def _warm_up(self) -> None:
        self._work.start(lambda _: warm_up(), on_error=_give_up)

    # What Qt calls

    def showEvent(self, event: QShowEvent) -> None:  # noqa: D102, N802
        super().showEvent(event)
        if not self._warm:
            self._warm = True
            QTimer.singleShot(_WARM_UP_MS, self, self._warm_up)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: D102, N802
        column = self.column(self._percent)
        if column != self._styles.column:
            self._refit(column)
        with self.reading_on():
            self.place(column)
            super().resizeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: D102, N802
        scrolled = self.verticalScrollBar().value()
        view = QRectF(self.viewport().rect()).translated(0, scrolled)
        first = self.cursorForPosition(QPoint(self.viewport().width() // 2, 0)).position()
        painter = QPainter(self.viewport())
        painter.translate(0, -scrolled)
        painting.paint(painter, self._messages, self._styles, view, first, tint=self._tint)
        painter.end()
        super().paintEvent(event)

    def _on_link(self, url: QUrl) -> None:
        if not url.toString().startswith(ACTION):
            self.link_activated.emit(url.toString())
            return
        message = self._messages[int(url.fragment())]
        action = url.toString().partition("#")[0]
        if not isinstance(message, Reply):
            return
        if action == FOLD:
            message.unfolded = not message.unfolded
            self._show(message)
        elif action == REGENERATE:
            self.regenerate_requested.emit()
        elif action == COPY:
            self._copy(message.answer.text)
        elif action.startswith(COPY_CODE):
            self._copy(message.code(action.removeprefix(COPY_CODE)))

    def _copy(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.copied.emit(text)
