"""The Models page: it wires the list, the page of a model, the library and the downloads."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from slipstream.cancel import CancelToken
from slipstream.engine.knobs import knobs_of
from slipstream.engine.picture import Knobs, Line
from slipstream.hub.address import Address
from slipstream.hub.library.models import Library, LocalModel
from slipstream.planning.placement import Fit
from slipstream.ui import browser
from slipstream.ui.downloads.list_page import DownloadsPage
from slipstream.ui.downloads.tray import DownloadTray
from slipstream.ui.i18n import tr
from slipstream.ui.in_turn import InTurn
from slipstream.ui.library.local_list import LocalList
from slipstream.ui.library.overview import Overview
from slipstream.ui.look import Look
from slipstream.ui.model_settings_page import ModelSettingsPage
from slipstream.ui.picker.actions import Action, What, actions
from slipstream.ui.picker.card_view import CardView
from slipstream.ui.picker.finder import Finder, Tab
from slipstream.ui.picker.found import seen
from slipstream.ui.picker.local import Content, as_it_is, content_of, of_repository, removed
from slipstream.ui.picker.model_look import Model, ModelLook, Stage
from slipstream.ui.picker.model_view import ModelView
from slipstream.ui.picker.ordering import Ordering, model_in_use
from slipstream.ui.picker.search import Search
from slipstream.ui.picker.ways import Ways
from slipstream.ui.preferences import Preferences
from slipstream.ui.stock import Stock
from slipstream.ui.widgets.labels import label
from slipstream.ui.widgets.notice_bar import Level, Notice, notice_of, warning_of
from slipstream.ui.work import Work


class ModelsPage(QWidget):
    """Find a model, look at it, download it, and keep what is on this computer in order.

    Attributes:
        noticed: a Notice for the user.
        load_wanted: the path of a model the user wants to talk to, and whether it is to be loaded
            although memory seems too small.
        restart_wanted: the path of a model of which settings changed that need a restart.
        looked_at: the repository that is looked at.
    """

    noticed = Signal(object)
    load_wanted = Signal(object, bool)
    restart_wanted = Signal(object)
    looked_at = Signal(str)

    def __init__(
        self,
        look: Look,
        work: Work,
        preferences: Preferences,
        stock: Stock,
        released: Callable[[], Mapping[str, int]],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._look, self._work, self._preferences = look, work, preferences
        self._shelf, self._board, self._released = stock.shelf, stock.board, released
        self.model = ModelLook(work, self._first_knobs, released, self)
        self.search = Search(work, self)
        self.local = LocalList(look, self._shelf)
        self.finder = Finder(look, self.search, self.local)
        self.tray = DownloadTray(look, self._board)
        self._ways = Ways(look, work, self.model, stock, self.finder.search_for, self)
        self.view = ModelView(look, self.model, self._ways.of, self._actions_of)
        self.card = CardView(look, work)
        self.overview = Overview(look, self._shelf)
        self.downloads = DownloadsPage(look, self._board)
        self._tasks = InTurn(work, self)
        self._ordering = Ordering(self.model, self._board, self._tasks, preferences, self)
        self.settings = ModelSettingsPage(look, work, self._tasks)
        self._nothing = _hint()
        self._stack = QStackedWidget()
        self._back: QWidget = self._nothing
        self._content: Content = frozenset()
        self._removed: frozenset[Path] = frozenset()
        self._files: frozenset[Path] = frozenset()
        self._gone: frozenset[Path] = frozenset()  # files that were here, and may still be shown
        self._surveyed = False
        self._lay_out()
        self._connect()

    def show_model(self, model: Model) -> None:
        """Show a model."""
        self._ordering.order_all()
        self._stack.setCurrentWidget(self.view)
        self.finder.show_current(model.repo)
        self.model.look(model)
        self._content = content_of(model, self._shelf)
        if model.repo:
            self.looked_at.emit(model.repo)

    def show_repository(self, repo: str) -> None:
        """Show a repository of the Hub."""
        self.show_model(Model(Address(repo)))

    def show_downloads(self) -> None:
        """Show the list of downloads."""
        self._on_tab(Tab.DOWNLOADS)

    def show_library(self) -> None:
        """Show what is on this computer."""
        self._on_tab(Tab.HERE)

    def show_settings(self, path: Path, title: str) -> None:
        """Show the settings of a model on this computer."""
        if self._stack.currentWidget() is not self.settings:
            self._back = self._stack.currentWidget() or self._nothing
        self.settings.show_model(path, title)
        self._stack.setCurrentWidget(self.settings)

    def focus_search(self) -> None:
        """Put the keyboard where the user searches."""
        if self.finder.tab is Tab.HERE:
            self._on_tab(Tab.FOR_YOU)
        self.finder.field.setFocus()
        self.finder.field.selectAll()

    def finish(self) -> None:
        """Keep what still waits to be kept; for the end of the program, when no work runs."""
        self._ordering.finish()
        self._tasks.finish()

    # What the user does

    def _on_tab(self, tab: Tab) -> None:
        self.finder.show_tab(tab)
        if tab is Tab.HERE:
            self._stack.setCurrentWidget(self.overview)
        elif tab is Tab.DOWNLOADS:
            self._stack.setCurrentWidget(self.downloads)
        elif self._stack.currentWidget() in (self.overview, self.downloads, self.settings):
            self._show_view()

    def _show_view(self) -> None:
        """Show the model that is looked at, if there is one."""
        looking = self.model.stage is not Stage.EMPTY
        self._stack.setCurrentWidget(self.view if looking else self._nothing)

    def _on_local(self, picked: LocalModel) -> None:
        model = Model(picked, self._shelf.library, picked.name)
        if model == self.model.model:
            self._show_view()
        else:
            self.show_model(model)

    def _load_local(self, model: LocalModel) -> None:
        """Another program may have deleted it since this computer was looked through."""

        def load(there: bool) -> None:
            if there:
                self._load(model.path)
            else:
                self._shelf.refresh()
                text = tr("{model} is not on this computer any more.").format(model=model.name)
                self.noticed.emit(Notice(text, Level.WARNING))

        self._tasks.run(model.path.is_file, load, on_error=self._tell)

    def _load(self, path: Path) -> None:
        self.load_wanted.emit(path, False)

    def _on_wanted(self, what: What, line: Line) -> None:
        match what:
            case What.LOAD:
                anyway = line.plan.placement.fit is Fit.NONE
                self._ordering.load(line, lambda: self.load_wanted.emit(line.path, anyway))
            case What.SHOW_DOWNLOADS:
                self.show_downloads()
            case What.DOWNLOAD:
                self._ordering.download(line)

    def _actions_of(self, line: Line) -> Sequence[Action]:
        if line.path in self._removed:
            return ()
        if line.path in self._gone:
            if line.row is None:
                return ()
            line = replace(line, path=None)
        ordering = self._ordering
        return actions(line, ordering.standing_of(line), finding=ordering.waits(line))

    def _on_card(self) -> None:
        offer = self.model.subject.offer if self.model.subject else None
        if offer is not None:
            self._stack.setCurrentWidget(self.card)
            self.card.show_card(offer.listing)

    def _on_settings(self) -> None:
        picture = self.model.picture
        lines = picture.lines if picture is not None else ()
        there = [(line, line.path) for line in lines if line.path]
        there.sort(key=lambda one: one[1] != self._shelf.loaded)  # the loaded one, else the first
        line, path = next(iter(there), (None, None))
        if picture is not None and line is not None and path is not None:
            self.show_settings(path, f"{picture.name} {line.label}")

    def _on_settings_closed(self) -> None:
        if self._back is self.view:
            self._show_view()
        else:
            self._stack.setCurrentWidget(self._back)

    def _on_model_changed(self) -> None:
        if not self.model.looking_further:
            self._ordering.order_all()
        if self.model.stage is Stage.EMPTY and self._stack.currentWidget() is self.view:
            self._show_view()
        self._remember()

    def _remember(self) -> None:
        """The list tells of a model as it would be loaded, not as its knobs are turned just now."""
        model, picture = self.model, self.model.picture
        if picture is None or not model.model.repo or picture.knobs != model.usual:
            return
        if picture.exact or not model.looking_further:
            self.finder.remember(model.model.repo, seen(picture))

    def _tell(self, error: BaseException) -> None:
        self.noticed.emit(notice_of(error))

    def _on_link(self, address: str) -> None:
        notice = browser.question(address)
        if notice is not None:
            self.noticed.emit(notice)

    # What is found out

    def _first_knobs(self, model: Model) -> Knobs:
        """Called in a worker."""
        here = model.what if isinstance(model.what, LocalModel) else None
        if model.repo:
            among = of_repository(self._shelf.found.library, model.repo)
            here = model_in_use(among, self._shelf.loaded)
        return knobs_of(here.path if here else None, self._preferences.values.default_context)

    def _survey(self, _cancel: CancelToken) -> Iterator[int]:
        from slipstream.engine.advice import Question, desk_for
        from slipstream.planning.recommend import most_parameters

        yield most_parameters(desk_for(Question(), self._released()).computer)

    def _show_actions(self) -> None:
        if self.view.isVisible() and self.model.stage is Stage.SHOWN:
            self.view.show_actions()

    def _on_shelf_changed(self) -> None:
        """What is downloaded, and what was removed, shows on the page of its model."""
        library = self._shelf.library
        self.finder.show_count(len(library.models))
        self.finder.show_here({place.name for one in library.models for place in one.places})
        self._removed = removed(self._shelf)
        files = frozenset(file for one in library.models for file in one.files)
        self._gone = (self._gone | (self._files - files)) - files
        self._files = files
        before, self._content = self._content, content_of(self.model.model, self._shelf)
        self._follow(library, changed=before != self._content)
        self._show_actions()

    def _follow(self, library: Library, *, changed: bool) -> None:
        """Look at the model as it is now; at none, if it is gone."""
        what = self.model.model.what
        if not isinstance(what, LocalModel):
            if changed:
                self.model.again()
            return
        now = as_it_is(what, library)
        if now is None:
            self.model.stop()
        elif changed:
            self.model.again(Model(now, library, now.name))

    # How it is put together

    def showEvent(self, event: QShowEvent) -> None:  # noqa: D102, N802
        super().showEvent(event)
        if not self._surveyed:
            self._surveyed = True
            self._work.start(
                self._survey,
                on_values=lambda most: self.finder.show_computer(most[-1]),
                on_error=lambda _: self.finder.show_computer(None),
            )

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: D102, N802
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.finder.fit(self.width())

    def _pages(self) -> tuple[QWidget, ...]:
        found = (self._nothing, self.view, self.card)
        return (*found, self.overview, self.downloads, self.settings)

    def _lay_out(self) -> None:
        for each in self._pages():
            self._stack.addWidget(each)
        self.finder.add_below(self.tray)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.finder)
        row.addWidget(self._stack, 1)

    def _connect(self) -> None:
        self.finder.chosen.connect(self.show_repository)
        self.finder.tab_chosen.connect(self._on_tab)
        self.local.picked.connect(self._on_local)
        self.local.opened.connect(self._load_local)
        self.model.changed.connect(self._on_model_changed)
        self.model.failed.connect(lambda error: self.noticed.emit(warning_of(error)))
        self._ordering.changed.connect(self.view.show_actions)
        self._ordering.noticed.connect(self.noticed)
        self.view.wanted.connect(self._on_wanted)
        self.view.card_wanted.connect(self._on_card)
        self.view.settings_wanted.connect(self._on_settings)
        self.card.closed.connect(self._show_view)
        self.card.closed.connect(self.view.card.setFocus)
        self.card.link_wanted.connect(self._on_link)
        self.overview.chat_wanted.connect(self._load_local)
        self.overview.settings_wanted.connect(
            lambda model: self.show_settings(model.path, model.name)
        )
        self.settings.closed.connect(self._on_settings_closed)
        self.settings.changed.connect(self.restart_wanted)
        self.settings.noticed.connect(self.noticed)
        self.overview.noticed.connect(self.noticed)
        self.overview.find_wanted.connect(self.focus_search)
        self.tray.opened.connect(self.show_downloads)
        self.tray.chat_wanted.connect(self._load)
        self.downloads.chat_wanted.connect(self._load)
        self.downloads.token_wanted.connect(self._ways.ask_for_download)
        self.downloads.model_wanted.connect(self.show_repository)
        self._board.changed.connect(self._show_actions)
        self._shelf.changed.connect(self._on_shelf_changed)
        self._shelf.proposed.connect(lambda _proposal: self.show_library())
        self._look.changed.connect(self._fit)
        self._on_shelf_changed()


def _hint() -> QWidget:
    """What stands there as long as no model is looked at."""
    page = QWidget()
    page.setObjectName("page")
    words = tr("Choose a model on the left to see what it takes on this computer.")
    hint = label(words, "muted", wrap=True)
    hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
    column = QVBoxLayout(page)
    column.addStretch()
    column.addWidget(hint)
    column.addStretch()
    return page
