"""Removing models with undo: until a removal is final, nothing is deleted."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

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


class Engine(Protocol):
    """What a removal asks of the engine."""

    @property
    def model_in_use(self) -> Path | None:
        """The file of the model that is loaded now; may be asked in any thread."""

    @property
    def leaving(self) -> bool:
        """Whether that makes room for another one, or for none."""

    def unload(self) -> Callable[[], None]:
        """Unload it; what this returns loads it again, unless something else is wanted."""


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
        proposed: a Proposal for the user to agree to; again, if what it says is no longer true.
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
        engine: Engine,
        look: Callable[[], Library],
        parent: QObject | None = None,
    ) -> None:
        """Nothing is to be removed.

        Args:
            work: the background work.
            engine: what may have a model loaded.
            look: looks through this computer; called in a worker.
            parent: as Qt has it.
        """
        super().__init__(parent)
        self._work = work
        self._engine = engine
        self._look = look
        self._pending: _Pending | None = None
        self._final: list[_Pending] = []  # in order; deleted when the engine has let go of them
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
        final = (each.proposal.thing.path for each in self._final)
        return frozenset((*pending, *final, *self._going, *self._gone))

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
        loaded = self._engine.model_in_use

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
        now = self._engine.model_in_use
        if now in (None, proposal.loaded):
            self._hide(proposal)
            return

        def steps(_cancel: CancelToken) -> Iterator["Proposal"]:
            yield proposal.asked_again(now)

        self._work.start(steps, on_values=lambda found: self._on_asked_again(proposal, found[-1]))

    def undo(self) -> None:
        """Take back the last removal, if it is not final."""
        pending, self._pending = self._pending, None
        self._timer.stop()
        if pending:
            self.withdrawn.emit(pending.notice)
            self.changed.emit()
            if pending.load_again:
                pending.load_again()

    def want(self, path: Path) -> None:
        """Somebody wants this file again: if it was just removed, that is taken back."""
        if self._pending is not None and path == self._pending.proposal.thing.path:
            self.undo()

    def go_on(self) -> None:
        """The engine may have let go of what is to be deleted."""
        for pending in tuple(self._final):
            if not self._is_held(pending):
                self._final.remove(pending)
                self._start(pending)

    def finalise_all(self) -> None:
        """Delete now what was to be deleted later; the end of the app, when no engine runs."""
        self._end_of_undo()
        final, self._final = self._final, []
        for pending in final:
            from slipstream.hub.library.proposal import carry_out

            try:
                carry_out(pending.proposal, self._loaded, self._look)
            except (SlipstreamError, OSError) as error:
                _log.warning("not removed: %s", error)

    def _loaded(self) -> Path | None:
        return self._engine.model_in_use

    def _on_asked_again(self, before: "Proposal", now: "Proposal") -> None:
        """Nobody agreed to unload what was loaded after the question."""
        if now.in_use and not before.in_use:
            self.proposed.emit(now)
        else:
            self._hide(now)

    def _hide(self, proposal: "Proposal") -> None:
        """Show a thing no more, and let it be undone for a while."""
        self._finalise()
        load_again = None
        if proposal.in_use and self._loaded() is not None and not self._engine.leaving:
            load_again = self._engine.unload()
        lines = tuple(wording.stays(proposal)) if len(proposal.removal.kept) > 1 else ()
        text = wording.removed(proposal)
        notice = Notice(text, Level.INFO, lines, tr("Undo"), self.undo, undoes="model")
        self._pending = _Pending(proposal, notice, load_again)
        self._timer.start()
        self.changed.emit()
        self.noticed.emit(notice)

    def _is_held(self, pending: _Pending) -> bool:
        """Whether the engine still has what it was told to let go of."""
        proposal = pending.proposal
        held = proposal.in_use and self._loaded() == proposal.loaded
        return held and self._engine.leaving

    def _finalise(self) -> None:
        """The last removal cannot be undone any more."""
        self._end_of_undo()
        self.go_on()

    def _end_of_undo(self) -> None:
        pending, self._pending = self._pending, None
        self._timer.stop()
        if pending:
            self._final.append(pending)
            self.withdrawn.emit(pending.notice)

    def _start(self, pending: _Pending) -> None:
        """Delete it in a worker."""
        path = pending.proposal.thing.path
        self._going[path] = pending

        def steps(_cancel: CancelToken) -> Iterator[object]:
            from slipstream.hub.library.proposal import carry_out

            yield carry_out(pending.proposal, self._loaded, self._look)

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
