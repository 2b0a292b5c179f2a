"""A removal that a person is asked about, and what must still hold when it is carried out."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from slipstream.errors import SlipstreamError
from slipstream.hub.downloads.leftovers import Leftover, give_up
from slipstream.hub.downloads.orders import places_of
from slipstream.hub.downloads.records import Records
from slipstream.hub.library.copies import Copy
from slipstream.hub.library.doomed import Doomed
from slipstream.hub.library.models import Companion, Library, LocalModel, Stored
from slipstream.hub.library.removal import Removal, part_removal, removal
from slipstream.hub.library.removing import Removed, not_all_removed, remove
from slipstream.hub.library.stored import LocalFile, Part, local_file
from slipstream.hub.library.unfinished import Begun, begun_of
from slipstream.paths import downloads_folder, printable

Removable = LocalModel | Companion | Part


@dataclass(frozen=True)
class Proposal:
    """What would be removed.

    Attributes:
        thing: a model, a drafter, a projector, or what has not arrived in full.
        removal: what goes with it, and what stays.
        loaded: the file of the model that was loaded when the person was asked.
        in_use: that is the thing.
        others: it is one of several copies: one of these must be there when it goes.
        begun: the download that was to complete it, which is given up.
    """

    thing: Removable
    removal: Removal
    loaded: Path | None = None
    in_use: bool = False
    others: tuple[LocalFile, ...] = ()
    begun: Leftover | None = None

    @property
    def name(self) -> str:
        """Of the thing, for people."""
        return printable(self.removal.name)

    def asked_again(self, loaded: Path | None) -> "Proposal":
        """The same, where another model is loaded by now."""
        return replace(self, loaded=loaded, in_use=is_loaded(self.thing, loaded))

    @property
    def going(self) -> tuple[Stored, ...]:
        """The model, drafter or projector, and what goes along."""
        if isinstance(self.thing, Part):
            return ()
        doomed = (*self.removal.links, *self.removal.files, *self.removal.shared)
        paths = {one.path for one in doomed}
        companions = self.thing.companions if isinstance(self.thing, LocalModel) else ()
        return (self.thing, *(one for one in companions if not paths.isdisjoint(_paths(one))))


def propose(
    thing: Removable | Copy,
    library: Library,
    downloads: Sequence[Begun],
    loaded: Path | None,
) -> Proposal:
    """Find out what goes and what stays.

    Args:
        thing: one of the library's, or one of several copies.
        library: what there is.
        downloads: that are not finished.
        loaded: the file of the model that is loaded now.

    Raises: SlipstreamError: ``belongs_to_ollama``, ``last_copy``, ``still_arriving``.
    """
    if isinstance(thing, Copy):
        _check_others(thing.others, thing.owner.name)
        decided = removal(thing.alone, library)
        return Proposal(thing.owner, decided, others=thing.others).asked_again(loaded)
    left = None if isinstance(thing, Companion) else begun_of(thing, downloads)
    if isinstance(thing, Part):
        return Proposal(thing, part_removal(thing, library), begun=left)
    decided = removal(thing, library)
    return Proposal(thing, decided, begun=left).asked_again(loaded)


def carry_out(
    proposal: Proposal, loaded: Callable[[], Path | None], look: Callable[[], Library]
) -> Removed:
    """Delete it, if nothing speaks against it by now; what something else needs by now stays.

    Args:
        proposal: what a person agreed to.
        loaded: tells the file of the model that is loaded now.
        look: looks through this computer.

    Raises: OSError; SlipstreamError: ``in_use``, ``last_copy``, ``download_running``,
        ``changed_meanwhile``, ``not_all_removed``.
    """
    name = proposal.name
    if is_loaded(proposal.thing, loaded()):
        raise in_use(name)
    if proposal.others:
        _check_others(proposal.others, name)
    records = Records(downloads_folder())
    left = proposal.begun
    if left and records.is_held(left.record.id):
        raise _download_running(name)
    done = remove(_as_it_is(proposal, look(), records))
    if done.failed:
        raise not_all_removed(name, done)
    if left:
        give_up(left, records)
    return done


def _as_it_is(proposal: Proposal, library: Library, records: Records) -> Removal:
    """What was agreed to, without what belongs to another model or to a download by now."""
    agreed, own = proposal.removal, proposal.begun.record.id if proposal.begun else ""
    open_orders = (one for one in records.all() if one.stage != "done" and one.id != own)
    places = [place for record in open_orders for place in places_of(record.order)]
    needed = {path for place in places for path in (place.there, place.became)}
    now = _decided_now(proposal, library)
    allowed = {one.path for one in (*now.links, *now.files, *now.shared)} - needed

    def still(doomed: Sequence[Doomed]) -> tuple[Doomed, ...]:
        return tuple(one for one in doomed if one.path in allowed)

    return replace(
        agreed,
        links=still(agreed.links),
        files=still(agreed.files),
        shared=still(agreed.shared),
        folders=tuple(folder for folder in agreed.folders if folder in now.folders),
    )


def _decided_now(proposal: Proposal, library: Library) -> Removal:
    """What would go if it were decided now; a thing that is not there any more goes as agreed."""
    thing, agreed = proposal.thing, proposal.removal
    there = next((one for one in library.everything() if one.path == thing.path), None)
    if proposal.others or there is None:
        return agreed
    if isinstance(there, Part):
        return part_removal(there, library)
    return removal(there, library) if isinstance(there, LocalModel | Companion) else agreed


def is_loaded(thing: Removable, loaded: Path | None) -> bool:
    """Whether a thing is what is loaded now; another name of the same content stays usable."""
    if isinstance(thing, Part) or loaded is None:
        return False
    return os.path.realpath(loaded) in {os.path.realpath(path) for path in _paths(thing)}


def in_use(name: str) -> SlipstreamError:
    """A model that is loaded is not removed."""
    return SlipstreamError(
        "in_use",
        f"{name} is loaded, so it was not removed.",
        facts={"model": name},
        action="Unload it, then remove it.",
    )


def _paths(one: Stored) -> set[Path]:
    return {file.path for place in one.places for file in place.files}


def _check_others(others: Sequence[LocalFile], name: str) -> None:
    """Raises: SlipstreamError ``last_copy``."""
    if not any(local_file(other.path) == other for other in others):
        raise SlipstreamError(
            "last_copy",
            f"{printable(name)} was not removed: its other copies are gone or have changed.",
            facts={"model": printable(name)},
            action="Look for duplicates again.",
        )


def _download_running(name: str) -> SlipstreamError:
    return SlipstreamError(
        "download_running",
        f"{name} is being downloaded, so it was not removed.",
        facts={"model": name},
        action="Cancel the download, then remove it.",
    )
