"""Where the user writes: a field that grows, and the buttons below it."""

from PySide6.QtCore import QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPaintEvent, QTextCursor
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from slipstream.ui import icons, pasted
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look, tabular
from slipstream.words import count

_MOST_LINES = 8
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class MessageField(QPlainTextEdit):
    """A text field that is as high as its text, up to a limit.

    Attributes:
        entered: the keys that send were pressed.
        focused: it got or lost the keyboard.
    """

    entered = Signal()
    focused = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("message")
        self.send_with_enter = True
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(2)
        self._sign = pasted.PastedSign(self.document())
        self.document().documentLayout().documentSizeChanged.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:  # noqa: D102, N802
        lines = max(1, min(_MOST_LINES, int(self.document().size().height())))
        return QSize(200, self.fontMetrics().lineSpacing() * lines + 10)

    def minimumSizeHint(self) -> QSize:  # noqa: D102, N802
        return QSize(80, self.sizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: D102, N802
        if event.key() in _ENTER and self._sends(event.modifiers()):
            self.entered.emit()
        elif event.key() in _ENTER and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.insertPlainText("\n")
        else:
            super().keyPressEvent(event)

    @property
    def message(self) -> str:
        """What is to be sent: the text without space around it, pasted signs as their texts."""
        cursor = self.textCursor()
        cursor.select(QTextCursor.SelectionType.Document)
        parts = pasted.selected_parts(cursor)
        parts[0] = parts[0].lstrip()
        parts[-1] = parts[-1].rstrip()
        return "".join(parts)

    def insert(self, text: str) -> None:
        """Insert text in place of the selection; where lines are very long, as a sign."""
        pasted.insert(self.textCursor(), text)
        self.ensureCursorVisible()

    def put_before(self, text: str) -> None:
        """Insert text, as a line of its own, before what is written already."""
        self.moveCursor(QTextCursor.MoveOperation.Start)
        self.insert(text if self.document().isEmpty() else f"{text}\n")

    def insertFromMimeData(self, source: QMimeData) -> None:  # noqa: D102, N802
        self.insert(source.text())

    def createMimeDataFromSelection(self) -> QMimeData:  # noqa: D102, N802
        data = QMimeData()
        data.setText("".join(pasted.selected_parts(self.textCursor())))
        return data

    def canInsertFromMimeData(self, source: QMimeData) -> bool:  # noqa: D102, N802
        # Files are for the window, which opens models.
        return not source.hasUrls() and super().canInsertFromMimeData(source)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: D102, N802
        super().focusInEvent(event)
        self.focused.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: D102, N802
        super().focusOutEvent(event)
        self.focused.emit(False)

    def _sends(self, modifiers: Qt.KeyboardModifier) -> bool:
        pressed = modifiers & ~Qt.KeyboardModifier.KeypadModifier
        if pressed == Qt.KeyboardModifier.ControlModifier:
            return True
        return self.send_with_enter and pressed == Qt.KeyboardModifier.NoModifier


class _Counter(QLabel):
    """Counts tokens; where there is no room for all of its text it shows nothing."""

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        if self.width() >= self.sizeHint().width():
            super().paintEvent(event)


class Composer(QFrame):
    """Writes and sends, or stops what runs.

    Attributes:
        sent: the text to send.
        stop_wanted: the user wants the reply to stop.
        tint_toggled: whether drafted tokens are to be tinted.
    """

    sent = Signal(str)
    stop_wanted = Signal()
    tint_toggled = Signal(bool)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self.setCursor(Qt.CursorShape.IBeamCursor)
        self._busy = False
        self.field = MessageField()
        self.field.setAccessibleName(tr("Message"))
        self.field.entered.connect(self._on_entered)
        self.field.textChanged.connect(self._refresh)
        self.field.focused.connect(self._on_focused)
        self.tint = QPushButton(tr("Show drafted tokens"))
        self.tint.setProperty("kind", "pill")
        self.tint.setCheckable(True)
        self.tint.setCursor(Qt.CursorShape.PointingHandCursor)
        self.tint.setToolTip(tr("Tint the text that the drafter proposed and the model accepted"))
        self.tint.toggled.connect(self.tint_toggled)
        self._used = _Counter()
        self._used.setProperty("kind", "faint")
        self._used.setFont(tabular(self._used.font()))
        self._send = QPushButton(tr("Send"))
        self._send.setProperty("kind", "primary")
        self._send.setToolTip(tr("Send (Enter)"))
        self._send.setCursor(Qt.CursorShape.ArrowCursor)
        self._send.clicked.connect(self._on_entered)
        self._stop = QPushButton(tr("Stop  Esc"))
        self._stop.setAccessibleName(tr("Stop the reply"))
        self._stop.setToolTip(tr("Stop the reply (Esc)"))
        self._stop.setCursor(Qt.CursorShape.ArrowCursor)
        icons.wear(self._stop, "stop", look, role="text", size=12)
        self._stop.clicked.connect(self.stop_wanted)
        self._lay_out()
        self._refresh()

    def minimumSizeHint(self) -> QSize:  # noqa: D102, N802
        hint = super().minimumSizeHint()
        if self._busy:
            return hint
        self._stop.ensurePolished()  # it has to fit too, though it was perhaps never shown
        wider = self._stop.sizeHint().width() - self._send.sizeHint().width()
        return QSize(hint.width() + max(0, wider), hint.height())

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: D102, N802
        super().mousePressEvent(event)
        self.field.setFocus(Qt.FocusReason.MouseFocusReason)

    def show_busy(self, busy: bool) -> None:
        """Offer Stop while a reply runs or waits, otherwise Send."""
        self._busy = busy
        self._refresh()

    def show_model(self, name: str) -> None:
        """Name the model in the empty field."""
        self.field.setPlaceholderText(tr("Message {model}").format(model=name))
        self.field.viewport().update()  # Qt repaints it only when the text comes or goes

    def show_context(self, used: int, total: int | None) -> None:
        """Show how much of the context is used; nothing while no model is loaded."""
        self._used.setVisible(total is not None)
        if total is not None:
            self._used.setText(f"{count(used)} / {count(total)}")
            words = tr("{used} of {total} tokens of context used")
            self._used.setAccessibleName(words.format(used=count(used), total=count(total)))

    def show_reading(self, done: int, total: int) -> None:
        """Show how far the prompt was read; the next ``show_context`` takes its place."""
        words = tr("Reading {done} of {total}")
        self._used.setText(words.format(done=count(done), total=count(total)))

    def _on_entered(self) -> None:
        text = self.field.message
        if text and not self._busy:
            self.field.clear()
            self.sent.emit(text)

    def _on_focused(self, focused: bool) -> None:
        self.setProperty("active", focused)
        self.style().unpolish(self)
        self.style().polish(self)

    def _refresh(self) -> None:
        self._stop.setVisible(self._busy)
        self._send.setVisible(not self._busy)
        self._send.setEnabled(bool(self.field.toPlainText().strip()))

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addWidget(self.tint)
        row.addStretch()
        row.addWidget(self._used)
        row.addWidget(self._send)
        row.addWidget(self._stop)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 14, 12)
        column.setSpacing(10)
        column.addWidget(self.field)
        column.addLayout(row)
