"""The downloads at a glance: a tray for the Models page, and a badge for any other."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QToolButton, QVBoxLayout, QWidget

from slipstream.ui import icons
from slipstream.ui.downloads.board import DownloadBoard
from slipstream.ui.downloads.brief import Brief, brief
from slipstream.ui.downloads.parts import Bar, Name, numbers_label, words_label
from slipstream.ui.downloads.wording import (
    BUSY,
    Phase,
    percent,
    phase_of,
    spoken,
    unbroken,
)
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.wording import percent as share_words


class DownloadTray(QPushButton):
    """What is downloaded now, what was finished, or what failed; hidden if there is nothing.

    Attributes:
        opened: the user wants to see the full list.
        chat_wanted: the path of the model the user wants to talk to.
    """

    opened = Signal()
    chat_wanted = Signal(object)

    def __init__(self, look: Look, board: DownloadBoard, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._board = board
        self._brief: Brief | None = None
        self.setProperty("kind", "tray")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._title = Name("value")
        self._percent = numbers_label("small")
        self._bar = Bar()
        self._detail = words_label("small")
        self.chat = QPushButton(tr("Chat now"))
        self.chat.setProperty("kind", "primary")
        self.chat.clicked.connect(self._on_chat)
        self.clicked.connect(self.opened)
        self._lay_out()
        board.changed.connect(self._show)
        look.changed.connect(self.updateGeometry)
        self._show()

    def sizeHint(self) -> QSize:  # noqa: D102, N802
        layout = self.layout()
        return super().sizeHint() if layout is None else layout.totalSizeHint()

    def minimumSizeHint(self) -> QSize:  # noqa: D102, N802
        return QSize(0, self.sizeHint().height())

    def showEvent(self, event: QShowEvent) -> None:  # noqa: D102, N802
        super().showEvent(event)
        self._board.watch(self, on=True)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: D102, N802
        super().hideEvent(event)
        self._board.watch(self, on=False)

    def _show(self) -> None:
        shown = self._brief = brief(self._board.standings, self._board.news)
        self.setVisible(shown is not None)
        if shown is None:
            return
        progress = shown.one.progress
        self._title.show_text(shown.title)
        self._detail.setText(unbroken(shown.detail))
        self._detail.setVisible(bool(shown.detail))
        under_way = phase_of(shown.one.entry) not in (Phase.DONE, Phase.FAILED)
        for each in (self._percent, self._bar):
            each.setVisible(under_way)
        self._percent.setText(share_words(percent(progress) / 100))
        self._bar.show_share(progress.done, progress.total, spoken(shown.one))
        self._bar.setAccessibleName(shown.one.title)
        self.chat.setVisible(shown.chat)
        self.chat.setAccessibleName(tr("Chat now with {title}").format(title=shown.one.title))
        self.setAccessibleName(tr("Downloads: {words}").format(words=shown.spoken))
        self.updateGeometry()

    def _on_chat(self) -> None:
        shown = self._brief
        self._board.see_news()
        if shown is not None and shown.one.target is not None:
            self.chat_wanted.emit(shown.one.target)

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(8)
        top.addWidget(self._title, 1)
        top.addWidget(self._percent)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 10, 12, 10)
        column.setSpacing(6)
        column.addLayout(top)
        column.addWidget(self._bar)
        column.addWidget(self._detail)
        column.addWidget(self.chat, 0, Qt.AlignmentFlag.AlignLeft)
        for each in (self._title, self._percent, self._bar, self._detail):
            each.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)


class DownloadBadge(QToolButton):
    """A small button with how far the download is, for the rail; hidden if there is nothing.

    Attributes:
        opened: the user wants to see the full list.
    """

    opened = Signal()

    def __init__(self, look: Look, board: DownloadBoard, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look, self._board = look, board
        self.setProperty("kind", "rail")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        icons.wear(self, "download", look, role="accent_text", size=20)
        self.clicked.connect(self.opened)
        board.changed.connect(self._show)
        look.changed.connect(self._fit)
        self._fit()
        self._show()

    def _show(self) -> None:
        shown = brief(self._board.standings, self._board.news)
        self.setVisible(shown is not None)
        if shown is not None:
            self.setText(_word(shown))
            self.setAccessibleName(tr("Downloads: {words}").format(words=shown.spoken))
            self.setToolTip(shown.spoken)

    def _fit(self) -> None:
        self.setFixedSize(QSize(self._look.px(64) - 10, self._look.px(48)))


def _word(shown: Brief) -> str:
    """The state of the downloads in a word."""
    match phase_of(shown.one.entry):
        case phase if phase in BUSY:
            return share_words(percent(shown.one.progress) / 100)
        case Phase.DONE:
            return tr("Done")
        case Phase.FAILED:
            return tr("Failed")
        case Phase.PAUSED:
            return tr("Paused")
    return tr("Waiting")
