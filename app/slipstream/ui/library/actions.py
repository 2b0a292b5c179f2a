"""What can be done with the thing that is selected on the page of local models."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout, QWidget

from slipstream.errors import SlipstreamError
from slipstream.hub.library.copies import Copy
from slipstream.hub.library.models import Companion, LocalModel
from slipstream.hub.library.stored import Part
from slipstream.hub.library.unfinished import is_unfinished
from slipstream.paths import printable
from slipstream.ui import icons
from slipstream.ui.i18n import tr
from slipstream.ui.library.rows import Thing
from slipstream.ui.library.shelf import Shelf
from slipstream.ui.look import Look
from slipstream.ui.reveal import reveal
from slipstream.ui.widgets.flow import FlowLayout
from slipstream.ui.widgets.labels import label
from slipstream.ui.widgets.notice_bar import Level, Notice

_LISTED = 3
"""Missing files that are named."""


class Actions(QFrame):
    """The name of a thing, where it is, and a button for everything that can be done with it.

    Attributes:
        chat_wanted: the LocalModel to chat with.
        settings_wanted: the LocalModel whose settings are to be shown.
        noticed: a Notice for the user.
    """

    chat_wanted = Signal(object)
    settings_wanted = Signal(object)
    noticed = Signal(object)

    def __init__(self, look: Look, shelf: Shelf, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "card")
        self._look = look
        self._shelf = shelf
        self._thing: Thing | None = None
        self._place = label("", "small")
        self._place.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._remark = label("", wrap=True)
        self._remark.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.chat = self._button(tr("Chat"), "message-square", self._on_chat)
        self.chat.setProperty("kind", "primary")
        self.finish = self._button(tr("Finish download"), "download", self._on_finish)
        self.settings = self._button(tr("Settings"), "sliders-horizontal", self._on_settings)
        self.show_in_folder = self._button(tr("Show in folder"), "folder-open", self._on_reveal)
        self.remove = self._button(tr("Remove …"), "trash-2", self._on_remove)
        row = QWidget()
        flow = FlowLayout(row, gap=8)
        for each in self.buttons:
            flow.addWidget(each)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 10, 16, 12)
        column.setSpacing(6)
        column.addWidget(self._remark)
        column.addWidget(self._place)
        column.addWidget(row)
        self.show_thing(None)

    @property
    def buttons(self) -> tuple[QPushButton, ...]:
        """All of them, those that are not shown among them."""
        return (self.chat, self.finish, self.settings, self.show_in_folder, self.remove)

    @property
    def text(self) -> str:
        """What is said about the thing."""
        return self._remark.text()

    def show_thing(self, thing: Thing | None) -> None:
        """Offer what can be done with a thing."""
        self._thing = thing
        model = thing if isinstance(thing, LocalModel) else None
        whole = model is not None and not is_unfinished(model) and not model.problem
        unfinished = isinstance(thing, LocalModel | Part) and self._shelf.can_finish(thing)
        self.chat.setVisible(whole)
        self.settings.setVisible(whole)
        self.finish.setVisible(unfinished)
        self.show_in_folder.setVisible(_path(thing) is not None)
        self.remove.setVisible(_can_go(thing))
        self.remove.setText(tr("Remove this copy …") if isinstance(thing, Copy) else tr("Remove …"))
        self._remark.setText(_remark(thing, finishable=unfinished))
        self._remark.setVisible(bool(self._remark.text()))
        self._show_place()
        self.setVisible(thing is not None)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: D102, N802
        super().resizeEvent(event)
        self._show_place()

    def minimumSizeHint(self) -> QSize:  # noqa: D102, N802
        return QSize(0, super().minimumSizeHint().height())

    def _show_place(self) -> None:
        path = _path(self._thing)
        text = printable(path) if path else ""
        room = self.width() - 2 * 16
        metrics = self._place.fontMetrics()
        self._place.setText(metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, room))
        self._place.setToolTip(text)
        self._place.setVisible(bool(text))

    def _button(self, text: str, icon: str, act: Callable[[], None]) -> QPushButton:
        made = QPushButton(text)
        role = "on_accent" if icon == "message-square" else "text_muted"
        icons.wear(made, icon, self._look, role=role, size=16)
        made.clicked.connect(act)
        return made

    def _on_chat(self) -> None:
        self.chat_wanted.emit(self._thing)

    def _on_settings(self) -> None:
        self.settings_wanted.emit(self._thing)

    def _on_finish(self) -> None:
        if isinstance(self._thing, LocalModel | Part):
            self._shelf.finish(self._thing)

    def _on_reveal(self) -> None:
        path = _path(self._thing)
        if path and not reveal(path):
            text = tr("No file manager answered. The folder is {folder}.")
            self.noticed.emit(Notice(text.format(folder=printable(path.parent)), Level.WARNING))

    def _on_remove(self) -> None:
        if isinstance(self._thing, LocalModel | Companion | Part | Copy):
            self._shelf.propose(self._thing)


def _can_go(thing: Thing | None) -> bool:
    if isinstance(thing, Copy):
        return not thing.kept_for
    return isinstance(thing, LocalModel | Companion | Part)


def _path(thing: Thing | None) -> Path | None:
    match thing:
        case Copy():
            return thing.file.path
        case LocalModel() | Companion():
            return next(iter(thing.files), thing.path)
        case Part():
            return thing.path
    return None


def _remark(thing: Thing | None, *, finishable: bool) -> str:
    """What has to be known about a thing before anything is done with it."""
    match thing:
        case SlipstreamError():
            return f"{thing.message} {thing.action}"
        case Copy():
            return thing.kept_for
        case LocalModel() if is_unfinished(thing):
            return _missing(thing, finishable=finishable)
        case LocalModel() | Companion():
            return thing.problem or ""
    return ""


def _missing(model: LocalModel, *, finishable: bool) -> str:
    names = ", ".join(printable(name) for name in model.missing[:_LISTED])
    if len(model.missing) > _LISTED:
        names = tr("{names} and {n} more").format(names=names, n=len(model.missing) - _LISTED)
    said = [tr("Not here yet: {names}.").format(names=names)] if names else []
    if not finishable:
        said.append(tr("Nothing tells where the rest is: search for the model and download it."))
    return " ".join(said)
