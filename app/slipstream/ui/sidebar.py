"""The list of chats, newest first, under the days they belong to."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QPushButton, QVBoxLayout, QWidget

from slipstream.ui import icons
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look


def day_name(moment: datetime, today: date) -> str:
    """The heading a chat belongs under."""
    if moment.date() >= today:
        return tr("Today")
    if moment.date() == today - timedelta(days=1):
        return tr("Yesterday")
    return tr("Earlier")


class Sidebar(QWidget):
    """New chat, and the chats there are.

    Attributes:
        new_chat: the user wants to start a chat.
        chosen: the id of the chat the user wants to see.
    """

    new_chat = Signal()
    chosen = Signal(int)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.setObjectName("sidebar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        new = QPushButton(tr("New chat"))
        new.setProperty("kind", "primary")
        new.setToolTip(tr("New chat (Ctrl+N)"))
        icons.wear(new, "plus", look, role="on_accent", size=16)
        new.clicked.connect(self.new_chat)
        self._list = QListWidget()
        self._list.setObjectName("chats")
        self._list.setAccessibleName(tr("Chats"))
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._list.setUniformItemSizes(False)
        self._list.currentItemChanged.connect(self._on_current_changed)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 14, 12, 8)
        column.setSpacing(8)
        column.addWidget(new)
        column.addWidget(self._list, 1)
        look.changed.connect(self._fit)
        self._fit()

    def show_chats(
        self, chats: Sequence[tuple[int, str, datetime]], current: int | None, today: date
    ) -> None:
        """Show these chats.

        Args:
            chats: id, title and local time of the last change, newest first.
            current: the one that is open.
            today: today's date.
        """
        self._list.blockSignals(True)
        self._list.clear()
        heading = ""
        for chat_id, title, moment in chats:
            day = day_name(moment, today)
            if day != heading:
                heading = day
                item = QListWidgetItem(day)
                item.setFlags(Qt.ItemFlag.NoItemFlags)
                item.setFont(self._look.font(12))
                self._list.addItem(item)
            item = QListWidgetItem(title)
            item.setData(Qt.ItemDataRole.UserRole, chat_id)
            item.setToolTip(title)
            self._list.addItem(item)
            if chat_id == current:
                self._list.setCurrentItem(item)
        self._list.blockSignals(False)

    def titles(self) -> list[str]:
        """What the list shows, headings included."""
        return [self._list.item(i).text() for i in range(self._list.count())]

    def _on_current_changed(self, item: QListWidgetItem | None) -> None:
        if item is not None and item.data(Qt.ItemDataRole.UserRole) is not None:
            self.chosen.emit(item.data(Qt.ItemDataRole.UserRole))

    def _fit(self) -> None:
        self.setFixedWidth(self._look.px(236))
        for i in range(self._list.count()):
            item = self._list.item(i)
            if item.flags() == Qt.ItemFlag.NoItemFlags:
                item.setFont(self._look.font(12))
