"""Asks the Hub for models while the user types; results come as they arrive, a page at a time."""

from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from slipstream.cancel import CancelToken
from slipstream.ui.i18n import tr
from slipstream.ui.work import Job, Work

if TYPE_CHECKING:
    from slipstream.hub.search import FoundModel

_SETTLE_MS = 300
"""The Hub is asked when nothing was typed for so long."""
_AT_ONCE = 20


class Stage(StrEnum):
    """What a search is at."""

    IDLE = "idle"
    ASKING = "asking"
    MORE = "more"
    END = "end"
    FAILED = "failed"


class _Pages:
    """The results of one search, read on whenever more are wanted; by one thread at a time."""

    def __init__(self, text: str, largest: int | None, known: frozenset[str]) -> None:
        """Prepare.

        Args:
            text, largest: as ``Search.ask`` has them.
            known: repositories that were found before, and are left out.
        """
        self._text, self._largest, self._known = text, largest, known
        self.waiting = 0.0
        self._found: Iterator[FoundModel] | None = None
        self.cancel = CancelToken()

    def more(self, cancel: CancelToken) -> Iterator[Any]:
        """The next ones. Raises: SlipstreamError, Cancelled."""
        with cancel.on_cancel(self.cancel.cancel):
            if self._found is None:
                self._found = self._open()
            found = 0
            for each in islice(self._found, _AT_ONCE):
                found += 1
                yield each
        yield found == _AT_ONCE

    def _open(self) -> "Iterator[FoundModel]":
        from slipstream.hub.connection import connect
        from slipstream.hub.search import search

        with connect() as connection:
            found = search(
                self._text,
                connection,
                self.cancel,
                largest_parameters=self._largest,
                sort="trending",
                waiting=self._wait,
            )
            yield from (one for one in found if one.repo not in self._known)

    def _wait(self, seconds: float) -> None:
        self.waiting = seconds


class Search(QObject):
    """One search at a time.

    Attributes:
        changed: there are more results, or the stage is another one.
        stage: see Stage.
        found: the results so far.
        error: why there are no more.
    """

    changed = Signal()

    def __init__(self, work: Work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work = work
        self._job: Job | None = None
        self._pages: _Pages | None = None
        self._asked: tuple[str, int | None] | None = None
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._settle.timeout.connect(self._begin)
        self.stage = Stage.IDLE
        self.found: list[FoundModel] = []
        self.error: BaseException | None = None

    @property
    def waiting(self) -> float:
        """Seconds that the Hub asked us to wait; 0 if it did not."""
        return self._pages.waiting if self._pages is not None else 0.0

    def ask(self, text: str, largest: int | None = None, *, at_once: bool = False) -> None:
        """Search for something else.

        Args:
            text: what the user typed.
            largest: leaves out models with more parameters; None leaves out nothing.
            at_once: the user does not type on.
        """
        if (text, largest) == self._asked and self.stage is not Stage.FAILED:
            return
        self._asked = (text, largest)
        self._stop()
        self.found, self.error = [], None
        self.stage = Stage.ASKING
        self.changed.emit()
        if at_once:
            self._begin()
        else:
            self._settle.start()

    def again(self) -> None:
        """Ask the same once more, after a failure; what was found stays."""
        if self.stage is Stage.FAILED:
            self.error = None
            self.stage = Stage.ASKING
            self.changed.emit()
            self._begin()

    def more(self) -> None:
        """Read on, if there is more."""
        if self.stage is Stage.MORE and self._pages is not None:
            self.stage = Stage.ASKING
            self._read(self._pages)

    def _begin(self) -> None:
        assert self._asked is not None
        self._settle.stop()
        self._pages = _Pages(*self._asked, frozenset(one.repo for one in self.found))
        self._read(self._pages)

    def _read(self, pages: _Pages) -> None:
        self._job = self._work.start(pages.more, on_values=self._on_values, on_error=self._on_error)

    def _stop(self) -> None:
        self._settle.stop()
        self._pages = None
        if self._job is not None:
            self._job.abandon()
            self._job = None

    def _on_values(self, values: list[Any]) -> None:
        for value in values:
            if isinstance(value, bool):
                self.stage = Stage.MORE if value else Stage.END
            else:
                self.found.append(value)
        self.changed.emit()

    def _on_error(self, error: BaseException) -> None:
        self.error = error
        self.stage = Stage.FAILED
        self.changed.emit()


def search_words(search: Search) -> str:
    """What a search is at, where its results do not show it; else empty."""
    match search.stage:
        case Stage.IDLE | Stage.ASKING if not search.found:
            seconds = round(search.waiting)
            if not seconds:
                return tr("Asking the Hub…")
            return tr("The Hub asks us to wait {n} s.").format(n=seconds)
        case Stage.FAILED:
            return tr("The list ends here: the Hub does not answer.")
        case Stage.END if not search.found:
            return tr("Nothing was found. Try fewer words, or owner/name.")
    return ""
