"""A model's card as text; nothing in it is loaded from the network or run."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QPlainTextEdit,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from slipstream.cancel import CancelToken
from slipstream.hub.address import HUB, endpoint
from slipstream.ui import browser
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.transcript import Transcript
from slipstream.ui.transcript.markdown import parse
from slipstream.ui.widgets.labels import label
from slipstream.ui.widgets.page_head import page_head
from slipstream.ui.widgets.trouble import Trouble
from slipstream.ui.work import Job, Work

if TYPE_CHECKING:
    from slipstream.hub.files import Listing

_LONGEST = 40_000
"""Characters that are formatted: anybody can write a card."""
_LONGEST_LINE = 5_000
"""Of those, in one line: Qt lays out a line as a whole, again with every piece that is added."""
_QUICK = 0.5
"""Seconds that reading the whole may take; some texts are made to take for ever."""
_LOOK_MS = 30


class CardView(QWidget):
    """Shows the card of one repository.

    Attributes:
        closed: the user wants back to the model.
        link_wanted: the address of a link in the card.
        transcript: the text.
        plain: the text where formatting it would take too long.
    """

    closed = Signal()
    link_wanted = Signal(str)

    def __init__(self, look: Look, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._look, self._work = look, work
        self._job: Job | None = None
        self._page = ""
        self._title = label("", "section", wrap=True)
        self._back = QPushButton(tr("Back"))
        self._back.clicked.connect(self.closed)
        outside = QPushButton(tr("Open in the browser"))
        outside.clicked.connect(lambda: browser.open_page(self._page))
        self.transcript = Transcript(work)
        self.transcript.setAccessibleName(tr("Model card"))
        self.transcript.link_activated.connect(self.link_wanted)
        self._words = label("", "muted", wrap=True)
        self._words.setContentsMargins(24, 24, 24, 24)
        self.plain = QPlainTextEdit()
        self.plain.setObjectName("settingText")
        self.plain.setReadOnly(True)
        self.plain.setAccessibleName(tr("Model card"))
        self._filled = QTimer(self)
        self._filled.setInterval(_LOOK_MS)
        self._filled.timeout.connect(self._show_filled)
        self.trouble = Trouble()
        self._stack = QStackedWidget()
        for each in (self._words, self.transcript, self.trouble, self.plain):
            self._stack.addWidget(each)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(page_head(self._back, self._title, outside))
        column.addWidget(self._stack, 1)
        look.changed.connect(self._wear)
        self._wear()

    def show_card(self, listing: "Listing") -> None:
        """Read the card of a repository, and show it."""
        self._stop()
        self._page = f"{endpoint() or HUB}/{listing.repo}"
        self._title.setText(listing.repo)
        self._words.setText(tr("Reading the model card…"))
        self._stack.setCurrentIndex(0)
        self._back.setFocus()
        self._job = self._work.start(
            partial(_read, listing),
            on_values=self._on_read,
            on_error=lambda error: self._on_error(error, listing),
        )

    def _stop(self) -> None:
        self._filled.stop()
        self.transcript.clear()
        if self._job is not None:
            self._job.abandon()
        self._job = None

    def _on_read(self, values: "list[_Card]") -> None:
        card = values[-1]
        self.transcript.clear()
        if not card.text.strip():
            self._words.setText(tr("This repository has no model card."))
            return
        if not card.formatted:
            self.plain.setPlainText(card.text)
            self._show_text(self.plain)
            return
        with self.transcript.filling():  # in slices, which do not stop the window
            self.transcript.add_reply(card.text)
        self._filled.start()

    def _show_filled(self) -> None:
        if self.transcript.filled:
            self._filled.stop()
            self.transcript.verticalScrollBar().setValue(0)
            self._show_text(self.transcript)

    def _show_text(self, text: QWidget) -> None:
        """Show the card; its keys scroll, unless the user has gone elsewhere meanwhile."""
        self._stack.setCurrentWidget(text)
        if self._back.hasFocus():
            text.setFocus()

    def _on_error(self, error: BaseException, listing: "Listing") -> None:
        self.trouble.show_error(error, [(tr("Try again"), partial(self.show_card, listing))])
        self._stack.setCurrentIndex(2)

    def event(self, event: QEvent) -> bool:  # noqa: D102
        if _is_escape(event):  # before the window's own shortcut gets it
            event.accept()
            if event.type() is QEvent.Type.KeyPress:
                self.closed.emit()
            return True
        return super().event(event)

    def _wear(self) -> None:
        self.transcript.apply_theme(self._look.theme)
        self.transcript.set_text_size(self._look.percent)


@dataclass(frozen=True)
class _Card:
    """A card, and whether it can be formatted without stopping the window."""

    text: str
    formatted: bool


def _read(listing: "Listing", cancel: CancelToken) -> Iterator[_Card]:
    from slipstream.hub.card import read_card
    from slipstream.hub.connection import connect

    with connect() as connection:
        text = read_card(listing, connection, cancel)
    yield _Card(text, _is_quick(text))


def _is_escape(event: QEvent) -> bool:
    return isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape


def _is_quick(text: str) -> bool:
    """Whether a text is formatted in a moment."""
    if len(text) > _LONGEST or max(map(len, text.split("\n"))) > _LONGEST_LINE:
        return False
    began = time.perf_counter()
    parse(text)
    return time.perf_counter() - began < _QUICK
