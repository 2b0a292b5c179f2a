"""Asks whether a model shall be removed, and says exactly what goes and what stays."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from slipstream.ui.i18n import tr
from slipstream.ui.library import wording
from slipstream.ui.library.removals import UNDO_MS
from slipstream.ui.library.shelf import Shelf
from slipstream.ui.widgets.labels import label
from slipstream.words import size

if TYPE_CHECKING:
    # Brings the HTTP client along; the window shows before.
    from slipstream.hub.library.proposal import Proposal


class RemovalPanel(QFrame):
    """Hidden until something is proposed; Esc keeps the model.

    Attributes:
        proposal: what it asks about; None for nothing.
        remove: the button that agrees.
        keep: the button that does not.
        shown: it appeared or disappeared.
    """

    shown = Signal()

    def __init__(self, shelf: Shelf, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "card")
        self._shelf = shelf
        self.proposal: Proposal | None = None
        self._title = label("", "section", wrap=True)
        self._goes = label("", wrap=True)
        self._stays = label("", "muted", wrap=True)
        self._more = label("", "muted", wrap=True)
        self.remove = QPushButton()
        self.remove.setProperty("kind", "primary")
        self.remove.clicked.connect(self._on_agreed)
        self.keep = QPushButton(tr("Keep it"))
        self.keep.clicked.connect(self.close_question)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.remove)
        buttons.addWidget(self.keep)
        buttons.addStretch()
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(6)
        for each in (self._title, self._goes, self._stays, self._more):
            each.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            column.addWidget(each)
        column.addLayout(buttons)
        shelf.proposed.connect(self.ask)
        shelf.changed.connect(self._on_changed)
        self.setVisible(False)

    @property
    def text(self) -> str:
        """All that it says."""
        shown = (self._title, self._goes, self._stays, self._more)
        return "\n".join(each.text() for each in shown if each.text())

    def ask(self, proposal: "Proposal") -> None:
        """Ask about a removal."""
        self.proposal = proposal
        self._title.setText(wording.question(proposal))
        _show(self._goes, tr("Goes:"), wording.goes(proposal))
        _show(self._stays, tr("Stays:"), wording.stays(proposal))
        more = [wording.loses(proposal)]
        if proposal.in_use:
            more.append(tr("It is loaded now, and is unloaded first."))
        if proposal.begun:
            more.append(tr("Its download is given up."))
        more.append(tr("For {n} seconds you can undo this.").format(n=UNDO_MS // 1000))
        self._more.setText(" ".join(filter(None, more)))
        does = tr("Unload and remove") if proposal.in_use else tr("Remove")
        freed = proposal.removal.freed
        self.remove.setText(f"{does} · {size(freed)}" if freed else does)
        self.remove.setAccessibleDescription(self.text)
        self.setAccessibleName(self._title.text())
        self.setVisible(True)
        self.shown.emit()
        self.keep.setFocus(Qt.FocusReason.OtherFocusReason)

    def close_question(self) -> None:
        """Ask no more; nothing is removed."""
        self.proposal = None
        self.setVisible(False)
        self.shown.emit()

    def event(self, event: QEvent) -> bool:
        """Esc is answered here, before the window's own meaning of it."""
        if (
            event.type() is QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: D102, N802
        if event.key() == Qt.Key.Key_Escape:
            self.close_question()
        else:
            super().keyPressEvent(event)

    def _on_agreed(self) -> None:
        proposal = self.proposal
        self.close_question()
        if proposal is not None:
            self._shelf.remove(proposal)

    def _on_changed(self) -> None:
        """What was asked about may be gone meanwhile."""
        if self.proposal is None:
            return
        there = {one.path for one in self._shelf.library.everything()}
        if self.proposal.thing.path not in there:
            self.close_question()


def _show(shown: QLabel, name: str, lines: Sequence[str]) -> None:
    separator = "\n" if len(lines) > 1 else " "
    shown.setText(name + separator + "\n".join(lines) if lines else "")
    shown.setVisible(bool(lines))
