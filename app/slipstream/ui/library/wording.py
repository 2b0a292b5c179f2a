"""What the models on this computer are called, and what is said about removing them."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from slipstream.drafters.identify import KINDS, FileRole
from slipstream.drafters.kinds import DrafterKind
from slipstream.hub.library.disk import Room
from slipstream.hub.library.models import Companion, LocalModel, Place, Stored
from slipstream.hub.library.stored import Part, Source
from slipstream.hub.library.stores import Store
from slipstream.paths import printable
from slipstream.ui.chat_rows import moment_name
from slipstream.ui.i18n import tr
from slipstream.ui.wording import choice_name, drafter_pill
from slipstream.words import several, size

if TYPE_CHECKING:
    # Brings the HTTP client along; the window shows before.
    from slipstream.hub.library.proposal import Proposal

_LISTED = 6
"""Things named one by one where there may be many."""
_STORES = {
    Source.HUGGINGFACE: "the Hugging Face cache",
    Source.LMSTUDIO: "LM Studio",
    Source.OLLAMA: "Ollama",
    Source.FOLDER: "your folders",
}


def store_name(source: Source) -> str:
    """Whose store it is, in a sentence: "the Hugging Face cache"."""
    return tr(_STORES[source])


def _source_name(source: Source) -> str:
    """The same by itself: "Hugging Face cache"."""
    return store_name(source).removeprefix("the ")


def where(place: Place) -> str:
    """Where one lies, short: whose store, or the name of the user's folder."""
    return where_in(place.source, place.home)


def where_in(source: Source, folder: Path) -> str:
    """The same of anything that lies in a folder of a store."""
    return printable(folder.name) if source is Source.FOLDER else _source_name(source)


def drafter_pills(model: LocalModel) -> list[str]:
    """What drafts for a model: "MTP inside", "DFlash"."""
    inside = [drafter_pill(DrafterKind.MTP, inside=True)] if model.has_head else []
    return inside + list(dict.fromkeys(kind_name(one) for one in model.drafters))


def kind_name(one: Companion) -> str:
    """What a drafter or a projector is."""
    if one.role is FileRole.PROJECTOR:
        return tr("Reads images")
    return choice_name(KINDS.get(one.role, DrafterKind.DRAFT))


def last_use(moment: float | None, today: date) -> str:
    """When a model was last used: "used today"; empty if it never was."""
    if moment is None:
        return ""
    when = datetime.fromtimestamp(moment)
    days = (today - when.date()).days
    if days <= 0:
        return tr("used today")
    if days == 1:
        return tr("used yesterday")
    if days < 7:
        return tr("used {n} days ago").format(n=days)
    return tr("used {day}").format(day=moment_name(when, today))


def summary(models: int, taken: int, rooms: Sequence[Room]) -> str:
    """All models in a line: "4 models, 38.2 GB · 120.5 GB free on this disk"."""
    words = f"{several(models, tr('model'))}, {size(taken)}"
    free = list(dict.fromkeys(size(room.free) for room in rooms if room.free is not None))
    if len(free) == 1:
        words += " · " + tr("{free} free on this disk").format(free=free[0])
    return words


def rooms_words(rooms: Sequence[Room]) -> str:
    """What each store takes, and what its disk has left where that differs."""
    free = {room.free for room in rooms}
    return " · ".join(_room(room, tell_free=len(free) > 1) for room in rooms if room.bytes)


def _room(room: Room, *, tell_free: bool) -> str:
    folder = printable(room.root.name or room.root)
    name = folder if room.source is Source.FOLDER else _source_name(room.source)
    words = f"{name} {size(room.bytes)}"
    if tell_free and room.free is not None:
        words += " " + tr("({free} free)").format(free=size(room.free))
    return words


# Being rid of one


def question(proposal: "Proposal") -> str:
    """What is asked."""
    text = tr("Remove this copy of {name}?") if proposal.others else tr("Remove {name}?")
    return text.format(name=proposal.name)


def goes(proposal: "Proposal") -> list[str]:
    """What goes, thing by thing."""
    if isinstance(proposal.thing, Part):
        return [f"{proposal.name} ({size(proposal.thing.bytes)})"]
    if proposal.others:
        return [printable(path) for path in proposal.thing.files]
    lines = [_thing(one) for one in proposal.going]
    if isinstance(proposal.thing, LocalModel) and proposal.thing.unfinished:
        arrived = size(proposal.thing.unfinished)
        lines.append(tr("What has arrived of its other files ({size})").format(size=arrived))
    return lines


def _thing(one: Stored) -> str:
    name = printable(one.path.name if isinstance(one, Companion) else one.name)
    files = len(one.files)
    words = f"{name} ({size(one.bytes)})"
    return f"{words}, {several(files, tr('file'))}" if files > 1 else words


def stays(proposal: "Proposal") -> list[str]:
    """What stays, and why."""
    kept = proposal.removal.kept
    lines = [f"{one.name}: {one.why}" for one in kept[:_LISTED]]
    if len(kept) > _LISTED:
        lines.append(tr("and {n} more").format(n=len(kept) - _LISTED))
    return lines


def loses(proposal: "Proposal") -> str:
    """The stores that lose something, in a sentence; empty if none does."""
    names = [_store(store) for store in proposal.removal.stores]
    if not names:
        return ""
    return tr("It disappears from {stores}.").format(stores=_joined(list(dict.fromkeys(names))))


def _store(store: Store) -> str:
    return printable(store.root) if store.source is Source.FOLDER else store_name(store.source)


def removed(proposal: "Proposal") -> str:
    """What was done, and can still be undone."""
    name, freed = proposal.name, proposal.removal.freed
    words = tr("{name} was removed.").format(name=name)
    if freed:
        words = tr("{name} was removed. That frees {size}.").format(name=name, size=size(freed))
    return " ".join((words, *_kept(proposal)))


def _kept(proposal: "Proposal") -> Iterator[str]:
    kept = proposal.removal.kept
    if len(kept) == 1:
        yield tr("{file} stays. {why}").format(file=kept[0].name, why=kept[0].why)
    elif kept:
        yield tr("{files} stay.").format(files=several(len(kept), tr("file")))


def _joined(names: Sequence[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return tr("{names} and {last}").format(names=", ".join(names[:-1]), last=names[-1])
