"""The search for models that are on this computer more than once."""

from typing import Any

from PySide6.QtCore import QObject, Signal

from slipstream.cancel import CancelToken
from slipstream.hub.library.duplicates import Duplicate, Reading, look_for_duplicates
from slipstream.hub.library.models import Library
from slipstream.ui.work import Job, Work


class CopySearch(QObject):
    """One search at a time.

    Attributes:
        changed: any of the following.
        reading: how far it is; None while nothing is read.
        found: what the last search found; None before the first one ended.
    """

    changed = Signal()

    def __init__(self, work: Work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work = work
        self._job: Job | None = None
        self.reading: Reading | None = None
        self.found: tuple[Duplicate, ...] | None = None

    @property
    def running(self) -> bool:
        """Whether it is going on."""
        return self._job is not None

    def start(self, library: Library) -> None:
        """Search a library."""
        if self._job is not None:
            return

        def steps(cancel: CancelToken) -> Any:
            return look_for_duplicates(library, cancel)

        self._job = self._work.start(
            steps, on_values=self._on_values, on_done=self._on_end, on_error=self._on_error
        )
        self.changed.emit()

    def cancel(self) -> None:
        """Stop; what was found before stays."""
        if self._job is not None:
            self._job.cancel()

    def _on_values(self, values: list[Reading | tuple[Duplicate, ...]]) -> None:
        last = values[-1]
        if isinstance(last, Reading):
            self.reading = last
        else:
            self.found = last
        self.changed.emit()

    def _on_end(self) -> None:
        self._job = self.reading = None
        self.changed.emit()

    def _on_error(self, error: BaseException) -> None:
        self._on_end()
        raise error
