"""Words with buttons beside them, or below where the buttons would leave the words no room."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QLayout, QWidget

_LINE = 40
"""Characters that the words keep for a line."""


class Beside(QBoxLayout):
    """The words first, then the buttons; ``fit`` is called whenever the room changes."""

    def __init__(self, words: QLayout | QWidget, buttons: QLayout | QWidget, *, gap: int) -> None:
        """Prepare.

        Args:
            words: what is to be read.
            buttons: what can be pressed.
            gap: pixels between the two.
        """
        super().__init__(QBoxLayout.Direction.LeftToRight)
        self._buttons = buttons
        self.setSpacing(gap)
        for part, stretch in ((words, 1), (buttons, 0)):
            if isinstance(part, QLayout):
                self.addLayout(part, stretch)
            else:
                self.addWidget(part, stretch)
        self.setAlignment(buttons, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)

    def fit(self, widget: QWidget) -> None:
        """Choose where the buttons stand, in the width and the font of ``widget``."""
        room = widget.width() - self._buttons.sizeHint().width()
        beside = room > _LINE * widget.fontMetrics().averageCharWidth()
        direction = QBoxLayout.Direction
        self.setDirection(direction.LeftToRight if beside else direction.TopToBottom)
