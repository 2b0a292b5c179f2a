"""A layout that puts widgets one after the other and begins a new row where there is no room."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Rows of widgets, as words stand in a paragraph; what is hidden takes no room."""

    def __init__(self, parent: QWidget | None = None, *, gap: int = 6) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = gap
        self.setContentsMargins(0, 0, 0, 0)

    def clear(self) -> None:
        """Take every widget out, and delete it."""
        while (item := self.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()

    def addItem(self, item: QLayoutItem) -> None:  # noqa: D102, N802
        self._items.append(item)

    def count(self) -> int:  # noqa: D102
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # noqa: D102, N802
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # noqa: D102, N802
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:  # noqa: D102, N802
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:  # noqa: D102, N802
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: D102, N802
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, place: QRect) -> None:  # noqa: D102, N802
        super().setGeometry(place)
        self._place(place, move=True)

    def sizeHint(self) -> QSize:  # noqa: D102, N802
        widths = [item.sizeHint().width() for item in self._items if not item.isEmpty()]
        return QSize(max(widths, default=0), self.minimumSize().height())

    def minimumSize(self) -> QSize:  # noqa: D102, N802
        # What is wider than a row is cut, so that one long word does not widen the page.
        heights = [item.minimumSize().height() for item in self._items if not item.isEmpty()]
        return QSize(0, max(heights, default=0))

    def _place(self, place: QRect, *, move: bool) -> int:
        """Put the widgets into their rows; the height that they take."""
        y = place.y()
        for row in self._rows(place.width()):
            x, height = place.x(), max(size.height() for _, size in row)
            for item, size in row:
                if move:
                    top = y + (height - size.height()) // 2
                    item.setGeometry(QRect(QPoint(x, top), size))
                x += size.width() + self._gap
            y += height + self._gap
        return max(0, y - self._gap - place.y())

    def _rows(self, width: int) -> list[list[tuple[QLayoutItem, QSize]]]:
        """What stands in each row, and how large it is."""
        rows: list[list[tuple[QLayoutItem, QSize]]] = []
        x = 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint()
            size.setWidth(min(size.width(), width))
            if not rows or x + size.width() > width:
                rows.append([])
                x = 0
            rows[-1].append((item, size))
            x += size.width() + self._gap
        return rows
