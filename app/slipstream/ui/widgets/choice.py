"""A button that shows the present choice and opens the menu of all of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QWidget

from slipstream.ui import icons
from slipstream.ui.look import Look
from slipstream.ui.widgets.choice_menu import ChoiceMenu
from slipstream.ui.widgets.eliding_button import ElidingButton


@dataclass(frozen=True)
class Option:
    """One of the values there are.

    Attributes:
        value: what is reported.
        title: its name for people.
        detail: what it means, in a line; empty if the name says it.
    """

    value: str
    title: str
    detail: str = ""


class ChoiceButton(ElidingButton):
    """One of several values.

    Attributes:
        chosen: emitted with the value the user chose, if it is another one.
    """

    chosen = Signal(str)

    def __init__(
        self, name: str, look: Look, *, kind: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._name = name
        self._options: tuple[Option, ...] = ()
        self.value = ""
        if kind:
            self.setProperty("kind", kind)
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the chevron after the words
        icons.wear(self, "chevron-down", look, role="text_muted", size=14)
        self._menu = ChoiceMenu(look, self)
        self.setMenu(self._menu)

    def show_choices(self, options: Sequence[Option], value: str) -> None:
        """Offer ``options`` with ``value`` chosen."""
        if tuple(options) != self._options:
            self._options = tuple(options)
            self._fill()
        self.show_value(value)

    def show_value(self, value: str) -> None:
        """Show ``value`` as chosen, without telling anybody."""
        self.value = value
        shown = next((each for each in self._options if each.value == value), Option(value, value))
        self.setToolTip(shown.detail)
        self.show_words(shown.title)
        for action in self._menu.actions():
            action.setChecked(action.data() == value)

    def show_words(self, words: str) -> None:
        """Show other words than the title of what is chosen."""
        self.setText(words)
        self.setAccessibleName(f"{self._name}: {words}")

    def _fill(self) -> None:
        self._menu.clear()
        group = QActionGroup(self._menu)
        for each in self._options:
            action = self._menu.addAction(each.title)
            action.setStatusTip(each.detail)
            action.setCheckable(True)
            action.setData(each.value)
            action.triggered.connect(lambda _on, v=each.value: self._on_chosen(v))
            group.addAction(action)

    def _on_chosen(self, value: str) -> None:
        if value != self.value:
            self.show_value(value)
            self.chosen.emit(value)
