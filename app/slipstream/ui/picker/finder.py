"""The left column of the Models page: search, what there is for this computer, what is on it."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QPushButton, QStackedWidget, QVBoxLayout, QWidget

from slipstream.ui.i18n import tr
from slipstream.ui.library.local_list import LocalList
from slipstream.ui.look import Look
from slipstream.ui.picker.found import Seen, entry, entry_of
from slipstream.ui.picker.results import Results
from slipstream.ui.picker.search import Search, Stage, search_words
from slipstream.ui.widgets.flow import FlowLayout
from slipstream.ui.widgets.labels import label
from slipstream.ui.widgets.rows import Pill, Row
from slipstream.ui.widgets.search_field import SearchField
from slipstream.ui.widgets.trouble import Trouble, Way
from slipstream.words import Tone

_WIDTH = 300
_NARROWEST = 220
_SHARE = 0.34
_TICK_MS = 1000


class Tab(StrEnum):
    """What the list shows."""

    FOR_YOU = "for_you"
    RECENT = "recent"
    HERE = "here"
    DOWNLOADS = "downloads"
    FOUND = "found"


class Finder(QWidget):
    """Finds a model.

    Attributes:
        chosen: the repository the user wants to see.
        tab_chosen: the Tab the user wants.
        field: where the user types.
        results: the models of the Hub.
        trouble: why there are none.
        again: asks for the rest, where the list was cut off.
    """

    chosen = Signal(str)
    tab_chosen = Signal(object)

    def __init__(
        self, look: Look, search: Search, here: LocalList, parent: QWidget | None = None
    ) -> None:
        """Prepare.

        Args:
            look: colours and sizes.
            search: asks the Hub.
            here: the list of models on this computer.
            parent: as Qt has it.
        """
        super().__init__(parent)
        self._look, self._search = look, search
        self._most: int | None = None
        self._surveyed = False
        self._clearing = False
        self._seen: dict[str, Seen] = {}
        self._recent: Sequence[str] = ()
        self._repos_here: Collection[str] = frozenset()
        self._current = ""
        self.tab = Tab.FOR_YOU
        self.setObjectName("sidebar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.field = SearchField()
        self.field.left_downwards.connect(self._enter_list)
        self.field.setClearButtonEnabled(True)
        self.field.textChanged.connect(self._on_typed)
        self.field.returnPressed.connect(self._on_entered)
        self._buttons = {
            tab: self._tab_button(tab, words)
            for tab, words in (
                (Tab.FOR_YOU, tr("For your computer")),
                (Tab.RECENT, tr("Recent")),
                (Tab.HERE, tr("On this computer")),
                (Tab.DOWNLOADS, tr("Downloads")),
            )
        }
        self.results = Results(look, tr("Models on the Hub"))
        self.results.chosen.connect(self.chosen)
        self.results.end_near.connect(self._read_on)
        self._words = label("", "muted", wrap=True)
        self._words.setContentsMargins(4, 8, 4, 8)
        self.trouble = Trouble()
        self.again = QPushButton(tr("Try again"))
        self.again.setProperty("kind", "link")
        self.again.clicked.connect(search.again)
        self._here = here
        self._stack = QStackedWidget()
        self._below = QVBoxLayout()
        self._lay_out()
        self._ticks = QTimer(self)
        self._ticks.setInterval(_TICK_MS)
        self._ticks.timeout.connect(self._say_again)
        search.changed.connect(self.refresh)
        self.show_tab(Tab.FOR_YOU)

    def add_below(self, widget: QWidget) -> None:
        """Put something below the list."""
        self._below.addWidget(widget)

    def show_computer(self, most: int | None) -> None:
        """Take over how large a model may be here: parameters; None if nobody knows."""
        self._most, self._surveyed = most, True
        if self.tab is Tab.FOR_YOU:
            self._ask()
        self.refresh()

    def show_count(self, number: int) -> None:
        """Say how many models there are on this computer."""
        self._buttons[Tab.HERE].setText(tr("On this computer · {n}").format(n=number))

    def show_here(self, repos: Collection[str]) -> None:
        """Mark the repositories of which something is on this computer."""
        if repos != self._repos_here:
            self._repos_here = repos
            self.refresh()

    def show_recent(self, repos: Sequence[str]) -> None:
        """Take over what was looked at before, newest first."""
        self._recent = tuple(repos)
        self.refresh()

    def show_current(self, repo: str) -> None:
        """Mark the model that is looked at; empty for none on the Hub."""
        self._current = repo
        self._mark(self.tab)
        self.refresh()

    def search_for(self, words: str) -> None:
        """Search the Hub for these words."""
        self.show_tab(Tab.FOUND)
        self.field.setText(words)

    def remember(self, repo: str, what: Seen) -> None:
        """Show from now on what a look into a repository showed."""
        if self._seen.get(repo) != what:
            self._seen[repo] = what
            self.refresh()

    def show_tab(self, tab: Tab) -> None:
        """Show another list."""
        if tab is not Tab.DOWNLOADS:  # they have no list on this side
            self.tab = tab
        self._mark(tab)
        if tab not in (Tab.FOUND, Tab.DOWNLOADS) and self.field.text():
            self._clearing = True
            self.field.clear()
            self._clearing = False
            self._here.show_filtered("")
        words = tr("Search models on the Hub")
        if self.tab is Tab.HERE:
            words = tr("Filter the models on this computer")
        self.field.setPlaceholderText(words)
        self.field.setAccessibleName(words)
        self._ask()
        self.refresh()

    def _mark(self, tab: Tab) -> None:
        for each, button in self._buttons.items():
            button.setChecked(each is tab)

    def refresh(self) -> None:
        """Show what is known now."""
        self._ticks.start() if self._search.stage is Stage.ASKING else self._ticks.stop()
        if self.tab is Tab.HERE:
            self._stack.setCurrentWidget(self._here)
            return
        if self.tab is Tab.RECENT:
            entries = [entry_of(repo, self._seen.get(repo)) for repo in self._recent]
            self._show_words("" if entries else tr("What you look at is listed here."))
        else:
            found = self._search.found
            entries = [entry(one, self._most, self._seen.get(one.repo)) for one in found]
            self._show_words(search_words(self._search))
        self.results.show_entries([self._marked(each) for each in entries], self._current)
        failed = self._search.stage is Stage.FAILED and self.tab is not Tab.RECENT
        self.again.setVisible(failed)
        if failed and self._search.error is not None and not entries:
            here = partial(self.tab_chosen.emit, Tab.HERE)
            ways: list[Way] = [
                (tr("Try again"), self._search.again),
                (tr("Show what is on this computer"), here),
            ]
            self.trouble.show_error(self._search.error, ways)
            self._stack.setCurrentIndex(1)
        else:
            self._stack.setCurrentIndex(0)
        if self.results.has_room:
            self._read_on()

    def _marked(self, row: Row) -> Row:
        if row.key not in self._repos_here:
            return row
        return replace(row, pills=(Pill(tr("On this computer"), Tone.GOOD), *row.pills))

    def _read_on(self) -> None:
        if self.tab is not Tab.RECENT:
            self._search.more()

    def _say_again(self) -> None:
        """A wait is told by no signal."""
        if self.tab in (Tab.FOR_YOU, Tab.FOUND):
            self._show_words(search_words(self._search))

    def _show_words(self, words: str) -> None:
        self._words.setText(words)
        self._words.setVisible(bool(words))

    def _ask(self) -> None:
        if self.tab is Tab.FOUND:
            self._search.ask(self.field.text())
        elif self.tab is Tab.FOR_YOU and self._surveyed:
            self._search.ask("", self._most, at_once=True)

    def _on_typed(self, text: str) -> None:
        if self._clearing:
            return
        if self.tab is Tab.HERE:
            self._here.show_filtered(text)
            return
        self.show_tab(Tab.FOUND if text.strip() else Tab.FOR_YOU)

    def _on_entered(self) -> None:
        if self.tab is Tab.FOUND:
            self._search.ask(self.field.text(), at_once=True)

    def _enter_list(self) -> None:
        """From the field to what it found, by the arrow key."""
        (self._here.list if self.tab is Tab.HERE else self.results).enter()

    def _tab_button(self, tab: Tab, words: str) -> QPushButton:
        button = QPushButton(words)
        button.setCheckable(True)
        button.setProperty("kind", "pill")
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.clicked.connect(lambda: self.tab_chosen.emit(tab))
        return button

    def _lay_out(self) -> None:
        tabs = FlowLayout(gap=6)
        for button in self._buttons.values():
            tabs.addWidget(button)
        listed = QWidget()
        inner = QVBoxLayout(listed)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.addWidget(self._words)
        inner.addWidget(self.again, 0, Qt.AlignmentFlag.AlignLeft)
        inner.addWidget(self.results, 1)
        failed = QWidget()
        inner = QVBoxLayout(failed)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.addWidget(self.trouble)
        works = tr("What is on this computer works all the same.")
        inner.addWidget(label(works, "muted", wrap=True))
        inner.addStretch()
        for each in (listed, failed, self._here):
            self._stack.addWidget(each)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 14, 12, 12)
        column.setSpacing(10)
        column.addWidget(self.field)
        column.addLayout(tabs)
        column.addWidget(self._stack, 1)
        column.addLayout(self._below)

    def fit(self, room: int) -> None:
        """Take a part of the page.

        Args:
            room: width of the page in pixels.
        """
        self.setFixedWidth(min(self._look.px(_WIDTH), max(_NARROWEST, round(room * _SHARE))))
