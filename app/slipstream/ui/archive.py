"""The chats that are kept: read at once, changed in the background and in order."""

import logging
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal

from slipstream.cancel import CancelToken
from slipstream.chats.store import ChatStore
from slipstream.errors import SlipstreamError
from slipstream.ui.work import Work

_T = TypeVar("_T")

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Change:
    """A change that waits for its turn."""

    write: Callable[[ChatStore], Any]
    then: Callable[[Any], None]
    on_error: Callable[[BaseException], None]


def _ignore(_result: object) -> None:
    """Default for changes without a result of interest."""


class Archive(QObject):
    """Changes the chats without making the window wait for the disk.

    Attributes:
        changed: the list of chats is another one.
        failed: what was raised in place of a change.
        store: the chats, to be read.
    """

    changed = Signal()
    failed = Signal(object)

    def __init__(self, store: ChatStore, work: Work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work = work
        self._changes: deque[_Change] = deque()
        self._writing = False
        self.store = store

    def change(
        self,
        write: Callable[[ChatStore], _T],
        then: Callable[[_T], None] = _ignore,
        on_error: Callable[[BaseException], None] | None = None,
    ) -> None:
        """Change the chats, after the changes before.

        Args:
            write: called in a worker thread.
            then: given what it returned.
            on_error: given what it raised; otherwise ``failed`` is emitted.
        """
        self._changes.append(_Change(write, then, on_error or self.failed.emit))
        self._go_on()

    def finish(self) -> None:
        """Write what still waits; for the end of the program, when no work runs any more."""
        while self._changes:
            try:
                self._changes.popleft().write(self.store)
            except SlipstreamError as error:
                _log.error("not saved: %s %s", error.message, error.facts)

    def _go_on(self) -> None:
        if self._writing or not self._changes:
            return
        self._writing = True
        change = self._changes.popleft()

        def steps(_cancel: CancelToken) -> Iterator[object]:
            yield change.write(self.store)

        def failed(error: BaseException) -> None:
            change.on_error(error)
            done()

        def done() -> None:
            self._writing = False
            self._go_on()

        self._work.start(
            steps, on_values=lambda results: change.then(results[0]), on_done=done, on_error=failed
        )
