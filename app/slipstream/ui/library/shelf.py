"""What of models is on this computer now; every list of them is made from this."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from slipstream.cancel import CancelToken
from slipstream.hub.downloads.orders import Order, target_path
from slipstream.hub.library.copies import Copy, copies
from slipstream.hub.library.disk import Room, disk
from slipstream.hub.library.models import Companion, Library, LocalModel
from slipstream.hub.library.scan import scan
from slipstream.hub.library.stored import Part
from slipstream.hub.library.unfinished import Begun, Unfinished, begun, begun_of, can_be_finished
from slipstream.paths import downloads_folder, expanded
from slipstream.ui.library.copy_search import CopySearch
from slipstream.ui.library.removals import Engine, Removals
from slipstream.ui.library.watcher import Watcher
from slipstream.ui.preferences import Preferences
from slipstream.ui.widgets.notice_bar import notice_of
from slipstream.ui.work import Job, Work

if TYPE_CHECKING:
    # Brings the HTTP client along; the window shows before.
    from slipstream.hub.library.proposal import Proposal


@dataclass(frozen=True)
class Found:
    """What a look through this computer found.

    Attributes:
        library: the models.
        downloads: those that are not finished.
        rooms: what the stores take.
    """

    library: Library = field(default_factory=Library)
    downloads: tuple[Begun, ...] = ()
    rooms: tuple[Room, ...] = ()


class Shelf(QObject):
    """The models on this computer.

    Attributes:
        changed: what there is, or what is loaded, is not what it was.
        proposed: a Proposal: the user is to agree to a removal.
        finish_wanted: an Order that completes a model.
        noticed: a Notice for the user.
        withdrawn: a Notice that is over.
        found: what was found last, removed models among it.
        ready: the computer was looked through once.
        copies: the search for duplicates.
    """

    changed = Signal()
    proposed = Signal(object)
    finish_wanted = Signal(object)
    noticed = Signal(object)
    withdrawn = Signal(object)

    def __init__(
        self,
        work: Work,
        preferences: Preferences,
        engine: Engine,
        parent: QObject | None = None,
    ) -> None:
        """An empty one; ``refresh`` or ``watch`` fill it.

        Args:
            engine: what runs the models.
        """
        super().__init__(parent)
        self._work = work
        self._preferences = preferences
        self._engine = engine
        self._loaded: Path | None = None
        self._scan: Job | None = None
        self._again = False
        self._watched_by: set[QObject] = set()
        self.found = Found()
        self.ready = False
        self.copies = CopySearch(work, self)
        self._removals = Removals(work, engine, self._look_anew, self)
        self._watcher = Watcher(self)
        self._connect()

    @property
    def library(self) -> Library:
        """The models, without those that were just removed."""
        return self.found.library.without(self._removals.hidden)

    @property
    def loaded(self) -> Path | None:
        """The file of the model that is loaded."""
        return self._loaded

    def look_at_engine(self) -> None:
        """Another model may be loaded now."""
        self._removals.go_on()
        now = self._engine.model_in_use
        if now != self._loaded:
            self._loaded = now
            self.changed.emit()
            if now is not None and self.ready:
                self.refresh()  # its last use is now

    def refresh(self) -> None:
        """Look through this computer; what is shown stays until that is done."""
        if self._scan is not None:
            self._again = True
            return
        self._again = False
        folders, gone = self._folders(), self._removals.gone
        self._scan = self._work.start(
            lambda cancel: _look(folders, cancel),
            on_values=lambda found: self._on_found(found[-1], gone),
            on_done=self._on_looked,
            on_error=self._on_failed,
        )

    def watch(self, watcher: QObject, on: bool) -> None:
        """Keep the list as the disks are while somebody looks at it.

        Args:
            watcher: who looks.
            on: whether that begins or ends.
        """
        (self._watched_by.add if on else self._watched_by.discard)(watcher)
        if self._watched_by and not self._watcher.watching:
            self._watcher.start(self._folders())
        elif not self._watched_by:
            self._watcher.stop()

    # Removing

    def propose(self, thing: LocalModel | Companion | Part | Copy) -> None:
        """Ask whether a thing shall go: ``proposed`` follows, or a notice why it cannot."""
        self._removals.propose(thing, self.library, self.found.downloads)

    def remove(self, proposal: "Proposal") -> None:
        """Remove what the user agreed to; until it is final it can be undone."""
        self._removals.remove(proposal)

    def undo(self) -> None:
        """Take back the last removal."""
        self._removals.undo()

    def finalise_all(self) -> None:
        """The app ends, and the engine has ended: delete what was removed, look no more."""
        self._watched_by.clear()
        self._watcher.stop()
        self._removals.finalise_all()

    # Duplicates and unfinished models

    def find_duplicates(self) -> None:
        """Search for models that are here more than once."""
        self.copies.start(self.library)

    def duplicates(self) -> tuple[tuple[Copy, ...], ...]:
        """The copies that were found and are still there."""
        return tuple(copies(self.copies.found or (), self.library))

    def can_finish(self, thing: Unfinished) -> bool:
        """Whether it is known where the rest of an unfinished thing is."""
        return can_be_finished(thing, self.found.downloads)

    def finish(self, thing: Unfinished) -> None:
        """Find out what completes a thing: ``finish_wanted`` follows, or a notice."""
        left = begun_of(thing, self.found.downloads)
        if left:
            self.finish_wanted.emit(left.record.order)
        else:
            self._work.start(
                lambda cancel: _order(thing, cancel),
                on_values=lambda orders: self.finish_wanted.emit(orders[-1]),
                on_error=lambda error: self.noticed.emit(notice_of(error)),
            )

    def want(self, order: Order) -> None:
        """A download was ordered: what was just removed, and is wanted again, stays."""
        self._removals.want(target_path(order))

    def _look_anew(self) -> Library:
        return scan(self._folders(), CancelToken())

    def _folders(self) -> list[Path]:
        return [expanded(Path(text)) for text in self._preferences.values.model_folders]

    def _connect(self) -> None:
        self._removals.changed.connect(self.changed)
        self._removals.deleted.connect(self.refresh)
        self._removals.proposed.connect(self.proposed)
        self._removals.noticed.connect(self.noticed)
        self._removals.withdrawn.connect(self.withdrawn)
        self._watcher.changed.connect(self.refresh)
        self._preferences.changed.connect(self._on_setting_changed)

    def _on_found(self, found: Found, gone: frozenset[Path]) -> None:
        before = (self.ready, self._loaded, self.library, _listed(self.found))
        self.found = found
        self.ready = True
        self._loaded = self._engine.model_in_use
        self._removals.forget(gone)
        if before != (True, self._loaded, self.library, _listed(found)):
            self.changed.emit()

    def _on_looked(self) -> None:
        self._scan = None
        if self._again:
            self.refresh()

    def _on_failed(self, error: BaseException) -> None:
        self.noticed.emit(notice_of(error))
        self._on_looked()

    def _on_setting_changed(self, key: str) -> None:
        if key != "model_folders":
            return
        if self._watcher.watching:
            self._watcher.start(self._folders())  # looks, too
        elif self.ready:
            self.refresh()


def _listed(found: Found) -> tuple[object, ...]:
    """What is shown somewhere, also of what was just removed; free room changes all the time."""
    return found.library, found.downloads


def _look(folders: list[Path], cancel: CancelToken) -> Iterator[Found]:
    from slipstream.hub.downloads.leftovers import leftovers
    from slipstream.hub.downloads.records import Records

    library = scan(folders, cancel)
    cancel.raise_if_cancelled()
    downloads = begun(leftovers(Records(downloads_folder())))
    yield Found(library, downloads, disk(library))


def _order(thing: Unfinished, cancel: CancelToken) -> Iterator[Order]:
    from slipstream.hub.connection import connect
    from slipstream.hub.library.finish import order_to_finish

    with connect() as connection:
        yield order_to_finish(thing, connection, cancel)
