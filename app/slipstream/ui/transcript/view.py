"""The chat as it is read: one text document that grows with the conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from PySide6.QtCore import QPoint, QRectF, QUrl, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from slipstream.engine.events import Piece
from slipstream.ui.i18n import tr
from slipstream.ui.theme import Theme
from slipstream.ui.transcript.blocks import ACTION
from slipstream.ui.transcript.code_blocks import COPY_CODE
from slipstream.ui.transcript.copied_sign import CopiedSign
from slipstream.ui.transcript.filling import Filler
from slipstream.ui.transcript.message import (
    COPY,
    REGENERATE,
    Message,
    Notice,
    Reply,
    UserMessage,
)
from slipstream.ui.transcript.page import Page
from slipstream.ui.transcript.painting import paint
from slipstream.ui.transcript.sheet import Sheet
from slipstream.ui.transcript.thought import FOLD, Thought
from slipstream.ui.work import Work


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

    def __init__(self, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Conversation"))
        self.anchorClicked.connect(self._on_link)
        self._tint = False
        self._sheet = Sheet(self)
        self._filler = Filler(self, self._sheet, work)
        self._filling = False
        self._copied_sign = CopiedSign(self._sheet, self)

    # What is shown

    def clear(self) -> None:
        """Remove all messages."""
        self._filler.stop()
        self._copied_sign.remove()
        self._sheet.clear()

    @contextmanager
    def filling(self) -> Iterator[None]:
        """Fill the empty page: the end is shown first, what is before it little by little."""
        self._filling = True
        try:
            yield
        finally:
            self._filling = False
            self._filler.fill()

    def add_user(self, text: str) -> None:
        """Add what the user wrote, and show it."""
        self.set_actions(regenerate=False)
        self._add(UserMessage(self._number, text=text))
        self.scroll_to_end()

    def add_notice(self, text: str) -> None:
        """Add a muted line, such as "The model was changed"."""
        self._add(Notice(self._number, text=text))

    def change_notice(self, text: str) -> None:
        """Say something else in the last muted line."""
        notices = (each for each in reversed(self._sheet.messages) if isinstance(each, Notice))
        notice = next(notices, None)
        if notice is not None:
            notice.text = text
            self._sheet.show(notice)

    def add_reply(
        self,
        text: str,
        *,
        reasoning: str = "",
        spans: Iterable[tuple[int, bool]] = (),
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
        reply = Reply(self._number, thought=Thought(reasoning, seconds_thinking), note=note)
        reply.add_text(text, spans)
        self._add(reply)

    def begin_reply(self) -> None:
        """Add an empty reply that will be written while it is read."""
        self.set_actions(regenerate=False)
        self._add(Reply(self._number, streaming=True))

    def append(self, pieces: Sequence[Piece]) -> None:  # type: ignore[override]
        """Write more of the reply that was begun."""
        reply = self._sheet.last_reply()
        if reply is None or not reply.streaming:
            return
        reply.add_pieces(pieces)
        self._sheet.show(reply)

    def finish_reply(self, note: str) -> None:
        """The reply is complete; ``note`` becomes its speed line."""
        reply = self._sheet.last_reply()
        if reply is not None:
            reply.finish(note)
            self._sheet.show(reply)

    def set_actions(self, regenerate: bool) -> None:
        """Whether the last reply offers to be made anew, or a last question to be answered."""
        last = self._sheet.last_turn()
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
        self._sheet.apply_theme(theme)

    def set_text_size(self, percent: int) -> None:
        """Take over the text size; 100 is normal."""
        self._sheet.set_text_size(percent)

    # What it holds

    def current_text(self) -> str:
        """The Markdown of the last reply."""
        reply = self._sheet.last_reply()
        return reply.answer.text if reply else ""

    def current_reasoning(self) -> str:
        """The thinking of the last reply."""
        reply = self._sheet.last_reply()
        return reply.thought.text if reply else ""

    def current_spans(self) -> list[tuple[int, bool]]:
        """Run lengths over ``current_text()``, True where the drafter supplied it."""
        reply = self._sheet.last_reply()
        return reply.spans() if reply else []

    def seconds_thinking(self) -> float | None:
        """How long the last reply was thought about, in seconds; None if it was not."""
        reply = self._sheet.last_reply()
        return reply.thought.seconds if reply else None

    @property
    def filled(self) -> bool:
        """Whether all messages are on the page, also after ``filling``."""
        return not self._sheet.left

    def plain_text(self) -> str:
        """All text on the page, a line for each block."""
        return self.toPlainText().strip("\n")

    # Inside

    @property
    def _number(self) -> int:
        """Of the next message."""
        return len(self._sheet.messages)

    def _add(self, message: Message) -> None:
        self._sheet.messages.append(message)
        self._show(message)

    def _show(self, message: Message) -> None:
        if not self._filling:
            self._sheet.show(message)

    # What Qt calls

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: D102, N802
        with self.reading_on():
            self._sheet.fit()
            super().resizeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: D102, N802
        scrolled = self.verticalScrollBar().value()
        area = event.rect()
        view = QRectF(area).translated(0, scrolled)
        first = self.cursorForPosition(QPoint(self.viewport().width() // 2, area.top())).position()
        sheet = self._sheet
        # Ended also if painting fails: Qt ends the process if a painter outlives its event.
        with QPainter(self.viewport()) as painter:
            painter.fillRect(area, QColor(sheet.theme.page))
            painter.translate(0, -scrolled)
            messages, written = sheet.messages, sheet.written
            paint(painter, messages, written, sheet.styles, view, first, tint=self._tint)
        super().paintEvent(event)

    def _on_link(self, url: QUrl) -> None:
        if not url.toString().startswith(ACTION):
            self.link_activated.emit(url.toString())
            return
        message = self._sheet.messages[int(url.fragment())]
        action = url.toString().partition("#")[0]
        if action == REGENERATE:
            self.regenerate_requested.emit()
        elif not isinstance(message, Reply):
            return
        elif action == FOLD:
            message.fold()
            self._sheet.show(message)
        elif action == COPY:
            self._copy(message.answer.text, message, action)
        elif action.startswith(COPY_CODE):
            self._copy(message.code(action.removeprefix(COPY_CODE)), message, action)

    def _copy(self, text: str, reply: Reply, address: str) -> None:
        cursor = self.textCursor()
        if cursor.charFormat().isAnchor():  # Qt selects a link that is chosen
            cursor.clearSelection()
            self.setTextCursor(cursor)
        QGuiApplication.clipboard().setText(text)
        self._copied_sign.show(reply, address)
        self.copied.emit(text)
