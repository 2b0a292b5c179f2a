"""The rows of the list of chats: what they say, and how their moment is painted."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from PySide6.QtCore import QDate, QLocale, QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from slipstream.ui import icons
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look, tabular

ANSWERING = Qt.ItemDataRole.UserRole + 1
MOMENT = Qt.ItemDataRole.UserRole + 2
"""Where an item of the list keeps whether it is answered, and the words for its moment."""

_SIDE = 9  # pixels beside the words of a row, as in the style sheet


@dataclass(frozen=True)
class Row:
    """One chat in the list.

    Attributes:
        chat_id: its id.
        title: its name.
        moment: local time of its last change.
        answering: a reply to it runs or waits.
    """

    chat_id: int
    title: str
    moment: datetime
    answering: bool = False


def day_name(moment: datetime, today: date) -> str:
    """The heading a chat belongs under."""
    if moment.date() >= today:
        return tr("Today")
    if moment.date() == today - timedelta(days=1):
        return tr("Yesterday")
    return tr("Earlier")


def moment_name(moment: datetime, today: date) -> str:
    """What tells chats of one title apart: the time, or for older ones the day."""
    if moment.date() >= today - timedelta(days=1):
        return f"{moment:%H:%M}"
    form = "d MMM" if moment.year == today.year else "d MMM yyyy"
    return QLocale().toString(QDate(moment.year, moment.month, moment.day), form)


class Rows(QStyledItemDelegate):
    """Paints rows with their moment on the right, or a dot while they are answered."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look

    def initStyleOption(  # noqa: D102, N802
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        if index.data(MOMENT):
            moment = QFontMetrics(self._font()).horizontalAdvance(index.data(MOMENT))
            room = option.rect.width() - moment - 3 * _SIDE
            option.text = option.fontMetrics.elidedText(
                option.text, Qt.TextElideMode.ElideRight, room
            )

    def paint(  # noqa: D102
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        super().paint(painter, option, index)
        place = option.rect.adjusted(0, 0, -_SIDE, 0)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.save()
        if index.data(ANSWERING):
            side = self._look.px(8)
            dot = QRect(place.right() - side, place.center().y() - side // 2, side, side)
            icons.dot(self._look.theme.accent, side).paint(painter, dot)
        elif index.data(MOMENT):
            painter.setFont(self._font())
            painter.setPen(QColor(self._look.theme.text_muted))
            painter.drawText(place, right, index.data(MOMENT))
        painter.restore()

    def _font(self) -> QFont:
        return tabular(self._look.font(11))
