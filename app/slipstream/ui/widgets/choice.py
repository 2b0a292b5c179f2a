"""A button that shows the present choice and opens the menu of all of them."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from slipstream.ui import icons
from slipstream.ui.look import Look


class ChoiceButton(QPushButton):
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
        self._titles: dict[str, str] = {}
        self.value = ""
        if kind:
            self.setProperty("kind", kind)
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the chevron after the words
        icons.wear(self, "chevron-down", look, role="text_muted", size=14)
        self._menu = QMenu(self)
        self._menu.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self.setMenu(self._menu)

    def show_choices(self, choices: Sequence[tuple[str, str]], value: str) -> None:
        """Offer ``choices`` (value, title) with ``value`` chosen."""
        self._titles = dict(choices)
        self._menu.clear()
        group = QActionGroup(self._menu)
        for each, title in choices:
            action = self._menu.addAction(title)
            action.setCheckable(True)
            action.setChecked(each == value)
            action.setData(each)
            action.triggered.connect(lambda _on, v=each: self._on_chosen(v))
            group.addAction(action)
        self.show_value(value)

    def show_value(self, value: str) -> None:
        """Show ``value`` as chosen, without telling anybody."""
        self.value = value
        title = self._titles.get(value, value)
        self.setText(title)
        self.setAccessibleName(f"{self._name}: {title}")
        for action in self._menu.actions():
            action.setChecked(action.data() == value)

    def _on_chosen(self, value: str) -> None:
        if value != self.value:
            self.show_value(value)
            self.chosen.emit(value)
