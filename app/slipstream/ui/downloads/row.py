"""One download in the list."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMessageBox, QPushButton, QVBoxLayout, QWidget

from slipstream.errors import SlipstreamError
from slipstream.ui import browser, icons
from slipstream.ui.downloads import wording
from slipstream.ui.downloads.board import DownloadBoard
from slipstream.ui.downloads.parts import Bar, Name, numbers_label, words_label
from slipstream.ui.downloads.wording import CAN_PAUSE, CAN_RESUME, Help, Phase, Step, phase_of
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.reveal import reveal
from slipstream.ui.widgets.labels import wear_kind
from slipstream.ui.widgets.trouble import Trouble, Way
from slipstream.ui.wording import percent
from slipstream.words import far

if TYPE_CHECKING:
    from slipstream.hub.downloads.standing import Standing

_KINDS = {Phase.FAILED: "trouble", Phase.DONE: "good"}


class DownloadRow(QFrame):
    """A card with how far it is, and what can be done with it.

    Attributes:
        chat_wanted: the path of the model the user wants to talk to.
        token_wanted: the id of a download that needs an access token; then ``resume`` it.
        model_wanted: the repository that the user wants to look at.
        move_wanted: the id, and -1 for one up or 1 for one down.
        standing: what it shows.
    """

    chat_wanted = Signal(object)
    token_wanted = Signal(str)
    model_wanted = Signal(str)
    move_wanted = Signal(str, int)

    def __init__(self, look: Look, board: DownloadBoard, standing: "Standing") -> None:
        super().__init__()
        self._board = board
        self.standing = standing
        self.setProperty("kind", "card")
        self._title = Name("section")
        self._percent = numbers_label("small")
        self.up = _small("arrow-up", look)
        self.down = _small("arrow-down", look)
        self.pause = _small("pause", look)
        self.resume = _small("play", look)
        self.cancel = _small("x", look)
        self._pieces = words_label("small")
        self._pieces.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.bar = Bar()
        self._numbers = numbers_label("small")
        self._state = words_label("small")
        self._state.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
        self._trouble: Trouble | None = None  # most never have one
        self.chat = QPushButton(tr("Chat now"))
        self.chat.setProperty("kind", "primary")
        self.folder = QPushButton(tr("Show in folder"))
        self._connect()
        self._lay_out()

    @property
    def trouble(self) -> Trouble:
        """Why it failed; made when it is first needed."""
        if self._trouble is None:
            self._trouble = Trouble(card=False)
            self._column.insertWidget(self._column.count() - 1, self._trouble)
        return self._trouble

    @property
    def state(self) -> str:
        """What it says is happening."""
        return self._state.text()

    @property
    def numbers(self) -> str:
        """How far it says it is."""
        return self._numbers.text()

    @property
    def pieces(self) -> str:
        """What it says it brings."""
        return self._pieces.text().replace("\u00a0", " ")

    def show_standing(self, one: "Standing", *, up: bool, down: bool) -> None:
        """Show how the download stands, and whether it can be moved."""
        self.standing = one
        phase = phase_of(one.entry)
        unfinished = phase is not Phase.DONE
        progress = one.progress
        self._title.show_text(one.title)
        self._percent.setText(percent(wording.percent(progress) / 100))
        self._pieces.setText(wording.unbroken(wording.pieces(one)))
        self._pieces.setToolTip("\n".join(f"{each.repo}/{each.path}" for each in progress.files))
        self.bar.show_share(progress.done, progress.total, wording.spoken(one))
        self._numbers.setText(wording.numbers(one))
        self._numbers.setVisible(bool(self._numbers.text()))
        self._state.setText(wording.state(one))
        gone = not unfinished and one.target is None
        wear_kind(self._state, "small" if gone else _KINDS.get(phase, "small"))
        for each in (self._percent, self.bar):
            each.setVisible(unfinished)
        self._show_trouble(one)
        self._show_buttons(phase, up=up, down=down)
        self._name(one)

    def _show_trouble(self, one: "Standing") -> None:
        error = _error(one)
        if error is not None:
            help_ = wording.help_for(error)
            self.trouble.show_error(
                error, list(self._ways(help_)), advice=help_.advice, about=one.title
            )
        if self._trouble is not None:
            self._trouble.setVisible(error is not None)

    def _ways(self, help_: Help) -> Iterator[Way]:
        """What helps, and the rest of what may."""
        open_page = partial(browser.open_page, help_.page)
        at_page = help_.step is Step.PAGE
        yield help_.button, open_page if at_page else partial(self._go, help_.step)
        if help_.step is not Step.AGAIN:
            yield tr("Try again"), partial(self._go, Step.AGAIN)
        if help_.page and not at_page:
            yield tr("Open its page"), open_page

    def _show_buttons(self, phase: Phase, *, up: bool, down: bool) -> None:
        unfinished = phase is not Phase.DONE
        self.up.setVisible(unfinished)
        self.down.setVisible(unfinished)
        self.up.setEnabled(up)
        self.down.setEnabled(down)
        pausing, resuming = self.pause.hasFocus(), self.resume.hasFocus()
        self.pause.setVisible(phase in CAN_PAUSE)
        self.resume.setVisible(phase in CAN_RESUME)
        # else Qt hands the keyboard to Cancel
        if pausing and phase not in CAN_PAUSE:
            self.resume.setFocus()
        elif resuming and phase not in CAN_RESUME:
            self.pause.setFocus()
        self.cancel.setVisible(phase is not Phase.ELSEWHERE)
        usable = self.standing.target is not None and phase in (Phase.DONE, Phase.FAILED)
        self.chat.setVisible(usable)
        self.folder.setVisible(usable)

    def _name(self, one: "Standing") -> None:
        """What a screen reader says."""
        said = [one.title, wording.spoken(one), self.state]
        if _error(one) is not None:
            said.append(self.trouble.text)
        self.setAccessibleName(", ".join(said))
        self.bar.setAccessibleName(one.title)
        phase = phase_of(one.entry)
        done = phase is Phase.DONE
        go_on = tr("Try {title} again now") if phase is Phase.LATER else tr("Go on with {title}")
        leave = tr("Take {title} out of this list") if done else tr("Cancel {title}")
        names = {
            self.up: tr("Download {title} earlier (Alt+Up)"),
            self.down: tr("Download {title} later (Alt+Down)"),
            self.pause: tr("Pause {title}"),
            self.resume: go_on,
            self.cancel: leave,
        }
        for button, name in names.items():
            button.setToolTip(name.format(title=one.title))
            button.setAccessibleName(button.toolTip())
        self.chat.setAccessibleName(tr("Chat now with {title}").format(title=one.title))
        self.folder.setAccessibleName(tr("Show {title} in its folder").format(title=one.title))

    # What the user does

    def _connect(self) -> None:
        self.up.clicked.connect(lambda: self._move(-1))
        self.down.clicked.connect(lambda: self._move(1))
        self.pause.clicked.connect(lambda: self._board.pause(self.standing.id))
        self.resume.clicked.connect(lambda: self._board.resume(self.standing.id))
        self.cancel.clicked.connect(self._on_cancel)
        self.chat.clicked.connect(lambda: self.chat_wanted.emit(self.standing.target))
        self.folder.clicked.connect(self._show_folder)
        for keys, step in (("Alt+Up", -1), ("Alt+Down", 1)):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(lambda step=step: self._move(step))

    def _move(self, step: int) -> None:
        if (self.up if step < 0 else self.down).isEnabled():
            self.move_wanted.emit(self.standing.id, step)

    def _go(self, step: Step) -> None:
        match step:
            case Step.AGAIN:
                self._board.resume(self.standing.id)
            case Step.TOKEN:
                self.token_wanted.emit(self.standing.id)
            case Step.LOOK:
                self.model_wanted.emit(self.standing.repo)
            case Step.FOLDER if self.standing.folder is not None:
                browser.open_folder(self.standing.folder)

    def _show_folder(self) -> None:
        if self.standing.target is not None:
            reveal(self.standing.target)

    def _on_cancel(self) -> None:
        one = self.standing
        if phase_of(one.entry) is Phase.DONE:
            self._board.cancel(one.id, keep_parts=True)
        elif one.progress.done:
            self._ask()
        else:
            self._board.cancel(one.id)

    def _ask(self) -> None:
        """Ask whether to keep what arrived."""
        one = self.standing
        question = QMessageBox(self)
        question.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        question.setText(tr("Cancel the download of {title}?").format(title=one.title))
        arrived = far(one.progress.done, one.progress.total)
        words = tr("{arrived} arrived. If you keep that, a later download goes on from there.")
        question.setInformativeText(words.format(arrived=arrived))
        role = QMessageBox.ButtonRole
        delete = question.addButton(tr("Cancel and delete it"), role.DestructiveRole)
        keep = question.addButton(tr("Cancel and keep it"), role.AcceptRole)
        stay = question.addButton(tr("Do not cancel"), role.RejectRole)
        question.setDefaultButton(stay)
        question.setEscapeButton(stay)
        delete.clicked.connect(lambda: self._board.cancel(one.id))
        keep.clicked.connect(lambda: self._board.cancel(one.id, keep_parts=True))
        question.open()

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(2)
        top.addWidget(self._title, 1)
        top.addSpacing(8)
        for each in (self.up, self.down, self.pause, self.resume, self.cancel):
            top.addWidget(each)
        far = QHBoxLayout()
        far.addWidget(self._numbers)
        far.addStretch()
        far.addWidget(self._percent)
        what = QHBoxLayout()
        what.setSpacing(16)
        what.addWidget(self._pieces, 3)
        what.addWidget(self._state, 2)
        ways = QHBoxLayout()
        ways.setSpacing(8)
        for button in (self.chat, self.folder):
            ways.addWidget(button)
        ways.addStretch()
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 12, 14)
        column.setSpacing(7)
        for part in (top, what, self.bar, far, ways):
            if isinstance(part, QWidget):
                column.addWidget(part)
            else:
                column.addLayout(part)


def _small(icon: str, look: Look) -> QPushButton:
    """A button without words; what it does follows the name of the download."""
    made = QPushButton()
    made.setProperty("kind", "flat")
    icons.wear(made, icon, look, role="text_muted")
    return made


def _error(one: "Standing") -> "SlipstreamError | None":
    """Why it failed, if it did."""
    failed = phase_of(one.entry) is Phase.FAILED
    return one.entry.record.error if failed else None
