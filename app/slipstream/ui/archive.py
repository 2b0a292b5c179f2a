"""The chats that are kept: read and changed in the background, in order."""

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
class _Task:
    """Something that waits for its turn."""

    do: Callable[[ChatStore], Any]
    then: Callable[[Any], None]
    on_error: Callable[[BaseException], None]


def _ignore(_result: object) -> None:
    """Default for tasks without a result of interest."""


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
        self._work = work
        self._tasks: deque[_Task] = deque()
        self._busy = False
        self.store = store

    def run(
        self,
        do: Callable[[ChatStore], _T],
        then: Callable[[_T], None] = _ignore,
        on_error: Callable[[BaseException], None] | None = None,
    ) -> None:
        """Read or change the chats, after what was asked for before.

        Args:
            do: called in a worker thread.
            then: given what it returned.
            on_error: given what it raised; otherwise ``failed`` is emitted.
        """
        self._tasks.append(_Task(do, then, on_error or self.failed.emit))
        self._go_on()

    def finish(self) -> None:
        """Do what still waits; for the end of the program, when no work runs any more."""
        while self._tasks:
            try:
                self._tasks.popleft().do(self.store)
            except SlipstreamError as error:
                _log.error("not saved: %s %s", error.message, error.facts)

    def _go_on(self) -> None:
        if self._busy or not self._tasks:
            return
        self._busy = True
        task = self._tasks.popleft()

        def steps(_cancel: CancelToken) -> Iterator[object]:
            yield task.do(self.store)

        def failed(error: BaseException) -> None:
            try:
                task.on_error(error)
            finally:
                done()

        def done() -> None:
            self._busy = False
            self._go_on()

        self._work.start(
            steps, on_values=lambda results: task.then(results[0]), on_done=done, on_error=failed
        )
