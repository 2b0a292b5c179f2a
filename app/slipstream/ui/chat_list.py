"""The list of chats at work: what the user does in the sidebar, done to the chats."""

from dataclasses import replace
from datetime import date, datetime

from PySide6.QtCore import QObject, Signal

from slipstream.chats.records import Chat
from slipstream.ui.archive import Archive
from slipstream.ui.chat_rows import Row
from slipstream.ui.conversation import Conversation
from slipstream.ui.i18n import tr
from slipstream.ui.sidebar import Sidebar
from slipstream.ui.widgets.notice_bar import Notice, notice_of


class ChatList(QObject):
    """Fills the sidebar, and opens, renames and deletes chats.

    Attributes:
        noticed: a Notice for the user.
        opened: the user opened a chat.
    """

    noticed = Signal(object)
    opened = Signal()

    def __init__(
        self,
        archive: Archive,
        conversation: Conversation,
        sidebar: Sidebar,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._archive = archive
        self._conversation = conversation
        self._sidebar = sidebar
        archive.changed.connect(self.refresh)
        archive.failed.connect(self._on_failed)
        conversation.opened.connect(self.refresh)
        conversation.not_opened.connect(self._on_not_opened)
        sidebar.chosen.connect(self.open)
        sidebar.renamed.connect(self._rename)
        sidebar.delete_wanted.connect(self._delete)

    def refresh(self) -> None:
        """Show the chats there are."""
        self._archive.run(lambda store: store.list_chats(), self._show)

    def _show(self, chats: list[Chat]) -> None:
        chat = self._conversation.chat
        answering = self._conversation.answering
        rows = [
            Row(
                each.id,
                each.title or tr("New chat"),
                datetime.fromtimestamp(each.updated),
                each.id in answering,
            )
            for each in chats
        ]
        self._sidebar.show_chats(rows, chat.id if chat is not None else None, date.today())

    def open(self, chat_id: int) -> None:
        """Open a chat."""
        self._conversation.open(chat_id)
        self.opened.emit()

    def _on_not_opened(self, error: BaseException, chat_id: int) -> None:
        self.noticed.emit(replace(notice_of(error), chat_id=chat_id))

    def _rename(self, chat_id: int, title: str) -> None:
        self._archive.run(lambda store: store.set_title(chat_id, title), self._on_changed)

    def _delete(self, chat_id: int, title: str) -> None:
        was_open = self._conversation.leave(chat_id)
        self._archive.run(lambda store: store.delete_chat(chat_id), self._on_changed)
        text = tr("“{title}” was deleted.").format(title=title)
        undo = lambda: self._restore(chat_id, show=was_open)  # noqa: E731 - it has a place here
        self.noticed.emit(Notice(text, button=tr("Undo"), act=undo, undoes="chat"))

    def _restore(self, chat_id: int, *, show: bool) -> None:
        def restored(_: None) -> None:
            self._on_changed(None)
            if show:
                self.open(chat_id)

        self._archive.run(lambda store: store.restore_chat(chat_id), restored)

    def _on_changed(self, _: None) -> None:
        self._archive.changed.emit()

    def _on_failed(self, error: BaseException) -> None:
        self.noticed.emit(notice_of(error))
