"""The list of models on the left: names, owners, and what is known of each in pills."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from slipstream.ui.look import Look

_Index = QModelIndex | QPersistentModelIndex
ENTRY = Qt.ItemDataRole.UserRole
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_SIDE = 10


@dataclass(frozen=True)
class Pill:
    """A short fact; those that stand out are good news, the others only facts."""

    words: str
    stands_out: bool = False


@dataclass(frozen=True)
class Entry:
    """One model in the list.

    Attributes:
        key: what it is found by.
        name: in bold.
        below: in small letters.
        pills: what is known of it.
    """

    key: str
    name: str
    below: str
    pills: tuple[Pill, ...] = ()

    @property
    def spoken(self) -> str:
        """As a screen reader says it."""
        return ", ".join([self.name, self.below, *(pill.words for pill in self.pills)])


class Entries(QAbstractListModel):
    """The models in the list; those that come later are added at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: tuple[Entry, ...] = ()

    def show_entries(self, entries: Sequence[Entry]) -> None:
        """Show these, keeping what stays in its place."""
        new, old = tuple(entries), self.entries
        if new == old:
            return
        if [each.key for each in new[: len(old)]] == [each.key for each in old]:
            self.entries = new[: len(old)]
            if old:
                self.dataChanged.emit(self.index(0), self.index(len(old) - 1))
            if len(new) > len(old):
                self.beginInsertRows(QModelIndex(), len(old), len(new) - 1)
                self.entries = new
                self.endInsertRows()
            return
        self.beginResetModel()
        self.entries = new
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008, D102, N802
        return 0 if parent.isValid() else len(self.entries)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:  # noqa: D102
        entry = self.entries[index.row()]
        if role == ENTRY:
            return entry
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.name
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return entry.spoken
        if role == Qt.ItemDataRole.ToolTipRole:
            return entry.key
        return None


class _Rows(QStyledItemDelegate):
    """Paints the rows of the list."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look

    def sizeHint(self, _option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: N802
        entry: Entry = index.data(ENTRY)
        name, small = self._metrics()
        pills = small.height() + self._look.px(14) if entry.pills else 0
        return QSize(0, name.height() + small.height() + pills + self._look.px(20))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        look, theme = self._look, self._look.theme
        entry: Entry = index.data(ENTRY)
        name, small = self._metrics()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter, option)
        inner = option.rect.adjusted(look.px(_SIDE), look.px(8), -look.px(_SIDE), -look.px(8))
        painter.setFont(self._name_font())
        painter.setPen(QColor(theme.text))
        line = inner.adjusted(0, 0, 0, name.height() - inner.height())
        shown = name.elidedText(entry.name, Qt.TextElideMode.ElideMiddle, inner.width())
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, shown)
        painter.setFont(look.font(12))
        painter.setPen(QColor(theme.text_muted))
        below = inner.adjusted(0, name.height() + look.px(1), 0, 0)
        below.setHeight(small.height())
        shown = small.elidedText(entry.below, Qt.TextElideMode.ElideRight, inner.width())
        painter.drawText(below, Qt.AlignmentFlag.AlignVCenter, shown)
        self._paint_pills(painter, entry, QRectF(below).translated(0, small.height() + look.px(5)))
        painter.restore()

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        theme = self._look.theme
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        if not (selected or hovered):
            return
        focused = selected and bool(option.state & QStyle.StateFlag.State_HasFocus)
        edge = theme.accent if focused else theme.border if selected else "transparent"
        painter.setPen(QColor(edge))
        painter.setBrush(QColor(theme.raised if selected else theme.pill))
        painter.drawRoundedRect(QRectF(option.rect).adjusted(0.5, 1.5, -0.5, -1.5), 8, 8)

    def _paint_pills(self, painter: QPainter, entry: Entry, line: QRectF) -> None:
        look, theme = self._look, self._look.theme
        painter.setFont(look.font(11))
        metrics = QFontMetrics(look.font(11))
        x, height = line.x(), metrics.height() + look.px(6)
        for pill in entry.pills:
            width = metrics.horizontalAdvance(pill.words) + 2 * look.px(8)
            if x + width > line.right() and x > line.x():
                break
            place = QRectF(x, line.y(), min(width, line.right() - x), height)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.accent_soft if pill.stands_out else theme.pill))
            painter.drawRoundedRect(place, height / 2, height / 2)
            painter.setPen(QColor(theme.accent_text if pill.stands_out else theme.text_muted))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, pill.words)
            x += width + look.px(5)

    def _name_font(self) -> QFont:
        return self._look.font(14, QFont.Weight.DemiBold)

    def _metrics(self) -> tuple[QFontMetrics, QFontMetrics]:
        return QFontMetrics(self._name_font()), QFontMetrics(self._look.font(12))


class Results(QListView):
    """The list.

    Attributes:
        chosen: the key of the model the user wants to see.
        end_near: the end of the list is nearly in sight.
        entries: what it shows.
    """

    chosen = Signal(str)
    end_near = Signal()

    def __init__(self, look: Look, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.entries = Entries()
        self.setObjectName("results")
        self.setAccessibleName(name)
        self.setModel(self.entries)
        self.setItemDelegate(_Rows(look, self))
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.clicked.connect(self._on_chosen)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        look.changed.connect(self.scheduleDelayedItemsLayout)

    def show_entries(self, entries: Sequence[Entry], current: str = "") -> None:
        """Show these models, with the one that is looked at marked."""
        self.entries.show_entries(entries)
        row = next((i for i, each in enumerate(entries) if each.key == current), None)
        if row is None:
            self.clearSelection()
        elif self.currentIndex().row() != row:
            self.setCurrentIndex(self.entries.index(row))

    def names(self) -> list[str]:
        """The names that it shows."""
        return [each.name for each in self.entries.entries]

    def choose(self, key: str) -> None:
        """Choose a model as a click does."""
        row = next(i for i, each in enumerate(self.entries.entries) if each.key == key)
        self.setCurrentIndex(self.entries.index(row))
        self._on_chosen(self.entries.index(row))

    def _on_chosen(self, index: _Index) -> None:
        if index.isValid():
            self.chosen.emit(index.data(ENTRY).key)

    def _on_scrolled(self, at: int) -> None:
        bar = self.verticalScrollBar()
        if at >= bar.maximum() - bar.pageStep():
            self.end_near.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: D102, N802
        if event.key() in _ENTER:
            self._on_chosen(self.currentIndex())
        else:
            super().keyPressEvent(event)
