"""Small tasks in the background, one after the other, each with its answer."""

import logging
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from PySide6.QtCore import QObject

from slipstream.cancel import CancelToken
from slipstream.errors import SlipstreamError
from slipstream.ui.work import Work

_T = TypeVar("_T")

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Task:
    """Something that waits for its turn."""

    do: Callable[[], Any]
    then: Callable[[Any], None]
    on_error: Callable[[BaseException], None]


def ignore(_result: object) -> None:
    """For results that are of no interest."""


class InTurn(QObject):
    """Does what is asked for in the order in which it was, without making the window wait."""

    def __init__(self, work: Work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work = work
        self._tasks: deque[_Task] = deque()
        self._busy = False

    def run(
        self,
        do: Callable[[], _T],
        then: Callable[[_T], None] = ignore,
        *,
        on_error: Callable[[BaseException], None],
    ) -> None:
        """Do something after what was asked for before.

        Args:
            do: called in a worker thread.
            then: given what it returned.
            on_error: given what it raised.
        """
        self._tasks.append(_Task(do, then, on_error))
        self._go_on()

    def finish(self) -> None:
        """Do what still waits; for the end of the program, when no work runs any more."""
        while self._tasks:
            try:
                self._tasks.popleft().do()
            except SlipstreamError as error:
                _log.error("not saved: %s %s", error.message, error.facts)
            except Exception:  # noqa: BLE001 - the others are done all the same
                _log.exception("a bug at the end")

    def _go_on(self) -> None:
        if self._busy or not self._tasks:
            return
        self._busy = True
        task = self._tasks.popleft()

        def steps(_cancel: CancelToken) -> Iterator[object]:
            yield task.do()

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
