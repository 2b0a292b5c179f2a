"""What the rows of a list say, decided before anything is painted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QWidget

from slipstream.words import Tone

ROW = Qt.ItemDataRole.UserRole
"""Where the list keeps a row."""

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


@dataclass(frozen=True)
class Pill:
    """A short fact, and what colours it has."""

    words: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True)
class Row:
    """One row.

    Attributes:
        key: the same for the same thing in the next list.
        title: its name.
        detail: a line about it; empty for none.
        pills: what is known of it, and what is unusual.
        amount: on the right: its size.
        note: below that: where it is, when it was used.
        thing: what it is about.
        heading: it is the name of what follows, and cannot be selected.
    """

    key: str
    title: str
    detail: str = ""
    pills: tuple[Pill, ...] = ()
    amount: str = ""
    note: str = ""
    thing: object = None
    heading: bool = False

    @property
    def spoken(self) -> str:
        """All of it in one line, for a screen reader."""
        said = (self.title, self.detail, *(pill.words for pill in self.pills))
        return ", ".join(filter(None, (*said, self.amount, self.note)))


class Rows(QAbstractListModel):
    """The rows, as Qt's lists ask for them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[Row, ...] = ()

    def show_rows(self, rows: Sequence[Row]) -> bool:
        """Take over other rows; those that are new at the end leave the others in their places.

        Returns: whether their places are other ones, too.
        """
        new, old = tuple(rows), self.rows
        if [each.key for each in new[: len(old)]] != [each.key for each in old]:
            self.beginResetModel()
            self.rows = new
            self.endResetModel()
            return True
        self.rows = new[: len(old)]
        if old and self.rows != old:
            self.dataChanged.emit(self.index(0), self.index(len(old) - 1))
        if len(new) > len(old):
            self.beginInsertRows(QModelIndex(), len(old), len(new) - 1)
            self.rows = new
            self.endInsertRows()
        return False

    def place_of(self, key: str) -> int | None:
        """Where a thing stands."""
        return next((i for i, row in enumerate(self.rows) if row.key == key), None)

    def rowCount(self, parent: Index = _ROOT) -> int:  # noqa: D102, N802
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: D102
        row = self.rows[index.row()]
        if role == ROW:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.title
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            return row.spoken
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:  # noqa: D102
        if self.rows[index.row()].heading:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
