"""A list of rows that scrolls smoothly however many there are."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QWidget

from slipstream.ui.look import Look
from slipstream.ui.widgets.row_painting import RowPainter
from slipstream.ui.widgets.rows import Index, Row, Rows

_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class RowList(QListView):
    """Shows rows; the arrows move, Enter opens, Delete asks for removal.

    Attributes:
        picked: the thing of the row that is selected now; None for none.
        opened: the thing that Enter or a double click was on.
        remove_wanted: the thing that Delete was pressed on.
    """

    picked = Signal(object)
    opened = Signal(object)
    remove_wanted = Signal(object)

    def __init__(self, look: Look, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = Rows(self)
        self._filling = False
        self.setObjectName("rows")
        self.setModel(self._rows)
        self.setItemDelegate(RowPainter(look, self))
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.viewport().setAutoFillBackground(False)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.doubleClicked.connect(self._open)
        self.selectionModel().currentChanged.connect(self._on_current_changed)
        look.changed.connect(self.scheduleDelayedItemsLayout)

    @property
    def rows(self) -> tuple[Row, ...]:
        """What is shown."""
        return self._rows.rows

    @property
    def row(self) -> Row | None:
        """The row that is selected."""
        index = self.currentIndex()
        return self._rows.rows[index.row()] if index.isValid() else None

    @property
    def thing(self) -> object:
        """What the row is about that is selected; None for none."""
        return self.row.thing if self.row else None

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Show other rows; the selection and the place stay, as far as they are still there."""
        before = self.row.key if self.row else ""
        scrolled = self.verticalScrollBar().value()
        self._filling = True
        if self._rows.show_rows(rows):
            self.select(before)
            self.verticalScrollBar().setValue(scrolled)
        self._filling = False
        self.picked.emit(self.thing)

    def enter(self) -> None:
        """Take the keyboard; the first thing is selected if none is."""
        self.setFocus()
        row = self.row or next((each for each in self.rows if not each.heading), None)
        if row is not None:
            self.select(row.key)

    def select(self, key: str) -> None:
        """Select a thing, if it is there."""
        place = self._rows.place_of(key)
        if place is not None:
            self.setCurrentIndex(self._rows.index(place))

    def reveal(self, key: str) -> None:
        """Scroll to a row, if it is there, so that what follows it is in sight."""
        place = self._rows.place_of(key)
        if place is not None:
            self.scrollTo(self._rows.index(place), QAbstractItemView.ScrollHint.PositionAtTop)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: D102, N802
        if event.key() in _ENTER:
            self._open(self.currentIndex())
        elif event.matches(QKeySequence.StandardKey.Delete):
            self._tell(self.remove_wanted, self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _open(self, index: Index) -> None:
        self._tell(self.opened, index)

    def _tell(self, signal: Any, index: Index) -> None:
        if index.isValid() and not self._rows.rows[index.row()].heading:
            signal.emit(self._rows.rows[index.row()].thing)

    def _on_current_changed(self, _now: QModelIndex, _before: QModelIndex) -> None:
        if not self._filling:
            self.picked.emit(self.thing)
