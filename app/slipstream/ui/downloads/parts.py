"""Small things that the tray and the list are made of."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QProgressBar, QSizePolicy

from slipstream.ui.look import tabular
from slipstream.ui.widgets.labels import label

_FINE = 1000


def words_label(kind: str) -> QLabel:
    """A label of several lines whose digits do not dance."""
    made = label("", kind, wrap=True)
    made.setFont(tabular(made.font()))
    return made


def numbers_label(kind: str) -> QLabel:
    """A label whose digits do not dance."""
    made = label("", kind)
    made.setFont(tabular(made.font()))
    return made


class Name(QLabel):
    """One line of text that is cut in its middle where there is no room; the tip has all of it."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("kind", kind)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_text(self, text: str) -> None:
        """Show ``text``."""
        if text != self.text():
            self.setText(text)
            self.setToolTip(text)

    def sizeHint(self) -> QSize:  # noqa: D102, N802
        return QSize(self.fontMetrics().horizontalAdvance(self.text()), self.fontMetrics().height())

    def minimumSizeHint(self) -> QSize:  # noqa: D102, N802
        return QSize(0, self.fontMetrics().height())

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: D102, N802
        metrics = self.fontMetrics()
        shown = metrics.elidedText(self.text(), Qt.TextElideMode.ElideMiddle, self.width())
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        with QPainter(self) as painter:
            painter.drawText(self.rect(), flags, shown)


class Bar(QProgressBar):
    """How much is there; it is read as words."""

    def __init__(self) -> None:
        super().__init__()
        self.setTextVisible(False)
        self.setRange(0, _FINE)

    def show_share(self, done: int, total: int, spoken: str) -> None:
        """Show a share, and what a screen reader says of it."""
        self.setValue(done * _FINE // total if total else _FINE)
        self.setAccessibleDescription(spoken)
