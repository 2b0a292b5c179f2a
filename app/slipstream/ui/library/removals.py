"""Removing models with undo: until a removal is final, nothing is deleted."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from slipstream.cancel import CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub.library.copies import Copy
from slipstream.hub.library.models import Companion, Library, LocalModel
from slipstream.hub.library.stored import Part
from slipstream.hub.library.unfinished import Begun
from slipstream.ui.i18n import tr
from slipstream.ui.library import wording
from slipstream.ui.widgets.notice_bar import Level, Notice, notice_of, warning_of
from slipstream.ui.work import Work

if TYPE_CHECKING:
    # Brings the HTTP client along; the window shows before.
    from slipstream.hub.library.proposal import Proposal

UNDO_MS = 15_000
"""How long a removal can be undone."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class _Pending:
    """A removal that can still be undone, and what loads again what was unloaded for it."""

    proposal: "Proposal"
    notice: Notice
    load_again: Callable[[], None] | None


class Removals(QObject):
    """What is to be removed, and when it is.

    Attributes:
        changed: ``hidden`` is another one.
        proposed: a Proposal for the user to agree to.
        deleted: something was deleted, or could not be.
        noticed: a Notice for the user.
        withdrawn: a Notice that is over.
    """

    changed = Signal()
    proposed = Signal(object)
    deleted = Signal()
    noticed = Signal(object)
    withdrawn = Signal(object)

    def __init__(
        self,
        work: Work,
        loaded: Callable[[], Path | None],
        unload: Callable[[], Callable[[], None]],
        parent: QObject | None = None,
    ) -> None:
        """Nothing is to be removed.

        Args:
            loaded: the file of the model that is loaded now; may be called from any thread.
            unload: unloads it; what it returns loads it again.
        """
        super().__init__(parent)
        self._work = work
        self._loaded = loaded
        self._unload = unload
        self._pending: _Pending | None = None
        self._going: dict[Path, _Pending] = {}
        self._gone: set[Path] = set()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(UNDO_MS)
        self._timer.timeout.connect(self._finalise)

    @property
    def hidden(self) -> frozenset[Path]:
        """The paths of what the lists do not show any more."""
        pending = [self._pending.proposal.thing.path] if self._pending else []
        return frozenset((*pending, *self._going, *self._gone))

    @property
    def gone(self) -> frozenset[Path]:
        """Of these, what was deleted since somebody last looked."""
        return frozenset(self._gone)

    def forget(self, seen: frozenset[Path]) -> None:
        """The computer was looked through after these were deleted."""
        self._gone -= seen

    def propose(
        self,
        thing: LocalModel | Companion | Part | Copy,
        library: Library,
        downloads: tuple[Begun, ...],
    ) -> None:
        """Find out what goes with a thing, and ask."""
        loaded = self._loaded()

        def steps(_cancel: CancelToken) -> Iterator["Proposal"]:
            from slipstream.hub.library.proposal import propose

            yield propose(thing, library, downloads, loaded)

        self._work.start(
            steps,
            on_values=lambda found: self.proposed.emit(found[-1]),
            on_error=self._refuse,
        )

    def remove(self, proposal: "Proposal") -> None:
        """Remove what the user agreed to; the removal before it becomes final."""
        self._finalise()
        load_again = self._unload() if proposal.in_use else None
        lines = tuple(wording.stays(proposal)) if len(proposal.removal.kept) > 1 else ()
        notice = Notice(wording.removed(proposal), Level.INFO, lines, tr("Undo"), self.undo)
        self._pending = _Pending(proposal, notice, load_again)
        self._timer.start()
        self.changed.emit()
        self.noticed.emit(notice)

    def undo(self) -> None:
        """Take back the last removal, if it is not final."""
        pending, self._pending = self._pending, None
        self._timer.stop()
        if pending:
            self.withdrawn.emit(pending.notice)
            self.changed.emit()
            if pending.load_again and self._loaded() is None:
                pending.load_again()

    def finalise_all(self) -> None:
        """Delete now what was to be deleted later; the end of the app, when no engine runs."""
        pending, self._pending = self._pending, None
        self._timer.stop()
        if pending:
            from slipstream.hub.library.proposal import carry_out

            try:
                carry_out(pending.proposal, self._loaded)
            except (SlipstreamError, OSError) as error:
                _log.warning("not removed: %s", error)

    def _finalise(self) -> None:
        pending, self._pending = self._pending, None
        self._timer.stop()
        if pending is None:
            return
        path = pending.proposal.thing.path
        self._going[path] = pending
        self.withdrawn.emit(pending.notice)

        def steps(_cancel: CancelToken) -> Iterator[object]:
            from slipstream.hub.library.proposal import carry_out

            yield carry_out(pending.proposal, self._loaded)

        self._work.start(
            steps,
            on_done=lambda: self._on_deleted(path),
            on_error=lambda error: self._on_failed(path, error),
        )

    def _on_deleted(self, path: Path) -> None:
        self._going.pop(path, None)
        self._gone.add(path)  # until the computer was looked through again
        self.deleted.emit()

    def _on_failed(self, path: Path, error: BaseException) -> None:
        self._going.pop(path, None)
        self.changed.emit()
        self.noticed.emit(notice_of(error))
        self.deleted.emit()

    def _refuse(self, error: BaseException) -> None:
        self.noticed.emit(warning_of(error))
