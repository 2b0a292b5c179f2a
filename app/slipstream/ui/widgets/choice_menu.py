"""A menu of values: the chosen one has a mark, and each explains itself in a second line."""

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QWidget

from slipstream.ui import icons
from slipstream.ui.look import Look

_INDENT = 32  # pixels at 100 % text size, for the mark
_SIDE = 16  # pixels free on the right


class ChoiceMenu(QMenu):
    """Paints what Qt's menus have no place for; the status tip of an action is its second line."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self.aboutToShow.connect(self._make_room)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: D102, N802
        super().paintEvent(event)
        with QPainter(self) as painter:
            for action in self.actions():
                place = self.actionGeometry(action)
                if action.isChecked():
                    self._paint_mark(painter, place)
                if action.statusTip():
                    self._paint_detail(painter, place, action.statusTip())

    def _paint_mark(self, painter: QPainter, place: QRect) -> None:
        mark = icons.check(self._look)
        side = self._look.px(icons.CHECK)
        top = place.center().y() - side / 2
        painter.drawPixmap(QPointF(place.left() + self._look.px(9), top), mark)

    def _paint_detail(self, painter: QPainter, place: QRect, words: str) -> None:
        painter.setPen(QColor(self._look.theme.text_muted))
        painter.setFont(self._font())
        below = place.adjusted(self._look.px(_INDENT), 0, -_SIDE, -self._look.px(6))
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom, words)

    def _font(self) -> QFont:
        return self._look.font(12)

    def _make_room(self) -> None:
        look, metrics = self._look, QFontMetrics(self._font())
        details = [each.statusTip() for each in self.actions() if each.statusTip()]
        below = look.px(6) + metrics.height() if details else 7
        indent = look.px(_INDENT)
        self.setStyleSheet(f"QMenu::item {{ padding: 7px {_SIDE}px {below}px {indent}px; }}")
        widest = max((metrics.horizontalAdvance(each) for each in details), default=0)
        frame = 2 * 5  # border and padding, as in the style sheet
        self.setMinimumWidth(indent + widest + _SIDE + frame if details else 0)
