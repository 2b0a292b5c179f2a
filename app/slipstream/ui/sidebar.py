"""The list of chats, newest first, under the days they belong to."""

from collections.abc import Sequence
from datetime import date
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from slipstream.ui import icons
from slipstream.ui.chat_rows import ANSWERING, MOMENT, Row, Rows, day_name, moment_name
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look

_CHAT = Qt.ItemDataRole.UserRole
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class _List(QListWidget):
    """A list in which the arrows move, Enter opens, F2 renames and Delete deletes.

    Attributes:
        opened: the item that Enter was pressed on.
        left: it lost the keyboard.
    """

    opened = Signal(QListWidgetItem)
    deleted = Signal(QListWidgetItem)
    left = Signal()

    @property
    def renaming(self) -> bool:
        """Whether a title is being edited."""
        return self.state() == QAbstractItemView.State.EditingState

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        # Keys that the editor of a title leaves arrive here too.
        item = None if self.renaming else self.currentItem()
        if item is not None and event.key() in _ENTER:
            self.opened.emit(item)
        elif item is not None and event.matches(QKeySequence.StandardKey.Delete):
            self.deleted.emit(item)
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        super().focusOutEvent(event)
        if not self.renaming and event.reason() != Qt.FocusReason.PopupFocusReason:
            self.left.emit()


class Sidebar(QWidget):
    """New chat, and the chats there are.

    Attributes:
        new_chat: the user wants to start a chat.
        chosen: the id of the chat the user wants to see.
        renamed: the id of a chat, and the title the user gave it.
        delete_wanted: the id and the title of the chat the user wants deleted.
        list: shows the chats.
    """

    new_chat = Signal()
    chosen = Signal(int)
    renamed = Signal(int, str)
    delete_wanted = Signal(int, str)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._late = False  # what is to be shown waits until a title was edited
        self._shown: tuple[Sequence[Row], int | None, date] = ((), None, date.today())
        self.setObjectName("sidebar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        new = QPushButton(tr("New chat"))
        new.setProperty("kind", "primary")
        new.setToolTip(tr("New chat (Ctrl+N)"))
        icons.wear(new, "plus", look, role="on_accent", size=16)
        new.clicked.connect(self.new_chat)
        self.list = _List()
        self.list.setObjectName("chats")
        self.list.setItemDelegate(Rows(look, self.list))
        self.list.setAccessibleName(tr("Chats"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.setUniformItemSizes(False)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._connect()
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 14, 12, 8)
        column.setSpacing(8)
        column.addWidget(new)
        column.addWidget(self.list, 1)
        look.changed.connect(self._fit)
        self._fit()

    def show_chats(self, chats: Sequence[Row], current: int | None, today: date) -> None:
        """Show these chats.

        Args:
            chats: the rows, newest first.
            current: the chat that is open.
            today: today's date.
        """
        self._shown = (chats, current, today)
        self._late = self.list.renaming
        if not self._late:
            self._fill()

    def titles(self) -> list[str]:
        """What the list shows, headings included."""
        return [each.text() for each in self._items()]

    def answering(self) -> list[int]:
        """The chats that are marked as being answered."""
        return [each.data(_CHAT) for each in self._items() if each.data(ANSWERING)]

    def menu_of(self, chat_id: int) -> QMenu | None:
        """What can be done to a chat; None if it is not in the list."""
        item = self._item(chat_id)
        if item is None:
            return None
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        rename = menu.addAction(tr("Rename"), partial(self.list.editItem, item))
        delete = menu.addAction(tr("Delete"), partial(self._on_deleted, item))
        for action, keys in ((rename, "F2"), (delete, "Del")):
            action.setShortcut(keys)
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)  # the list has the keys
        return menu

    def _items(self) -> list[QListWidgetItem]:
        return [self.list.item(i) for i in range(self.list.count())]

    def _item(self, chat_id: int | None) -> QListWidgetItem | None:
        return next(
            (each for each in self._items() if chat_id is not None and each.data(_CHAT) == chat_id),
            None,
        )

    def _fill(self) -> None:
        chats, _, today = self._shown
        scrolled = self.list.verticalScrollBar().value()
        self.list.blockSignals(True)
        self.list.clear()
        heading = ""
        for row in chats:
            day = day_name(row.moment, today)
            if day != heading:
                heading = day
                item = QListWidgetItem(day)
                item.setFlags(Qt.ItemFlag.NoItemFlags)
                item.setFont(self._look.font(12))
                self.list.addItem(item)
            self.list.addItem(self._made(row))
        self._mark_open()
        self.list.blockSignals(False)
        self.list.verticalScrollBar().setValue(scrolled)

    def _made(self, row: Row) -> QListWidgetItem:
        item = QListWidgetItem(row.title)
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
        item.setData(_CHAT, row.chat_id)
        item.setData(ANSWERING, row.answering)
        item.setData(MOMENT, moment_name(row.moment, self._shown[2]))
        item.setToolTip(row.title)
        words = f"{row.title}, {item.data(MOMENT)}"
        item.setData(Qt.ItemDataRole.AccessibleTextRole, words)
        if row.answering:
            words = tr("{title}, being answered").format(title=row.title)
            item.setToolTip(words)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, words)
        return item

    def _mark_open(self) -> None:
        """The chat that is open is the current one, wherever the arrows were."""
        item = self._item(self._shown[1])
        if item is not None:
            self.list.setCurrentItem(item)
        else:
            self.list.setCurrentRow(-1)

    def _connect(self) -> None:
        self.list.itemClicked.connect(self._on_opened)
        self.list.opened.connect(self._on_opened)
        self.list.deleted.connect(self._on_deleted)
        self.list.left.connect(self._mark_open)
        self.list.itemChanged.connect(self._on_renamed)
        self.list.itemDelegate().closeEditor.connect(
            self._on_edited, Qt.ConnectionType.QueuedConnection
        )
        self.list.customContextMenuRequested.connect(self._on_menu)

    def _on_opened(self, item: QListWidgetItem) -> None:
        if item.data(_CHAT) is not None:
            self.chosen.emit(item.data(_CHAT))

    def _on_deleted(self, item: QListWidgetItem) -> None:
        if item.data(_CHAT) is not None:
            self.delete_wanted.emit(item.data(_CHAT), item.text())

    def _on_renamed(self, item: QListWidgetItem) -> None:
        title = " ".join(item.text().split())
        if title and item.data(_CHAT) is not None:
            self.renamed.emit(item.data(_CHAT), title)

    def _on_edited(self) -> None:
        if self._late:
            self.show_chats(*self._shown)

    def _on_menu(self, place: QPoint) -> None:
        item = self.list.itemAt(place)
        menu = self.menu_of(item.data(_CHAT)) if item is not None else None
        if menu is not None:
            menu.popup(self.list.viewport().mapToGlobal(place))

    def _fit(self) -> None:
        self.setFixedWidth(self._look.px(236))
        self.show_chats(*self._shown)
