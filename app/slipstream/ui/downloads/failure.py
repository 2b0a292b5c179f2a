"""What went wrong with a download: a sentence, the facts on demand, one button that helps."""

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from slipstream.errors import SlipstreamError
from slipstream.ui.downloads.parts import words_label
from slipstream.ui.downloads.wording import Help, Way, help_for
from slipstream.ui.i18n import tr
from slipstream.ui.widgets.flow import FlowLayout
from slipstream.words import facts_lines


class Failure(QWidget):
    """Why a download failed.

    Attributes:
        helped: the Way that the user wants to go.
    """

    helped = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._help: Help | None = None
        self._text = words_label("trouble")
        self._facts = words_label("small")
        for words in (self._text, self._facts):
            words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.button = QPushButton()
        self.button.setProperty("kind", "outline")
        self.button.clicked.connect(self._on_help)
        self.again = QPushButton(tr("Try again"))
        self.again.clicked.connect(lambda: self.helped.emit(Way.AGAIN))
        self.page = QPushButton(tr("Open its page"))
        self.page.setProperty("kind", "link")
        self.page.clicked.connect(self._open_page)
        self.details = QPushButton(tr("Details"))
        self.details.setProperty("kind", "link")
        self.details.setCheckable(True)
        self.details.toggled.connect(self._facts.setVisible)
        row = FlowLayout(gap=8)
        for each in (self.button, self.again, self.page, self.details):
            row.addWidget(each)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 2, 0, 0)
        column.setSpacing(8)
        column.addWidget(self._text)
        column.addLayout(row)
        column.addWidget(self._facts)
        self._facts.setVisible(False)

    @property
    def text(self) -> str:
        """What it says."""
        return self._text.text()

    @property
    def facts(self) -> str:
        """The facts, as far as they are shown."""
        return self._facts.text() if self._facts.isVisible() else ""

    def show_error(self, error: SlipstreamError | None, title: str) -> None:
        """Say what went wrong with ``title``; nothing is shown if nothing did."""
        self.setVisible(error is not None)
        if error is None:
            self.details.setChecked(False)
            return
        shown = self._help = help_for(error)
        lines = "\n".join(facts_lines(error))
        self._text.setText(f"{error.message} {shown.advice}")
        self._facts.setText(lines)
        self.button.setText(shown.button)
        self.again.setVisible(shown.way is not Way.AGAIN)
        self.page.setVisible(bool(shown.page) and shown.way is not Way.PAGE)
        self.details.setVisible(bool(lines))
        for each in (self.button, self.again, self.page, self.details):
            each.setAccessibleName(f"{each.text()}: {title}")

    def _on_help(self) -> None:
        if self._help is None:
            return
        if self._help.way is Way.PAGE:
            self._open_page()
        else:
            self.helped.emit(self._help.way)

    def _open_page(self) -> None:
        if self._help is not None and self._help.page:
            QDesktopServices.openUrl(QUrl(self._help.page))
