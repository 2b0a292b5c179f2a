"""A model's card as text; nothing in it is loaded from the network or run."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from slipstream.cancel import CancelToken
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.transcript import Transcript
from slipstream.ui.widgets.labels import label
from slipstream.ui.widgets.trouble import Trouble
from slipstream.ui.work import Job, Work

if TYPE_CHECKING:
    from slipstream.hub.files import Listing


class CardView(QWidget):
    """Shows the card of one repository.

    Attributes:
        closed: the user wants back to the model.
        link_wanted: the address of a link in the card.
        transcript: the text.
    """

    closed = Signal()
    link_wanted = Signal(str)

    def __init__(self, look: Look, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._look, self._work = look, work
        self._job: Job | None = None
        self._page = ""
        self._title = label("", "section")
        back = QPushButton(tr("Back"))
        back.clicked.connect(self.closed)
        outside = QPushButton(tr("Open in the browser"))
        outside.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self._page)))
        head = QWidget()
        head.setObjectName("header")
        head.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = QHBoxLayout(head)
        row.setContentsMargins(18, 10, 18, 10)
        row.addWidget(back)
        row.addWidget(self._title, 1)
        row.addWidget(outside)
        self.transcript = Transcript(work)
        self.transcript.link_activated.connect(self.link_wanted)
        self._words = label("", "muted", wrap=True)
        self._words.setContentsMargins(24, 24, 24, 24)
        self.trouble = Trouble()
        self._stack = QStackedWidget()
        for each in (self._words, self.transcript, self.trouble):
            self._stack.addWidget(each)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(head)
        column.addWidget(self._stack, 1)
        look.changed.connect(self._wear)
        self._wear()

    def show_card(self, listing: "Listing") -> None:
        """Read the card of a repository, and show it."""
        self._stop()
        self._title.setText(listing.repo)
        self._words.setText(tr("Reading the model card…"))
        self._stack.setCurrentIndex(0)
        self._job = self._work.start(
            partial(_read, listing),
            on_values=self._on_read,
            on_error=lambda error: self._on_error(error, listing),
        )

    def _stop(self) -> None:
        if self._job is not None:
            self._job.cancel()
        self._job = None

    def _on_read(self, values: list[tuple[str, str]]) -> None:
        text, self._page = values[-1]
        self.transcript.clear()
        if not text.strip():
            self._words.setText(tr("This repository has no model card."))
            return
        self.transcript.add_reply(text)
        self.transcript.verticalScrollBar().setValue(0)
        self._stack.setCurrentIndex(1)

    def _on_error(self, error: BaseException, listing: "Listing") -> None:
        self.trouble.show_error(error, [(tr("Try again"), partial(self.show_card, listing))])
        self._stack.setCurrentIndex(2)

    def _wear(self) -> None:
        self.transcript.apply_theme(self._look.theme)
        self.transcript.set_text_size(self._look.percent)


def _read(listing: "Listing", cancel: CancelToken) -> Iterator[tuple[str, str]]:
    from slipstream.hub.card import read_card
    from slipstream.hub.connection import connect

    with connect() as connection:
        yield read_card(listing, connection, cancel), connection.page_url(listing.repo)
