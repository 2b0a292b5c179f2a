"""The chats that are kept: read and changed in the background, in order."""

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from slipstream.chats.store import ChatStore
from slipstream.ui.in_turn import InTurn, ignore
from slipstream.ui.work import Work

_T = TypeVar("_T")


class Archive(QObject):
    """Reads and changes the chats without making the window wait for the disk.

    Attributes:
        changed: the list of chats is another one.
        failed: what was raised by a task.
        store: the chats; for worker threads, and for what the window cannot begin without.
    """

    changed = Signal()
    failed = Signal(object)

    def __init__(self, store: ChatStore, work: Work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = InTurn(work, self)
        self.store = store

    def run(
        self,
        do: Callable[[ChatStore], _T],
        then: Callable[[_T], None] = ignore,
        on_error: Callable[[BaseException], None] | None = None,
    ) -> None:
        """Read or change the chats, after what was asked for before.

        Args:
            do: called in a worker thread.
            then: given what it returned.
            on_error: given what it raised; otherwise ``failed`` is emitted.
        """
        self._tasks.run(lambda: do(self.store), then, on_error=on_error or self.failed.emit)

    def finish(self) -> None:
        """Do what still waits; for the end of the program, when no work runs any more."""
        self._tasks.finish()
