"""The one door for messages to the user: a sentence, the facts on demand, one button that helps."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from slipstream.errors import SlipstreamError
from slipstream.ui import icons
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.widgets.beside import Beside
from slipstream.ui.widgets.labels import label
from slipstream.ui.wording import our_fault
from slipstream.words import facts_lines

_LOG_LINES = 8


UNDO_MS = 30_000
"""How long the way back is offered at most; nothing else takes its place."""


class Level(StrEnum):
    """How a notice looks."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class Notice:
    """One message to the user.

    Attributes:
        text: a sentence or two.
        level: how it looks.
        details: what is known, line by line, shown on demand.
        button: words on the button that helps; empty for none.
        act: what the button does.
        chat_id: the chat it is about, 0 for one that is not kept yet; None for any other matter.
        undoes: what kind of thing it can bring back, and nothing else could; empty for none.
    """

    text: str
    level: Level = Level.INFO
    details: tuple[str, ...] = ()
    button: str = ""
    act: Callable[[], None] | None = None
    chat_id: int | None = None
    undoes: str = ""


def notice_of(
    error: BaseException, *, button: str = "", act: Callable[[], None] | None = None
) -> Notice:
    """The notice for something that was raised; what is not a SlipstreamError is a bug of ours."""
    if isinstance(error, SlipstreamError):
        text = f"{error.message} {error.action}"
        return Notice(text, Level.ERROR, _details(error), button, act)
    return Notice(our_fault(), Level.ERROR, (f"{type(error).__name__}: {error}",), button, act)


def warning_of(error: BaseException) -> Notice:
    """The notice for something that was refused, which is no failure; a bug of ours is one."""
    notice = notice_of(error)
    return replace(notice, level=Level.WARNING) if isinstance(error, SlipstreamError) else notice


def _details(error: SlipstreamError) -> tuple[str, ...]:
    """The facts, and below them the end of the engine's log."""
    log = str(error.facts.get("log") or "")
    return (*facts_lines(error), *log.splitlines()[-_LOG_LINES:])


class Notices(QWidget):
    """Shows the newest notice, and beside it those that can bring something back: news does not
    take the way back away."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._bars: dict[str, NoticeBar] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._newest = self._bar("")

    @property
    def notice(self) -> Notice | None:
        """The newest that is still shown."""
        return self._latest.notice

    @property
    def shown(self) -> tuple[Notice, ...]:
        """Every one that is shown, from top to bottom."""
        return tuple(bar.notice for bar in self._bars.values() if bar.notice is not None)

    def show_notice(self, notice: Notice) -> None:
        """Show ``notice`` in place of the last one of its kind."""
        self._newest = self._bar(notice.undoes)
        self._newest.show_notice(notice)
        if notice.undoes:
            QTimer.singleShot(UNDO_MS, self, lambda: self.withdraw(notice))

    def withdraw(self, notice: Notice) -> None:
        """Show ``notice`` no more, if it is still there."""
        for bar in self._bars.values():
            bar.withdraw(notice)

    def enter_chat(self, chat_id: int | None) -> None:
        """A chat was opened (None: a new one): what is about another one has no place here."""
        for bar in self._bars.values():
            bar.enter_chat(chat_id)

    def clear(self) -> None:
        """Show nothing."""
        for bar in self._bars.values():
            bar.clear()

    def act(self) -> None:
        """Do what the button of the newest says."""
        self._latest.act()

    def take_keyboard(self) -> None:
        """Put the keyboard at the button of the newest."""
        self._latest.button.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def _latest(self) -> "NoticeBar":
        others = (bar for bar in self._bars.values() if bar.notice is not None)
        return self._newest if self._newest.notice is not None else next(others, self._newest)

    def _bar(self, undoes: str) -> "NoticeBar":
        if undoes not in self._bars:
            self._bars[undoes] = bar = NoticeBar(self._look)
            self._column.addWidget(bar)
        return self._bars[undoes]


class NoticeBar(QFrame):
    """Shows the newest notice until it is dismissed, acted on or replaced.

    Attributes:
        notice: what it shows; None for nothing.
        details: the button that shows the details.
        button: the button that helps.
    """

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self.notice: Notice | None = None
        self._text = label("", wrap=True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._lines = label("", "small", wrap=True)
        self._lines.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.details = QPushButton(tr("Details"))
        self.details.setProperty("kind", "link")
        self.details.setCheckable(True)
        self.details.toggled.connect(self._lines.setVisible)
        self.button = QPushButton()
        self.button.clicked.connect(self.act)
        close = QPushButton()
        close.setProperty("kind", "flat")
        close.setAccessibleName(tr("Dismiss"))
        icons.wear(close, "x", look, role="text_muted", size=14)
        close.clicked.connect(self.clear)
        self._actions = QHBoxLayout()
        self._actions.setSpacing(8)
        self._actions.addStretch(1)
        for each in (self.details, self.button):
            self._actions.addWidget(each, 0, Qt.AlignmentFlag.AlignVCenter)
        self._parts = Beside(self._text, self._actions, gap=8)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addLayout(self._parts, 1)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 8, 8, 8)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(self._lines)
        self.clear()

    def show_notice(self, notice: Notice) -> None:
        """Show ``notice`` in place of the last one."""
        self.notice = notice
        self._text.setText(notice.text)
        self._lines.setText("\n".join(notice.details))
        self.details.setChecked(False)
        self.details.setVisible(bool(notice.details))
        self._lines.setVisible(False)
        self.button.setText(notice.button)
        self.button.setVisible(bool(notice.button))
        self._parts.fit(self)
        self.setAccessibleName(notice.text)
        self.setProperty("level", notice.level.value)
        self.style().unpolish(self)
        self.style().polish(self)
        self.setVisible(True)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: D102, N802
        super().resizeEvent(event)
        self._parts.fit(self)

    @property
    def details_text(self) -> str:
        """The details, as far as they are shown."""
        return self._lines.text() if self._lines.isVisible() else ""

    def withdraw(self, notice: Notice) -> None:
        """Show ``notice`` no more, if it is still there."""
        if notice is self.notice:
            self.clear()

    def enter_chat(self, chat_id: int | None) -> None:
        """A chat was opened (None: a new one): what is about another one has no place here."""
        if self.notice is not None and self.notice.chat_id not in (None, chat_id):
            self.clear()

    def clear(self) -> None:
        """Show nothing."""
        self.notice = None
        self.setVisible(False)

    def act(self) -> None:
        """Do what the button says."""
        notice = self.notice
        self.clear()
        if notice is not None and notice.act is not None:
            notice.act()
