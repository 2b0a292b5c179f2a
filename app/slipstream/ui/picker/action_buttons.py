"""The buttons for what can be done with a quantization."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from slipstream.ui.picker.actions import Action
from slipstream.ui.widgets.labels import wear_kind

_MOST = 2


class ActionButtons(QWidget):
    """One button for each thing, the first one first.

    Attributes:
        pressed: what the user wants to do: a ``What``.
    """

    pressed = Signal(object)

    def __init__(self, kind: str, parent: QWidget | None = None) -> None:
        """Prepare.

        Args:
            kind: of the first button, in the style sheet; the others are outlined.
            parent: as Qt has it.
        """
        super().__init__(parent)
        self._actions: Sequence[Action] = ()
        self.buttons = [QPushButton() for _ in range(_MOST)]
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for number, button in reversed(list(enumerate(self.buttons))):
            button.setProperty("kind", "outline")
            button.clicked.connect(partial(self._on_pressed, number))
            row.addWidget(button)
        self.wear(kind)

    def wear(self, kind: str) -> None:
        """Put the first button into another role of the style sheet."""
        wear_kind(self.buttons[0], kind)

    def show_actions(self, actions: Sequence[Action]) -> None:
        """Offer these."""
        self._actions = actions
        for number, button in enumerate(self.buttons):
            there = number < len(actions)
            button.setVisible(there)
            if there:
                button.setText(actions[number].words)

    def words(self) -> list[str]:
        """What the buttons say."""
        return [action.words for action in self._actions]

    def press(self, number: int = 0) -> None:
        """Press a button."""
        self.buttons[number].click()

    def _on_pressed(self, number: int, _on: bool = False) -> None:
        self.pressed.emit(self._actions[number].what)
