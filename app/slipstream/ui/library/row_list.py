"""A list of rows that scrolls smoothly however many there are."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QWidget

from slipstream.ui.library.row_painting import ROW, RowPainter
from slipstream.ui.library.rows import Row, Thing
from slipstream.ui.look import Look

_Index = QModelIndex | QPersistentModelIndex
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_ROOT = QModelIndex()


class Rows(QAbstractListModel):
    """The rows, as Qt's lists ask for them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[Row, ...] = ()

    def show_rows(self, rows: Sequence[Row]) -> bool:
        """Take over other rows; whether their places are other ones, too."""
        new = tuple(rows)
        if [each.key for each in new] == [each.key for each in self.rows]:
            self.rows = new
            if new:
                self.dataChanged.emit(self.index(0), self.index(len(new) - 1))
            return False
        self.beginResetModel()
        self.rows = new
        self.endResetModel()
        return True

    def place_of(self, key: str) -> int | None:
        """Where a thing stands."""
        return next((i for i, row in enumerate(self.rows) if row.key == key), None)

    def rowCount(self, parent: _Index = _ROOT) -> int:  # noqa: D102, N802
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: D102
        row = self.rows[index.row()]
        if role == ROW:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.title
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            return row.spoken
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:  # noqa: D102
        if self.rows[index.row()].thing is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


class RowList(QListView):
    """Shows rows; the arrows move, Enter opens, Delete asks for removal.

    Attributes:
        picked: the Thing that is selected now; None for none.
        opened: the Thing that Enter or a double click was on.
        remove_wanted: the Thing that Delete was pressed on.
    """

    picked = Signal(object)
    opened = Signal(object)
    remove_wanted = Signal(object)

    def __init__(self, look: Look, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = Rows(self)
        self._filling = False
        self.setModel(self._rows)
        self.setItemDelegate(RowPainter(look, self))
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.viewport().setAutoFillBackground(False)
        self.setStyleSheet("QListView { background: transparent; border: none; outline: none; }")
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.doubleClicked.connect(lambda index: self._tell(self.opened, index))
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
    def thing(self) -> Thing | None:
        """What is selected."""
        return self.row.thing if self.row else None

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Show other rows; the selection and the place stay, as far as they are still there."""
        before = self.row.key if self.row else ""
        scrolled = self.verticalScrollBar().value()
        self._filling = True
        moved = self._rows.show_rows(rows)
        if moved:
            place = self._rows.place_of(before)
            if place is not None:
                self.setCurrentIndex(self._rows.index(place))
            self.verticalScrollBar().setValue(scrolled)
        self._filling = False
        self.picked.emit(self.thing)

    def select(self, key: str) -> None:
        """Select a thing, if it is there."""
        place = self._rows.place_of(key)
        if place is not None:
            self.setCurrentIndex(self._rows.index(place))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: D102, N802
        if event.key() in _ENTER:
            self._tell(self.opened, self.currentIndex())
        elif event.matches(QKeySequence.StandardKey.Delete):
            self._tell(self.remove_wanted, self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _tell(self, signal: Any, index: _Index) -> None:
        if index.isValid() and self._rows.rows[index.row()].thing is not None:
            signal.emit(self._rows.rows[index.row()].thing)

    def _on_current_changed(self, _now: QModelIndex, _before: QModelIndex) -> None:
        if not self._filling:
            self.picked.emit(self.thing)
