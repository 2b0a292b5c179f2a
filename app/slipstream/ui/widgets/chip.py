"""A small button in the form of a pill, whose words are shortened where there is no room."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QStyleOptionButton

_SIDES = 22  # pixels beside the words, as in the style sheet


class Chip(QPushButton):
    """A choice among some that stand beside each other."""

    def initStyleOption(self, option: QStyleOptionButton) -> None:  # noqa: D102, N802
        super().initStyleOption(option)
        room = self.width() - _SIDES
        metrics = self.fontMetrics()
        if metrics.horizontalAdvance(self.text()) > room:
            option.text = metrics.elidedText(self.text(), Qt.TextElideMode.ElideMiddle, room)
