"""The list of models on the left: names, owners, and what is known of each in pills."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from slipstream.ui.look import Look
from slipstream.ui.widgets.row_list import RowList
from slipstream.ui.widgets.rows import ROW, Index, Row

_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class Results(RowList):
    """The list; a model is chosen by a click or Enter, not by moving to it: looking takes time.

    Attributes:
        chosen: the key of the model the user wants to see.
        end_near: the end of the list is in sight, or nearly.
    """

    chosen = Signal(str)
    end_near = Signal()

    def __init__(self, look: Look, name: str, parent: QWidget | None = None) -> None:
        super().__init__(look, name, parent)
        self.clicked.connect(self._on_chosen)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.verticalScrollBar().rangeChanged.connect(self._on_range_changed)

    @property
    def has_room(self) -> bool:
        """Whether all of it is in sight, so that nobody can scroll to its end."""
        self.executeDelayedItemsLayout()
        return self.verticalScrollBar().maximum() == 0

    def show_entries(self, entries: Sequence[Row], current: str = "") -> None:
        """Show these models, with the one that is looked at marked."""
        self.show_rows(entries)
        if current in (each.key for each in entries):
            if self.row is None or self.row.key != current:
                self.select(current)
        elif not self.hasFocus():  # else it is the row at which the keyboard is
            self.clearSelection()

    def names(self) -> list[str]:
        """The names that it shows."""
        return [each.title for each in self.rows]

    def choose(self, key: str) -> None:
        """Choose a model as a click does."""
        self.select(key)
        self._on_chosen(self.currentIndex())

    def _on_chosen(self, index: Index) -> None:
        if index.isValid():
            self.chosen.emit(index.data(ROW).key)

    def _on_scrolled(self, at: int) -> None:
        bar = self.verticalScrollBar()
        if at >= bar.maximum() - bar.pageStep():
            self.end_near.emit()

    def _on_range_changed(self, _first: int, last: int) -> None:
        if last == 0:  # it became taller
            self.end_near.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: D102, N802
        if event.key() in _ENTER:
            self._on_chosen(self.currentIndex())
        else:
            super().keyPressEvent(event)
