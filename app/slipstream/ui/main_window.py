"""The window: rail, list of chats, pages, and the door for notices. It composes, nothing more."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, Qt, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QKeyEvent,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QMainWindow, QVBoxLayout, QWidget

from slipstream.chats.records import Chat
from slipstream.errors import SlipstreamError
from slipstream.settings import declared
from slipstream.ui import models, shortcuts
from slipstream.ui.archive import Archive
from slipstream.ui.chat_list import ChatList
from slipstream.ui.chat_page import ChatPage
from slipstream.ui.conversation import Conversation
from slipstream.ui.downloads.tray import DownloadBadge
from slipstream.ui.engine_news import EngineNews
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.model_desk import ModelDesk
from slipstream.ui.pages import Pages
from slipstream.ui.preferences import Preferences
from slipstream.ui.rail import Rail
from slipstream.ui.shortcuts import Shortcut
from slipstream.ui.sidebar import Sidebar
from slipstream.ui.stock import Stock
from slipstream.ui.widgets.notice_bar import Notice, Notices, notice_of
from slipstream.ui.window_state import WindowState

if TYPE_CHECKING:
    from slipstream.hub.downloads.standing import Standing

_SMALLEST = (760, 520)
_FIRST_SIZE = (1280, 800)


class MainWindow(QMainWindow):
    """The one window.

    Attributes:
        shown: it was painted for the first time.
        remembered: there is more in ``state`` that has to outlive a crash.
        state: what it remembers between starts.
        pages: what is shown beside the rail.
    """

    shown = Signal()
    remembered = Signal()

    def __init__(
        self,
        look: Look,
        preferences: Preferences,
        archive: Archive,
        desk: ModelDesk,
        stock: Stock,
        state: WindowState,
    ) -> None:
        super().__init__()
        self.setWindowTitle("Slipstream")
        self.setMinimumSize(*_SMALLEST)
        self.setAcceptDrops(True)
        self.state = state
        self._look = look
        self._preferences = preferences
        self._archive = archive
        self._desk = desk
        self._stock = stock
        self._painted = False
        self._speed_first = False  # where there is no room for both side panels
        self.conversation = Conversation(archive, desk.control, self)
        self.rail = Rail(look)
        self.sidebar = Sidebar(look)
        self.notices = Notices(look)
        self.chat = ChatPage(look, desk, self.conversation)
        self.news = EngineNews(desk, preferences, self)
        self.pages = Pages(look, preferences, desk, stock, self.chat, lambda: self.state.looked_at)
        self._badge = DownloadBadge(look, stock.board)
        self.rail.add(self._badge)
        self._chats = ChatList(archive, self.conversation, self.sidebar, self)
        self._lay_out()
        self._connect()
        self._shortcuts = self._declare_shortcuts()
        shortcuts.install(self, self._shortcuts)
        self._restore()

    def show_notice(self, notice: Notice) -> None:
        """Tell the user something."""
        self.notices.show_notice(notice)

    def show_page(self, name: str) -> None:
        """Show a page: "chat", "models", "compare" or "settings"."""
        self.pages.show_page(name)
        self.rail.show_page(name)
        self._fit()
        if name == "chat":
            self.chat.focus_message()

    def _on_welcomed(self) -> None:
        self.state = replace(self.state, welcomed=True)
        self.remembered.emit()

    def begin(self, path: str) -> None:
        """Open the last chat and its model, or the file the app was started with."""
        self._desk.find(self.state.recent)
        chat = self._open_last_chat()
        if not (path or chat or self.state.welcomed):
            self.pages.welcome()
            self._fit()
        if path:
            self._desk.open(path)
        elif chat is not None and chat.model:
            self._desk.open(chat.model, chat.speculation, chat.draft_tokens)
        else:
            self._desk.open(models.DEMO)

    def _open_last_chat(self) -> Chat | None:
        try:
            chat = self._archive.store.last_open_chat()
            if chat is not None:
                self.conversation.open(chat.id)
        except SlipstreamError as error:
            self.show_notice(notice_of(error))
            return None
        return chat

    def come_forward(self, path: str = "") -> None:
        """Another start asked for the window, perhaps with a file."""
        self.setWindowState(self.windowState() & ~self.windowState().WindowMinimized)
        self.raise_()
        self.activateWindow()
        if path:
            self._open_model(path)

    # What the user does

    def _open_model(self, path: str, anyway: bool = False) -> None:
        self.show_page("chat")
        self._desk.open(path, anyway=anyway)

    def _chat_with(self, path: str, anyway: bool = False) -> None:
        """In a chat of its own, where the one that is open has begun already."""
        if self.conversation.chat is not None:
            self.conversation.start_new()
        self._open_model(path, anyway)

    def new_chat(self) -> None:
        """Start a chat."""
        self.conversation.start_new()
        self.show_page("chat")

    def _on_page_chosen(self, name: str) -> None:
        """Choosing the chat while it is shown brings its list back."""
        if name == "chat" and self.pages.currentWidget() is self.chat:
            self._speed_first = False
            self.state = replace(self.state, sidebar=True)
        self.show_page(name)

    def _toggle_sidebar(self) -> None:
        self._speed_first = False
        self.state = replace(self.state, sidebar=not self.sidebar.isVisible())
        self._fit()

    def _toggle_speed(self, wanted: bool) -> None:
        self._speed_first = wanted
        self.state = replace(self.state, speed_panel=wanted)
        self._fit()

    def _open_file(self) -> None:
        self.show_page("chat")
        self.chat.open_file()

    def _on_open_wanted(self, path: str, anyway: bool) -> None:
        """A file that is dropped onto a chat is to go on with it."""
        here = self.pages.currentWidget() is self.chat
        (self._open_model if here else self._chat_with)(path, anyway)

    # What is reported

    def _on_looked_at(self, repo: str) -> None:
        self.state = self.state.with_looked_at(repo)
        self.remembered.emit()
        self.pages.models.finder.show_recent(self.state.looked_at)

    def _on_downloaded(self, one: "Standing", path: Path) -> None:
        """Where the tray is not in sight."""
        if self.pages.currentWidget() is self.chat:
            text = tr("{model} was downloaded.").format(model=one.title)
            act = partial(self._chat_with, str(path))
            self.show_notice(Notice(text, button=tr("Chat now"), act=act))

    def _on_download_failed(self, one: "Standing") -> None:
        error = one.entry.record.error
        if error is not None and self.pages.currentWidget() is self.chat:
            told = notice_of(error, button=tr("Show"), act=self.pages.show_downloads)
            text = tr("{model} could not be downloaded. {reason}")
            self.show_notice(replace(told, text=text.format(model=one.title, reason=told.text)))

    def _on_stock_noticed(self, notice: Notice) -> None:
        """Who removed something may want it back: the keyboard is there."""
        self.show_notice(notice)
        if notice.undoes:
            self.notices.take_keyboard()

    def _on_shelf_changed(self) -> None:
        self._desk.show_here(models.choices_of(self._stock.shelf.library))

    def _on_model_loaded(self) -> None:
        ref = self._desk.selection.ref
        if not models.is_demo(ref):
            self.state = self.state.with_opened(Path(ref))
            self.remembered.emit()

    def _on_chat_opened(self) -> None:
        chat = self.conversation.chat
        self.notices.enter_chat(chat.id if chat is not None else None)

    def _on_setting_changed(self, key: str) -> None:
        values = self._preferences.values
        if key in ("theme", "text_size"):
            self._look.apply(values.theme, values.text_size)
        elif key == "show_drafted_tokens":
            self.chat.show_tint(values.show_drafted_tokens)
        elif key == "send_with_enter":
            self.chat.composer.field.send_with_enter = values.send_with_enter
        elif key in {each.key for each in declared() if each.restarts_engine}:
            self._offer_reload()

    def _on_model_setting_changed(self, path: Path) -> None:
        if path == self._desk.control.model_in_use:
            self._offer_reload()

    def _offer_reload(self) -> None:
        text = tr("This takes effect when the model is loaded again.")
        self.show_notice(Notice(text, button=tr("Reload now"), act=self._desk.reload))

    def _on_tint_toggled(self, tint: bool) -> None:
        try:
            self._preferences.set("show_drafted_tokens", tint)
        except SlipstreamError as error:
            self.show_notice(notice_of(error))

    # How it is put together

    def _room_beside(self, *sides: QWidget) -> bool:
        """Whether the chat has room enough beside these."""
        taken = self.rail.width() + sum(side.width() for side in sides)
        return self.width() - taken >= self.chat.narrowest()

    def _fit(self) -> None:
        """Show the side panels the user wants, as far as there is room.

        The speed panel yields first, unless the user just asked for it.
        """
        on_chat = self.pages.currentWidget() is self.chat
        sidebar = self.state.sidebar and self._room_beside(self.sidebar)
        panel = self.state.speed_panel and self._room_beside(self.chat.speed)
        if self._room_beside(self.sidebar, self.chat.speed):
            self._speed_first = False
        elif sidebar and panel:
            sidebar, panel = not self._speed_first, self._speed_first
        self.sidebar.setVisible(on_chat and sidebar)
        self.chat.speed.setVisible(panel)
        self.chat.header.show_speed(panel)

    def _connect(self) -> None:
        self.rail.chosen.connect(self._on_page_chosen)
        self.sidebar.new_chat.connect(self.new_chat)
        self._chats.opened.connect(lambda: self.show_page("chat"))
        self._chats.noticed.connect(self.show_notice)
        self.chat.noticed.connect(self.show_notice)
        self.news.noticed.connect(self.show_notice)
        self.news.library_wanted.connect(self.pages.show_library)
        self.news.withdrawn.connect(self.notices.withdraw)
        self.conversation.opened.connect(self._on_chat_opened)
        self.conversation.failed.connect(self.news.tell_failed_reply)
        self.chat.speed_toggled.connect(self._toggle_speed)
        self.chat.tint_toggled.connect(self._on_tint_toggled)
        self._preferences.changed.connect(self._on_setting_changed)
        self._desk.control.loaded_model.connect(self._on_model_loaded)
        self._look.changed.connect(self._fit)
        self._badge.opened.connect(self.pages.show_downloads)
        self._stock.shelf.changed.connect(self._on_shelf_changed)
        self._stock.noticed.connect(self._on_stock_noticed)
        self._stock.board.finished.connect(self._on_downloaded)
        self._stock.board.failed.connect(self._on_download_failed)
        self._stock.withdrawn.connect(self.notices.withdraw)
        self.pages.noticed.connect(self.show_notice)
        self.pages.page_wanted.connect(self.show_page)
        self.pages.open_wanted.connect(self._on_open_wanted)
        self.pages.file_wanted.connect(self._open_file)
        self.pages.restart_wanted.connect(self._on_model_setting_changed)
        self.pages.looked_at.connect(self._on_looked_at)
        self.pages.welcomed.connect(self._on_welcomed)

    def _declare_shortcuts(self) -> list[Shortcut]:
        def on(page: str) -> Callable[[], None]:
            return lambda: self.show_page(page)

        return [
            Shortcut("Ctrl+1", tr("Chat"), on("chat")),
            Shortcut("Ctrl+2", tr("Models"), on("models")),
            Shortcut("Ctrl+3", tr("Compare"), on("compare")),
            Shortcut("Ctrl+,", tr("Settings"), on("settings")),
            Shortcut("Ctrl+F", tr("Search for models"), self.pages.search, ("Ctrl+K",)),
            Shortcut("Ctrl+N", tr("New chat"), self.new_chat),
            Shortcut("Ctrl+O", tr("Open a GGUF file"), self._open_file),
            Shortcut("Ctrl+B", tr("Show or hide the list of chats"), self._toggle_sidebar),
            Shortcut("Esc", tr("Stop the reply"), self.conversation.stop),
            Shortcut("Ctrl+/", tr("This list"), self._show_shortcuts),
        ]

    def _show_shortcuts(self) -> None:
        shortcuts.show_list(self, self._shortcuts)

    def _restore(self) -> None:
        self.resize(*_FIRST_SIZE)
        if self.state.geometry:
            self.restoreGeometry(QByteArray.fromBase64(self.state.geometry.encode()))
        values = self._preferences.values
        self.chat.show_tint(values.show_drafted_tokens)
        self.chat.composer.field.send_with_enter = values.send_with_enter
        self._chats.refresh()
        self.show_page("chat")

    def _lay_out(self) -> None:
        column = QVBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.notices)
        column.addWidget(self.pages, 1)
        page = QWidget()
        page.setObjectName("page")
        row = QHBoxLayout(page)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.rail)
        row.addWidget(self.sidebar)
        row.addLayout(column, 1)
        self.setCentralWidget(page)

    # Qt's own

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: D102, N802
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            self.shown.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Enter presses the button at which the keyboard is, once however long it is held; Qt knows
        the space bar alone."""
        button = self.focusWidget()
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and isinstance(button, QAbstractButton):
            if not event.isAutoRepeat():
                button.click()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: D102, N802
        super().resizeEvent(event)
        self._fit()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: D102, N802
        geometry = bytes(self.saveGeometry().toBase64().data()).decode()
        self.state = replace(self.state, geometry=geometry)
        super().closeEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: D102, N802
        if _files(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: D102, N802
        files = _files(event)
        if files:
            event.acceptProposedAction()
            self.pages.drops.take(files)


def _files(event: QDropEvent) -> list[Path]:
    """The files and folders of this computer that are dragged."""
    urls = event.mimeData().urls()
    return [Path(url.toLocalFile()) for url in urls if url.toLocalFile()]
