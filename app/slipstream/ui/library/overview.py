"""The page "On this computer": every model, what it takes, and what can be done with it."""

from collections.abc import Iterator
from datetime import date

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QLineEdit,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from slipstream.ui import icons
from slipstream.ui.i18n import tr
from slipstream.ui.library import wording
from slipstream.ui.library.actions import Actions
from slipstream.ui.library.copies_bar import CopiesBar
from slipstream.ui.library.empty import NoModels
from slipstream.ui.library.removal_panel import RemovalPanel
from slipstream.ui.library.rows import (
    Order,
    Thing,
    around,
    chosen,
    copy_row,
    heading,
    loose_row,
    model_row,
    part_row,
    problem_row,
)
from slipstream.ui.library.shelf import Shelf
from slipstream.ui.look import Look
from slipstream.ui.widgets.choice import ChoiceButton, Option
from slipstream.ui.widgets.flow import FlowLayout
from slipstream.ui.widgets.labels import label
from slipstream.ui.widgets.row_list import RowList
from slipstream.ui.widgets.rows import Row
from slipstream.words import size

_DUPLICATES = "duplicates"


class Overview(QWidget):
    """The page.

    Attributes:
        chat_wanted: the LocalModel to chat with.
        settings_wanted: the LocalModel whose settings are to be shown.
        find_wanted: the user wants to search the Hub.
        folder_wanted: the user wants to choose a folder with models.
        file_wanted: the user wants to open a file.
        noticed: a Notice for the user.
    """

    chat_wanted = Signal(object)
    settings_wanted = Signal(object)
    find_wanted = Signal()
    folder_wanted = Signal()
    file_wanted = Signal()
    noticed = Signal(object)

    def __init__(self, look: Look, shelf: Shelf, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._shelf = shelf
        self._look = look
        self._summary = label("", "muted", wrap=True)
        self._rooms = label("", "small", wrap=True)
        self.filter = QLineEdit()
        self.filter.setPlaceholderText(tr("Filter"))
        self.filter.setAccessibleName(tr("Filter the models on this computer"))
        self.filter.setClearButtonEnabled(True)
        self.filter.textChanged.connect(self._fill)
        self.order = ChoiceButton(tr("Sorted by"), look)
        self.order.show_choices(_orders(), Order.NAME)
        self.order.chosen.connect(self._fill)
        self.folder = QPushButton(tr("Add a folder"))
        icons.wear(self.folder, "folder-open", look, role="text_muted", size=16)
        self.copies = CopiesBar(look, shelf)
        self.list = RowList(look, tr("Models on this computer"))
        self.nothing = NoModels(look)
        self.thing_actions = Actions(look, shelf)
        self.question = RemovalPanel(shelf)
        self._tools = QWidget()
        self._lay_out()
        self._connect()
        self._fit()
        self._fill()

    @property
    def summary(self) -> str:
        """The line about the disks."""
        return f"{self._summary.text()} {self._rooms.text()}".strip()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: D102, N802
        super().showEvent(event)
        self._shelf.watch(self, on=True)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: D102, N802
        super().hideEvent(event)
        self._shelf.watch(self, on=False)

    def _fill(self) -> None:
        library, found = self._shelf.library, self._shelf.found
        text = self.filter.text().strip()
        models = chosen(library.models, text, Order(self.order.value))
        today = date.today()
        beside = around(library, found.downloads, self._shelf.loaded)
        rows = [model_row(one, beside, today) for one in models]
        if not text:
            rows += self._rest()
        self.list.show_rows(rows)
        self._summary.setText(wording.summary(len(library.models), library.bytes, found.rooms))
        self._rooms.setText(wording.rooms_words(found.rooms))
        self.nothing.show_state(looking=not self._shelf.ready, filtered=bool(text))
        self._arrange()

    def _rest(self) -> Iterator[Row]:
        """What is below the models."""
        library, downloads = self._shelf.library, self._shelf.found.downloads
        if library.loose:
            yield heading(tr("Drafters and projectors without a model"))
            yield from map(loose_row, library.loose)
        if library.parts:
            yield heading(tr("Unfinished downloads"))
            yield from (part_row(part, downloads) for part in library.parts)
        yield from self._duplicates()
        if library.problems:
            yield heading(tr("What could not be looked at"))
            yield from map(problem_row, library.problems)

    def _duplicates(self) -> Iterator[Row]:
        groups = self._shelf.duplicates()
        if groups:
            spare = sum(copies[0].file.bytes * (len(copies) - 1) for copies in groups)
            words = tr("Keeping one copy of each frees {size}.").format(size=size(spare))
            yield heading(tr("Duplicates"), words, key=_DUPLICATES)
            yield from (copy_row(copy) for copies in groups for copy in copies)

    def _on_picked(self, thing: Thing | None) -> None:
        self.thing_actions.show_thing(thing)
        self._arrange()

    def _on_opened(self, thing: Thing) -> None:
        if self.thing_actions.chat.isVisibleTo(self.thing_actions):
            self.chat_wanted.emit(thing)

    def _arrange(self) -> None:
        """Show what there is something to say in; a question gets the room of what can wait."""
        asking = self.question.isVisibleTo(self)
        any_rows, any_models = bool(self.list.rows), bool(self._shelf.library.models)
        self._summary.setVisible(any_models)
        self._rooms.setVisible(bool(self._rooms.text()) and not asking)
        self._tools.setVisible((any_rows or any_models) and not asking)
        self.list.setVisible(any_rows)
        self.nothing.setVisible(not any_rows)
        self.thing_actions.setVisible(self.list.thing is not None and not asking)

    def _on_menu(self, place: QPoint) -> None:
        menu = self.menu()
        if menu is not None:
            menu.popup(self.list.viewport().mapToGlobal(place))

    def menu(self) -> QMenu | None:
        """What can be done with what is selected; None for nothing."""
        offered = [
            each for each in self.thing_actions.buttons if each.isVisibleTo(self.thing_actions)
        ]
        if self.list.thing is None or not offered:
            return None
        menu = QMenu(self)
        for button in offered:
            menu.addAction(button.text(), button.click)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def _lay_out(self) -> None:
        flow = FlowLayout(self._tools, gap=8)
        for each in (self.filter, self.order, self.folder, self.copies.begin):
            flow.addWidget(each)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 18, 24, 18)
        column.setSpacing(8)
        column.addWidget(label(tr("On this computer"), "title"))
        column.addWidget(self._summary)
        column.addWidget(self._rooms)
        column.addWidget(self._tools)
        column.addWidget(self.copies)
        column.addWidget(self.list, 1)
        column.addWidget(self.nothing, 1)
        column.addWidget(self.question)
        column.addWidget(self.thing_actions)

    def _connect(self) -> None:
        self.list.picked.connect(self._on_picked)
        self.list.opened.connect(self._on_opened)
        self.list.remove_wanted.connect(self.thing_actions.remove.click)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.customContextMenuRequested.connect(self._on_menu)
        self.thing_actions.chat_wanted.connect(self.chat_wanted)
        self.thing_actions.settings_wanted.connect(self.settings_wanted)
        self.thing_actions.noticed.connect(self.noticed)
        self.question.shown.connect(self._arrange)
        self.folder.clicked.connect(self.folder_wanted)
        self.nothing.find_wanted.connect(self.find_wanted)
        self.nothing.folder_wanted.connect(self.folder_wanted)
        self.nothing.file_wanted.connect(self.file_wanted)
        self._shelf.changed.connect(self._fill)
        self._shelf.copies.changed.connect(self._on_search_changed)
        self._look.changed.connect(self._fit)

    def _on_search_changed(self) -> None:
        if not self._shelf.copies.running:
            self._fill()
            self.list.reveal(_DUPLICATES)

    def _fit(self) -> None:
        self.filter.setFixedWidth(self._look.px(220))


def _orders() -> tuple[Option, ...]:
    return (
        Option(Order.NAME, tr("By name")),
        Option(Order.SIZE, tr("Largest first")),
        Option(Order.USED, tr("Last used first")),
    )
