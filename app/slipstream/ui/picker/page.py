"""The Models page: it wires the list, the page of a model, the library and the downloads."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from slipstream.cancel import CancelToken
from slipstream.engine.knobs import keep_knobs, knobs_of
from slipstream.engine.picture import Knobs, Line
from slipstream.errors import SlipstreamError
from slipstream.hub.address import Address
from slipstream.hub.downloads.orders import target_path
from slipstream.hub.library.models import LocalModel
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
from slipstream.ui.picker.model_look import Model, ModelLook, Stage
from slipstream.ui.picker.model_view import ModelView
from slipstream.ui.picker.search import Search
from slipstream.ui.picker.wording import model_words
from slipstream.ui.preferences import Preferences
from slipstream.ui.stock import Stock
from slipstream.ui.token_dialog import TokenDialog
from slipstream.ui.widgets.labels import label
from slipstream.ui.widgets.notice_bar import notice_of
from slipstream.ui.widgets.trouble import Way
from slipstream.ui.work import Work

if TYPE_CHECKING:
    from slipstream.hub.downloads.standing import Standing

_NEEDS_TOKEN = frozenset({"gated", "forbidden", "bad_token"})
_NO_MODEL = frozenset({"only_drafters", "no_gguf"})
"""Somebody else's repository may have what this one has not."""


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
        self.view = ModelView(look, self.model, self._ways, self._actions_of)
        self.card = CardView(look, work)
        self.overview = Overview(look, self._shelf)
        self.downloads = DownloadsPage(look, self._board)
        self._tasks = InTurn(work, self)
        self.settings = ModelSettingsPage(look, work, self._tasks)
        self._nothing = _hint()
        self._stack = QStackedWidget()
        self._back: QWidget = self._nothing
        self._there: frozenset[Path] = frozenset()
        self._finding: Line | None = None  # downloaded as soon as its drafter was looked for
        self._surveyed = False
        self._lay_out()
        self._connect()

    def show_model(self, model: Model) -> None:
        """Show a model."""
        self._order_what_waits()
        self._stack.setCurrentWidget(self.view)
        self.finder.show_current(model.repo)
        self.model.look(model)
        self._there = self._files_of_model()
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
        self._tasks.finish()

    # What the user does

    def _on_tab(self, tab: Tab) -> None:
        self.finder.show_tab(tab)
        if tab is Tab.HERE:
            self._stack.setCurrentWidget(self.overview)
        elif tab is Tab.DOWNLOADS:
            self._stack.setCurrentWidget(self.downloads)
        elif self._stack.currentWidget() in (self.overview, self.downloads, self.settings):
            looking = self.model.stage is not Stage.EMPTY
            self._stack.setCurrentWidget(self.view if looking else self._nothing)

    def _on_local(self, model: LocalModel) -> None:
        looked_at = self.model.model.what
        if isinstance(looked_at, LocalModel) and looked_at.path == model.path:
            self._stack.setCurrentWidget(self.view)
        else:
            self.show_model(Model(model, self._shelf.library, model.name))

    def _load_local(self, model: LocalModel) -> None:
        self._load(model.path)

    def _load(self, path: Path) -> None:
        self.load_wanted.emit(path, False)

    def _on_load(self, line: Line) -> None:
        path, anyway = line.path, line.plan.placement.fit is Fit.NONE
        if path is not None:
            self._keep_knobs(path, line, lambda: self.load_wanted.emit(path, anyway))

    def _keep_knobs(self, path: Path, line: Line, then: Callable[[], None]) -> None:
        """What was turned on the page counts wherever the model is loaded from now on."""
        picture = self.model.picture
        if picture is None:
            return
        knobs, spec, usual = picture.knobs, line.plan.setup.spec, self._usual_context

        def failed(error: BaseException) -> None:
            self.noticed.emit(notice_of(error))
            then()

        self._tasks.run(
            lambda: keep_knobs(path, knobs, spec, usual), lambda _: then(), on_error=failed
        )

    @property
    def _usual_context(self) -> int:
        return self._preferences.values.default_context

    def _on_wanted(self, what: What, line: Line) -> None:
        match what:
            case What.LOAD:
                self._on_load(line)
            case What.SHOW_DOWNLOADS:
                self.show_downloads()
            case What.DOWNLOAD if self.model.looking_further and self._finding is None:
                self._finding = line
                self.view.show_actions()
            case What.DOWNLOAD:
                self._order(line)

    def _actions_of(self, line: Line) -> Sequence[Action]:
        finding = self._finding is not None and _same(self._finding, line)
        return actions(line, self._standing_of(line), finding=finding)

    def _standing_of(self, line: Line) -> "Standing | None":
        """How its download stands."""
        if line.row is None:
            return None
        repo, path = self.model.model.repo, line.row.files.path
        for one in self._board.standings:
            item = one.entry.record.order.items[0]
            if (item.repo, item.files[0].path) == (repo, path):
                return one
        return None

    def _order_what_waits(self) -> None:
        """The drafter was looked for, or nobody waits for it any more."""
        line = self._finding
        if line is not None:
            now = (each for each in self._lines() if _same(each, line))
            self._order(next(now, line))

    def _order(self, line: Line) -> None:
        self._finding = None
        order = self.model.order(line)
        if order is not None:
            add = partial(self._board.add, order)
            self._keep_knobs(target_path(order), line, add)
        self.view.show_actions()

    def _on_card(self) -> None:
        offer = self.model.subject.offer if self.model.subject else None
        if offer is not None:
            self._stack.setCurrentWidget(self.card)
            self.card.show_card(offer.listing)

    def _on_settings(self) -> None:
        picture = self.model.picture
        there = ((line, line.path) for line in self._lines() if line.path)
        line, path = next(there, (None, None))
        if picture is not None and line is not None and path is not None:
            self.show_settings(path, f"{picture.name} {line.label}")

    def _lines(self) -> tuple[Line, ...]:
        return self.model.picture.lines if self.model.picture else ()

    def _on_model_changed(self) -> None:
        model, picture = self.model.model, self.model.picture
        if not self.model.looking_further:
            self._order_what_waits()
        if self.model.stage is Stage.SHOWN and picture is not None and model.repo:
            self.finder.remember(model.repo, seen(picture))

    def _ways(self, error: BaseException) -> list[Way]:
        """What helps when a model cannot be shown."""
        again = (tr("Try again"), self.model.again)
        if isinstance(error, SlipstreamError) and error.code in _NO_MODEL:
            words = model_words(self.model.model.repo)
            find = partial(self.finder.search_for, words)
            return [(tr("Search for “{words}”").format(words=words), find)] if words else []
        if isinstance(error, SlipstreamError) and error.code in _NEEDS_TOKEN:
            return [
                (tr("Enter a token"), self._ask_for_token),
                (tr("Open its page"), self._open_page),
                again,
            ]
        return [again]

    def _ask_for_token(self) -> None:
        self._ask(self.model.model.repo, self.model.again)

    def _ask_for_download(self, name: str) -> None:
        """A download needs a token; with one it goes on."""
        there = (one for one in self._board.standings if one.id == name)
        repo = next((one.repo for one in there), "")
        self._ask(repo, partial(self._board.resume, name))

    def _ask(self, repo: str, then: Callable[[], None]) -> None:
        dialog = TokenDialog(self._look, self._work, repo, self)
        dialog.saved.connect(lambda _account: then())
        dialog.open()

    def _open_page(self) -> None:
        from slipstream.hub.address import HUB, endpoint

        browser.open_page(f"{endpoint() or HUB}/{self.model.model.repo}")

    def _on_link(self, address: str) -> None:
        notice = browser.question(address)
        if notice is not None:
            self.noticed.emit(notice)

    # What is found out

    def _first_knobs(self, model: Model) -> Knobs:
        """Called in a worker."""
        here = model.what if isinstance(model.what, LocalModel) else None
        if model.repo:
            library = self._shelf.found.library
            here = next((one for one in library.models if _is_of(one, model.repo)), None)
        return knobs_of(here.path if here else None, self._usual_context)

    def _survey(self, _cancel: CancelToken) -> Iterator[int]:
        from slipstream.engine.advice import Question, desk_for
        from slipstream.planning.recommend import most_parameters

        yield most_parameters(desk_for(Question(), self._released()).computer)

    def _on_board_changed(self) -> None:
        if self.view.isVisible() and self.model.stage is Stage.SHOWN:
            self.view.show_actions()

    def _on_shelf_changed(self) -> None:
        """What is downloaded, and what was removed, shows on the page of its model."""
        self.finder.show_count(len(self._shelf.library.models))
        there = self._files_of_model()
        if there != self._there and self.model.stage is Stage.SHOWN:
            self.model.again()
        self._there = there

    def _files_of_model(self) -> frozenset[Path]:
        """What is on this computer of the model that is looked at."""
        model = self.model.model
        home = model.what.places[0].home if isinstance(model.what, LocalModel) else None
        return frozenset(
            file.path
            for one in self._shelf.library.models
            if _is_of(one, model.repo) or one.places[0].home == home
            for file in (one, *one.companions)
        )

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
        self.view.wanted.connect(self._on_wanted)
        self.view.card_wanted.connect(self._on_card)
        self.view.settings_wanted.connect(self._on_settings)
        self.card.closed.connect(lambda: self._stack.setCurrentWidget(self.view))
        self.card.link_wanted.connect(self._on_link)
        self.overview.chat_wanted.connect(self._load_local)
        self.overview.settings_wanted.connect(
            lambda model: self.show_settings(model.path, model.name)
        )
        self.settings.closed.connect(lambda: self._stack.setCurrentWidget(self._back))
        self.settings.changed.connect(self.restart_wanted)
        self.overview.noticed.connect(self.noticed)
        self.overview.find_wanted.connect(self.focus_search)
        self.tray.opened.connect(self.show_downloads)
        self.tray.chat_wanted.connect(self._load)
        self.downloads.chat_wanted.connect(self._load)
        self.downloads.token_wanted.connect(self._ask_for_download)
        self.downloads.model_wanted.connect(self.show_repository)
        self._board.changed.connect(self._on_board_changed)
        self._shelf.changed.connect(self._on_shelf_changed)
        self._shelf.proposed.connect(lambda _proposal: self.show_library())
        self._look.changed.connect(self._fit)
        self._on_shelf_changed()


def _is_of(one: LocalModel, repo: str) -> bool:
    return bool(repo) and any(place.name == repo for place in one.places)


def _same(one: Line, other: Line) -> bool:
    """Whether two pictures show the same quantization."""
    return one.plan.quantization.files == other.plan.quantization.files


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
