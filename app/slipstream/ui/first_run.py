"""What is shown at the very first start: this computer, models that suit it, and what is there."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from slipstream.errors import SlipstreamError
from slipstream.ui.first_cards import TERMS, Card, Skeleton, Stores, button, suggestion_card
from slipstream.ui.first_search import Searches, at_the_hub, on_the_disk
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.widgets.centred import Centred
from slipstream.ui.widgets.labels import label, wear_kind
from slipstream.ui.work import Work

if TYPE_CHECKING:
    from slipstream.engine.first_models import Looking, Suggestion
    from slipstream.hub.library.models import Library

_WIDEST = 820  # pixels at 100 % text size
_EXPECTED = 3


class FirstRun(QScrollArea):
    """The first page. It looks around while it is shown, and stops when it is left.

    Attributes:
        demo_wanted: chat with the demo.
        download_wanted: an Order, and the name of its model.
        open_model: the path of a model on this computer.
        browse_wanted: show the Models page.
        all_wanted: show the models on this computer.
        folder_chosen: the path of a folder with models; once it is among the user's folders, this
            page shows what is in it.
        closed: the user is done with this page, in whatever way.
    """

    demo_wanted = Signal()
    download_wanted = Signal(object, str)
    open_model = Signal(str)
    browse_wanted = Signal()
    all_wanted = Signal()
    folder_chosen = Signal(str)
    closed = Signal()

    def __init__(
        self,
        look: Look,
        work: Work,
        folders: Callable[[], Sequence[str]],
        parent: QWidget | None = None,
    ) -> None:
        """Build the page; nothing is looked for before it is shown.

        Args:
            look: theme and text size.
            work: the background work.
            folders: tells the user's own folders with models.
            parent: the widget it lies in.
        """
        super().__init__(parent)
        self._look, self._folders = look, folders
        self._searches = Searches(work)
        self.setObjectName("settingsArea")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(tr("Welcome"))
        self.about = label("", "muted", wrap=True)
        self.about.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.words = label(tr(TERMS), "small", wrap=True)
        self.cards: list[Card] = []
        self._card_column = QVBoxLayout()
        self._card_column.setSpacing(8)
        self._waiting = [Skeleton(look) for _ in range(_EXPECTED)]
        self.state = label("", "small", wrap=True)
        self.trouble = self._trouble_card()
        self.demo = self._demo_card()
        self.stores = Stores(look)
        self.stores.chosen.connect(self._open)
        self.stores.all_wanted.connect(self.all_wanted)
        self._lay_out()

    def look_around(self) -> None:
        """Look at this computer, the Hub and the disk, anew."""
        self._searches.stop()
        self._clear_cards()
        self.about.setText(tr("Looking at this computer…"))
        self.state.setText(tr("Looking for models that fit…"))
        self.state.show()
        self.trouble.hide()
        wear_kind(self.demo.button, "")
        self._searches.start(at_the_hub, self._show_found, self._on_searched, self._on_no_hub)
        self._look_at_disk()

    # What is found

    def _look_at_disk(self) -> None:
        folders = tuple(map(Path, self._folders()))
        self.stores.show_looking()
        self._searches.start(
            lambda cancel: on_the_disk(folders, cancel),
            self._show_library,
            lambda: None,
            self.stores.show_problem,
        )

    def _show_library(self, library: "Library") -> None:
        self.stores.show_library(library)
        self._order_tabs()

    def _show_found(self, found: "str | Looking | Suggestion") -> None:
        from slipstream.engine.first_models import Looking

        if isinstance(found, str):
            self.about.setText(found)
        elif isinstance(found, Looking):
            self.state.setText(tr("Looking at {repo}…").format(repo=found.repo))
        else:
            self._add(found)

    def _add(self, found: "Suggestion") -> None:
        card = suggestion_card(found, first=not self.cards)
        card.button.clicked.connect(lambda: self._take(found))
        place = len(self.cards)
        self.cards.append(card)
        for each in self._waiting[place : place + 1]:
            each.hide()
        self._card_column.insertWidget(place, card)
        self._order_tabs()

    def _on_searched(self) -> None:
        for each in self._waiting:
            each.hide()
        self.state.setVisible(not self.cards)
        self.state.setText(tr("Nothing was found that fits as a whole; the demo always does."))

    def _on_no_hub(self, error: BaseException) -> None:
        """The Hub does not answer, or this computer could not be looked at."""
        for each in self._waiting:
            each.hide()
        self.state.hide()
        if not isinstance(error, SlipstreamError):
            raise error
        self.trouble.show_words(
            tr("{problem} What is on this computer works all the same.").format(
                problem=error.message
            ),
            error.action,
        )
        self.trouble.show()
        wear_kind(self.demo.button, "primary")

    # What the user does

    def _take(self, found: "Suggestion") -> None:
        if found.path and not found.download:
            self._open(str(found.path))
        else:
            self.download_wanted.emit(found.order, found.name)
            self._close()

    def _open(self, path: str) -> None:
        self.open_model.emit(path)
        self._close()

    def _browse(self) -> None:
        self.browse_wanted.emit()
        self._close()

    def _try_demo(self) -> None:
        self.demo_wanted.emit()
        self._close()

    def _choose_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, tr("A folder with models"))
        if folder:
            self.folder_chosen.emit(folder)
            self._look_at_disk()

    def _close(self) -> None:
        self._searches.stop()
        self.closed.emit()

    def _order_tabs(self) -> None:
        """The keyboard goes from top to bottom, also through what came later."""
        cards = (*self.cards, self.trouble, self.demo, *self.stores.rows)
        buttons = (*(card.button for card in cards), self.folder, self.browse, self.skip)
        for one, following in pairwise(buttons):
            self.setTabOrder(one, following)

    def _clear_cards(self) -> None:
        for card in self.cards:
            self._card_column.removeWidget(card)
            card.deleteLater()
        self.cards = []
        for each in self._waiting:
            each.show()

    # How it is put together

    def _trouble_card(self) -> Card:
        card = Card("", "", tr("Try again"))
        card.button.clicked.connect(self.look_around)
        return card

    def _demo_card(self) -> Card:
        card = Card(
            tr("Try the demo now, it is ready"),
            tr("It came with Slipstream: a tiny model that shows how drafting works."),
            tr("Chat with the demo"),
        )
        card.button.clicked.connect(self._try_demo)
        return card

    def _lay_out(self) -> None:
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(28, 28, 28, 24)
        column.setSpacing(8)
        column.addWidget(label(tr("Welcome to Slipstream"), "title"))
        column.addWidget(self.about)
        column.addSpacing(14)
        column.addWidget(label(tr("Good models for this computer"), "section"))
        column.addWidget(self.words)
        for each in self._waiting:
            self._card_column.addWidget(each)
        column.addLayout(self._card_column)
        for widget in (self.state, self.trouble, self.demo):
            column.addWidget(widget)
        column.addSpacing(14)
        column.addWidget(label(tr("Models you already have"), "section"))
        column.addWidget(self.stores)
        column.addSpacing(6)
        column.addLayout(self._ways_out())
        column.addStretch()
        self.setWidget(Centred(inner, self._look, _WIDEST))

    def _ways_out(self) -> QHBoxLayout:
        self.folder = button(tr("Choose a folder…"), self._choose_folder)
        self.browse = button(tr("Browse all models"), self._browse)
        self.skip = button(tr("Skip"), self._close, "flat")
        row = QHBoxLayout()
        row.setSpacing(8)
        for each in (self.folder, self.browse):
            row.addWidget(each)
        row.addStretch()
        row.addWidget(self.skip)
        return row

    # Qt's own

    def showEvent(self, event: QShowEvent) -> None:  # noqa: D102, N802
        super().showEvent(event)
        if not event.spontaneous():
            self.look_around()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: D102, N802
        super().hideEvent(event)
        if not event.spontaneous():
            self._searches.stop()
