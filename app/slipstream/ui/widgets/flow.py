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
        x, y, height = place.x(), place.y(), 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint()
            width = min(size.width(), place.width())
            if height and x + width > place.right() + 1:
                x, y, height = place.x(), y + height + self._gap, 0
            if move:
                item.setGeometry(QRect(QPoint(x, y), QSize(width, size.height())))
            x += width + self._gap
            height = max(height, size.height())
        return y + height - place.y()
