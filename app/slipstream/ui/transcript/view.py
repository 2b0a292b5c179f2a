"""The chat as it is read: one text document that grows with the conversation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from PySide6.QtCore import QPoint, QRectF, QTimer, QUrl, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from slipstream.engine.events import Piece
from slipstream.ui.i18n import tr
from slipstream.ui.theme import LIGHT, Theme
from slipstream.ui.transcript import painting
from slipstream.ui.transcript.builder import COPY_CODE
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

_SLICE = 1000  # characters that are read and written in about half a frame
_LEAST = 100  # of them, what a message costs however short it is


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
        self._left = 0  # the first messages, so many, are not written yet, or not completely
        self._filling = False
        self._next_slice = QTimer(self, singleShot=True, interval=0)
        self._next_slice.timeout.connect(self._write_slice)
        self._rebuild()

    # What is shown

    def clear(self) -> None:
        """Remove all messages."""
        self._messages = []
        self._left = 0
        self._rebuild()

    @contextmanager
    def filling(self) -> Iterator[None]:
        """Fill the empty page: the end is shown at once, what is before it little by little."""
        self._filling = True
        try:
            yield
        finally:
            self._filling = False
            self._left = len(self._messages)
            self._write_slice()
            self.scroll_to_end()

    def add_user(self, text: str) -> None:
        """Add what the user wrote, and show it."""
        self.set_actions(regenerate=False)
        self._add(UserMessage(len(self._messages), text=text))
        self.scroll_to_end()

    def add_notice(self, text: str) -> None:
        """Add a muted line, such as "The model was changed"."""
        self._add(Notice(len(self._messages), text=text))

    def change_notice(self, text: str) -> None:
        """Say something else in the last muted line."""
        notice = next((each for each in reversed(self._messages) if isinstance(each, Notice)), None)
        if notice is not None:
            notice.text = text
            self._show(notice)

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

    def set_actions(self, regenerate: bool) -> None:
        """Whether the last reply offers to be made anew, or a last question to be answered."""
        turns = (each for each in reversed(self._messages) if isinstance(each, Reply | UserMessage))
        last = next(turns, None)
        if last is not None and last.can_regenerate != regenerate:
            last.can_regenerate = regenerate
            self._show(last)

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
        if self._filling:
            return
        if message.number >= self._left:
            message.read(message.unread)
        with self.editing():
            self._write(message)

    def _write(self, message: Message) -> None:
        number = message.number
        before = self._messages[number - 1].entries if number else []
        after = self._messages[number + 1].entries if number + 1 < len(self._messages) else []
        previous = before[-1] if before else self._start
        self._writer.update(message.entries, message.blocks(), previous, number)
        if after:
            self._writer.space_again(after[0], message.entries[-1], starts=True)

    def _write_slice(self) -> None:
        """Write some of the messages that are left, the newest first."""
        bar = self.verticalScrollBar()
        below = bar.maximum() - bar.value()
        room = _SLICE
        with self.editing():
            while self._left and room > 0:
                message = self._messages[self._left - 1]
                unread = message.unread
                message.read(room)
                self._write(message)
                room -= unread + _LEAST
                if not message.unread:
                    self._left -= 1
        bar.setValue(bar.maximum() - below)
        if self._left:
            self._next_slice.start()

    @property
    def _written(self) -> list[Message]:
        return [message for message in self._messages if message.entries]

    def _rebuild(self) -> None:
        """Write everything anew: the look changed."""
        written = self._written
        with self.reading_on():
            for message in written:
                message.entries = []
            self._styles = Styles(self._theme, self._percent, self.column(self._percent))
            self.empty(self._theme, self._percent)
            self.place(self.column(self._percent))
            self._writer = Writer(self.document(), self._styles)
            with self.editing():
                self._start = self._writer.start()
                for message in written:
                    self._write(message)

    def _refit(self, column: int) -> None:
        """Take over a new width of the column."""
        self._styles.column = column
        before = self._start
        with self.editing():
            for message in self._written:
                self._writer.refit(message.entries, before)
                before = message.entries[-1]

    # What Qt calls

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: D102, N802
        column = self.column(self._percent)
        if column != self._styles.column:
            self._refit(column)
        with self.reading_on():
            self.place(column)
            super().resizeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: D102, N802
        scrolled = self.verticalScrollBar().value()
        area = event.rect()
        view = QRectF(area).translated(0, scrolled)
        first = self.cursorForPosition(QPoint(self.viewport().width() // 2, area.top())).position()
        # Ended also if painting fails: Qt ends the process if a painter outlives its event.
        with QPainter(self.viewport()) as painter:
            painter.fillRect(area, QColor(self._theme.page))
            painter.translate(0, -scrolled)
            painting.paint(painter, self._written, self._styles, view, first, tint=self._tint)
        super().paintEvent(event)

    def _on_link(self, url: QUrl) -> None:
        if not url.toString().startswith(ACTION):
            self.link_activated.emit(url.toString())
            return
        message = self._messages[int(url.fragment())]
        action = url.toString().partition("#")[0]
        if action == REGENERATE:
            self.regenerate_requested.emit()
        elif not isinstance(message, Reply):
            return
        elif action == FOLD:
            message.unfolded = not message.unfolded
            self._show(message)
        elif action == COPY:
            self._copy(message.answer.text)
        elif action.startswith(COPY_CODE):
            self._copy(message.code(action.removeprefix(COPY_CODE)))

    def _copy(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.copied.emit(text)
