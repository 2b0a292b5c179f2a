"""A field for text that may only be so long."""

from collections.abc import Callable

from PySide6.QtCore import QMimeData, QTimer
from PySide6.QtGui import QFocusEvent, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from slipstream.ui.i18n import tr
from slipstream.ui.widgets.labels import label

_SETTLE_MS = 600


class LimitedText(QPlainTextEdit):
    """Several lines of text, taken over when nothing is typed for a moment, or elsewhere.

    Attributes:
        note: says that something was too long.
    """

    def __init__(self, report: Callable[[str], None], longest: int) -> None:
        """Prepare.

        Args:
            report: gets the text.
            longest: the most characters that it can have.
        """
        super().__init__()
        self._report, self._longest = report, longest
        self._added = (0, 0)
        words = tr("At most {n} characters fit here: what was added last was left out.")
        self.note = label(words.format(n=f"{longest:,}"), "trouble", wrap=True)
        self.note.hide()
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._settle.timeout.connect(self._take_over)
        self.document().contentsChange.connect(self._on_contents)
        self.textChanged.connect(self._on_changed)

    def show_text(self, text: str) -> None:
        """Show a text; one that is being typed stays."""
        if text != self.toPlainText() and not self._settle.isActive():
            self.blockSignals(True)
            self.setPlainText(text)
            self.blockSignals(False)

    def flush(self) -> None:
        """Take over what is being typed."""
        self.note.hide()
        if self._settle.isActive():
            self._settle.stop()
            self._take_over()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: D102, N802
        self.flush()
        super().focusOutEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:  # noqa: N802
        """A long line stops the window when it is laid out, so it is measured before."""
        selected = len(self.textCursor().selectedText())
        if self._excess() - selected + len(source.text()) > 0:
            self.note.show()
        else:
            super().insertFromMimeData(source)

    def _excess(self) -> int:
        """Characters that are too many, in Qt's count: some that people see count as two."""
        return self.document().characterCount() - 1 - self._longest

    def _on_contents(self, place: int, _removed: int, added: int) -> None:
        self._added = (place, place + added)

    def _on_changed(self) -> None:
        too_long = self._excess() > 0
        if too_long:
            self._leave_out()
        else:
            self._settle.start()
        self.note.setVisible(too_long)

    def _leave_out(self) -> None:
        """Take out what was added last."""
        start, end = self._added
        cursor = self.textCursor()
        cursor.setPosition(start)
        last = self.document().characterCount() - 1  # Qt counts the end of the text as added
        cursor.setPosition(min(end, last), QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()

    def _take_over(self) -> None:
        self._report(self.toPlainText())
