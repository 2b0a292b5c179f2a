"""A page to read: one centred column of text that keeps its place while it changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QByteArray, QEvent, QMargins, QMimeData, QRectF, Qt, QUrl
from PySide6.QtGui import (
    QColor,
    QMouseEvent,
    QPalette,
    QTextCursor,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QTextBrowser, QTextEdit, QWidget

from slipstream.ui.theme import Theme
from slipstream.ui.transcript.copying import selected_text
from slipstream.ui.transcript.styles import COLUMN, FAR

SIDE = 24  # least space beside the column, in pixels
_TAB = 32  # pixels at 100 % text size
_NEAR_BOTTOM = 8  # scrolled this close to the end, the view follows new text

_PRESSES = (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick)


class Page(QTextBrowser):
    """Text to read, scroll, select and copy. It loads nothing and opens nothing."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAutoFillBackground(True)
        # Only of an opaque area Qt moves the picture when it scrolls, instead of painting all anew.
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setLineWrapMode(QTextEdit.LineWrapMode.FixedPixelWidth)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._beside = False
        self._change = (0, 0, 0)  # position, characters removed and added by the last edit
        self.document().contentsChange.connect(self._on_contents_changed)
        self.document().documentLayout().update.connect(self._on_text_changed)

    def column(self, percent: int) -> int:
        """The width that the column should have now, in pixels; ``percent`` is the text size."""
        widest = round(COLUMN * percent / 100)
        return max(min(widest, self.width() - 2 * SIDE), 1)

    def place(self, column: int) -> None:
        """Centre a column of this width. Margins of the viewport do it: they need no new layout."""
        if self.lineWrapColumnOrWidth() != column:
            self.setLineWrapColumnOrWidth(column)
        left = (self.width() - column) // 2
        right = self.width() - left - column - self.verticalScrollBar().sizeHint().width()
        margins = QMargins(left, 0, max(right, 0), 0)
        if self.viewportMargins() != margins:
            self.setViewportMargins(margins)

    def empty(self, theme: Theme, percent: int) -> None:
        """Remove all text and take over the look."""
        self._set_palette(theme)
        document = self.document()
        document.clear()
        document.setDocumentMargin(0)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTabStopDistance(_TAB * percent / 100)
        document.setDefaultTextOption(option)
        frame = document.rootFrame().frameFormat()
        frame.setBottomMargin(SIDE)
        document.rootFrame().setFrameFormat(frame)

    @contextmanager
    def editing(self) -> Iterator[None]:
        """Change the document in one step; selection and reading position stay."""
        selected = self.textCursor()
        anchor, position = selected.anchor(), selected.position()
        edit = QTextCursor(self.document())
        with self.reading_on():
            self._change = (0, 0, 0)
            edit.beginEditBlock()
            try:
                yield
            finally:
                edit.endEditBlock()
            self._select(self._moved(anchor), self._moved(position))

    @contextmanager
    def reading_on(self) -> Iterator[None]:
        """Whatever happens: a view at the end stays at the end, any other where it is."""
        bar = self.verticalScrollBar()
        value = bar.value()
        follows = value >= bar.maximum() - _NEAR_BOTTOM
        yield
        bar.setValue(bar.maximum() if follows else value)

    @contextmanager
    def keeping_the_end(self) -> Iterator[None]:
        """Whatever is added above: the view stays as far from the end as it is."""
        bar = self.verticalScrollBar()
        below = bar.maximum() - bar.value()
        yield
        bar.setValue(bar.maximum() - below)

    def is_full(self) -> bool:
        """Whether there is more text than fits into the view."""
        return self.verticalScrollBar().maximum() > 0

    def scroll_to_end(self) -> None:
        """Show the last line."""
        bar = self.verticalScrollBar()
        bar.setValue(bar.maximum())

    def _on_text_changed(self, area: QRectF) -> None:
        """Paint what lies under and around the changed text, too."""
        top = max(area.top() - self.verticalScrollBar().value() - FAR, 0)
        height = min(area.height() + 2 * FAR, self.viewport().height())
        self.viewport().update(0, int(top), self.viewport().width(), int(height))

    def _on_contents_changed(self, position: int, removed: int, added: int) -> None:
        self._change = (position, removed, added)

    def _moved(self, position: int) -> int:
        """Where a position is after the last edit; in the text that changed it stays as it is."""
        start, removed, added = self._change
        after = position > start and position >= start + removed
        return position + added - removed if after else position

    def _select(self, anchor: int, position: int) -> None:
        cursor = self.textCursor()
        if (cursor.anchor(), cursor.position()) == (anchor, position):
            return
        end = self.document().characterCount() - 1
        cursor.setPosition(min(anchor, end))
        cursor.setPosition(min(position, end), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)

    def _set_palette(self, theme: Theme) -> None:
        palette = self.palette()
        for role, colour in (
            (QPalette.ColorRole.Window, theme.page),
            (QPalette.ColorRole.Base, theme.page),
            (QPalette.ColorRole.Text, theme.text),
            (QPalette.ColorRole.Highlight, theme.accent),
            (QPalette.ColorRole.HighlightedText, theme.on_accent),
        ):
            palette.setColor(role, QColor(colour))
        self.setPalette(palette)

    # What Qt calls

    def event(self, event: QEvent) -> bool:  # noqa: D102
        # Beside the column the wheel scrolls and a selection can start, too.
        if isinstance(event, QWheelEvent):
            self.wheelEvent(event)
            return True
        if isinstance(event, QMouseEvent) and self._started_beside(event):
            return self.viewportEvent(self._in_viewport(event))
        return super().event(event)

    def _started_beside(self, event: QMouseEvent) -> bool:
        """Whether a button was pressed beside the column, up to its release."""
        beside = self._beside
        if event.type() in _PRESSES:
            beside = not self.viewport().geometry().contains(event.position().toPoint())
        self._beside = beside and event.type() != QEvent.Type.MouseButtonRelease
        return beside

    def _in_viewport(self, event: QMouseEvent) -> QMouseEvent:
        return QMouseEvent(
            event.type(),
            event.position() - self.viewport().pos().toPointF(),
            event.globalPosition(),
            event.button(),
            event.buttons(),
            event.modifiers(),
        )

    def loadResource(self, _kind: int, _name: QUrl | str) -> QByteArray:  # noqa: D102, N802
        # Nothing is ever loaded. Given None, Qt would read local files by itself.
        return QByteArray(b"")

    def createMimeDataFromSelection(self) -> QMimeData:  # noqa: D102, N802
        data = QMimeData()
        data.setText(selected_text(self.textCursor()))
        return data
