"""Labels in the roles the style sheet knows."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QWidget

from slipstream.ui.look import tabular


def label(text: str, kind: str = "", *, wrap: bool = False) -> QLabel:
    """A label in one role of the style sheet ("muted", "small", "title", ...)."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    if kind:
        made.setProperty("kind", kind)
    if wrap:
        made.setWordWrap(True)
        made.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        made.setMinimumHeight(1)  # else layouts reserve what it would need at its narrowest
    return made


def wear_kind(widget: QWidget, kind: str) -> None:
    """Put a widget in another role of the style sheet."""
    if kind != widget.property("kind"):
        widget.setProperty("kind", kind)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def line() -> QFrame:
    """A thin line between two groups."""
    made = QFrame()
    made.setProperty("kind", "line")
    return made


class Pill(QLabel):
    """A short fact in a rounded box; hidden while it has nothing to say."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("kind", "pill")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setVisible(False)

    def show_text(self, text: str) -> None:
        """Show ``text``."""
        self.setText(text)
        self.setVisible(bool(text))


class KeyValue(QWidget):
    """A named number: the name on the left, the number with tabular digits on the right."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._value = label("", "value")
        self._rest = label("", "value-faint")
        for each in (self._value, self._rest):
            each.setFont(tabular(each.font()))
        self._name = name
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 3, 0, 3)
        row.setSpacing(4)
        row.addWidget(label(name, "muted"))
        row.addStretch()
        row.addWidget(self._value)
        row.addWidget(self._rest)
        self.show_value("")

    @property
    def text(self) -> str:
        """What stands on the right."""
        return f"{self._value.text()} {self._rest.text()}".strip()

    def show_value(self, value: str, rest: str = "") -> None:
        """Show ``value`` and, paler, ``rest``; a dash where there is no value."""
        self._value.setText(value or "–")
        self._rest.setText(rest)
        self._rest.setVisible(bool(rest))
        self.setAccessibleName(f"{self._name}: {self.text}")
