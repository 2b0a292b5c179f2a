"""A button whose words are shortened where there is no room for all of them."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QPushButton, QStyleOptionButton

_SIDES = 22  # pixels beside the words, as in the style sheet
_ICON_GAP = 6


class ElidingButton(QPushButton):
    """Takes the width that it gets."""

    _short = False  # of room, while it is painted; its size is asked for the whole text

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: D102, N802
        self._short = self.width() < self.sizeHint().width()
        super().paintEvent(event)
        self._short = False

    def initStyleOption(self, option: QStyleOptionButton) -> None:  # noqa: D102, N802
        super().initStyleOption(option)
        if self._short:
            icon = 0 if self.icon().isNull() else self.iconSize().width() + _ICON_GAP
            room = self.width() - _SIDES - icon
            middle = Qt.TextElideMode.ElideMiddle
            option.text = self.fontMetrics().elidedText(self.text(), middle, room)
