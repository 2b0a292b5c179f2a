"""The pages of the window, each built when it is first needed."""

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QStackedWidget, QWidget

from slipstream.ui import models
from slipstream.ui.chat_page import ChatPage
from slipstream.ui.i18n import tr
from slipstream.ui.library.folders import Drops
from slipstream.ui.look import Look
from slipstream.ui.model_desk import ModelDesk
from slipstream.ui.preferences import Preferences
from slipstream.ui.settings_page import SettingsPage
from slipstream.ui.stock import Stock
from slipstream.ui.widgets.notice_bar import Notice

if TYPE_CHECKING:
    # They bring the HTTP client along: they are built after the window shows.
    from slipstream.hub.downloads.orders import Order
    from slipstream.ui.compare.page import ComparePage
    from slipstream.ui.first_run import FirstRun
    from slipstream.ui.picker.page import ModelsPage


class Pages(QStackedWidget):
    """Chat, models, settings, and the first steps while they are taken.

    Attributes:
        noticed: a Notice for the user.
        page_wanted: the name of the page the user wants.
        open_wanted: the path of a model to talk to, and whether it is to be loaded although memory
            seems too small.
        file_wanted: the user wants to open a file.
        restart_wanted: the path of a model of which settings changed that need a restart.
        looked_at: the repository that is looked at.
        welcomed: the first steps were shown.
        drops: takes files and folders that are dropped or chosen.
        first_steps: that page, while it is shown.
    """

    noticed = Signal(object)
    page_wanted = Signal(str)
    open_wanted = Signal(str, bool)
    file_wanted = Signal()
    restart_wanted = Signal(object)
    looked_at = Signal(str)
    welcomed = Signal()

    def __init__(
        self,
        look: Look,
        preferences: Preferences,
        desk: ModelDesk,
        stock: Stock,
        chat: ChatPage,
        recent: Callable[[], Sequence[str]],
        parent: QWidget | None = None,
    ) -> None:
        """Prepare.

        Args:
            look, preferences, desk, stock: what the pages stand on.
            chat: the page that is there at once.
            recent: the repositories that were looked at, newest first.
            parent: as Qt has it.
        """
        super().__init__(parent)
        self._recent = recent
        self._look, self._preferences = look, preferences
        self._desk, self._stock, self._chat = desk, stock, chat
        self.first_steps: FirstRun | None = None
        self.drops = Drops(desk.work, preferences, self)
        self.drops.noticed.connect(self.noticed)
        self.drops.open_wanted.connect(lambda path: self.open_wanted.emit(path, False))
        self.drops.shown_wanted.connect(self.show_library)
        self.addWidget(chat)

    @cached_property
    def settings(self) -> SettingsPage:
        """The settings."""
        page = SettingsPage(self._look, self._preferences)
        page.noticed.connect(self.noticed)
        page.first_steps_wanted.connect(self.welcome)
        self.addWidget(page)
        return page

    @cached_property
    def models(self) -> "ModelsPage":
        """Where models are found, looked at and kept."""
        from slipstream.ui.picker.page import ModelsPage

        work, holds = self._desk.work, self._desk.control.holds
        page = ModelsPage(self._look, work, self._preferences, self._stock, holds)
        page.noticed.connect(self.noticed)
        page.load_wanted.connect(lambda path, anyway: self.open_wanted.emit(str(path), anyway))
        page.restart_wanted.connect(self.restart_wanted)
        page.looked_at.connect(self.looked_at)
        page.overview.file_wanted.connect(self.file_wanted)
        page.finder.show_recent(self._recent())
        page.overview.folder_wanted.connect(self._ask_for_folder)
        self.addWidget(page)
        return page

    @cached_property
    def compare(self) -> "ComparePage":
        """What each way of drafting brings, measured."""
        from slipstream.ui.compare.page import ComparePage

        page = ComparePage(self._look, self._desk)
        page.noticed.connect(self.noticed)
        self.addWidget(page)
        return page

    def show_page(self, name: str) -> None:
        """Show a page: "chat", "models", "compare" or "settings"."""
        match name:
            case "compare":
                self.setCurrentWidget(self.compare)
            case "models":
                self.setCurrentWidget(self.models)
            case "settings":
                self.setCurrentWidget(self.settings)
            case _:
                self.setCurrentWidget(self._chat)
        self._leave_first_steps()

    def welcome(self) -> None:
        """Show the first steps: what this computer can run, and where to get it."""
        from slipstream.ui.first_run import FirstRun

        if self.first_steps is not None:
            self.setCurrentWidget(self.first_steps)
            return
        page = FirstRun(self._look, self._desk.work, lambda: self._preferences.values.model_folders)
        page.demo_wanted.connect(lambda: self._desk.open(models.DEMO))
        page.download_wanted.connect(self._on_first_download)
        page.open_model.connect(lambda path: self._desk.open(path))
        page.browse_wanted.connect(lambda: self.page_wanted.emit("models"))
        page.folder_chosen.connect(lambda folder: self.drops.add((Path(folder),)))
        page.all_wanted.connect(self.show_library)
        page.closed.connect(self._leave_first_steps)
        self.first_steps = page
        self.addWidget(page)
        self.setCurrentWidget(page)
        self.welcomed.emit()

    def finish(self) -> None:
        """Keep what still waits to be kept; for the end of the program, when no work runs."""
        if "models" in vars(self):  # it was built
            self.models.finish()

    def search(self) -> None:
        """Show where models are searched."""
        self.page_wanted.emit("models")
        self.models.focus_search()

    def show_library(self) -> None:
        """Show the models on this computer."""
        self.page_wanted.emit("models")
        self.models.show_library()

    def show_downloads(self) -> None:
        """Show the downloads."""
        self.page_wanted.emit("models")
        self.models.show_downloads()

    def _on_first_download(self, order: "Order", name: str) -> None:
        """The chat is shown then, where nothing tells of it."""
        self._stock.board.add(order)
        text = tr(
            "{name} is being downloaded. You can chat meanwhile; the rail shows how far it is."
        )
        show = tr("Show downloads")
        self.noticed.emit(Notice(text.format(name=name), button=show, act=self.show_downloads))

    def _leave_first_steps(self) -> None:
        page, self.first_steps = self.first_steps, None
        if page is not None:
            if self.currentWidget() is page:
                self.page_wanted.emit("chat")
            self.removeWidget(page)
            page.deleteLater()

    def _ask_for_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, tr("A folder with models"))
        if folder:
            self.drops.add((Path(folder),))
