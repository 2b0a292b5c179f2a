"""Reads the library: every store, every header that is not known yet."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.drafters.attached import identity
from slipstream.hub.cache import hub_cache
from slipstream.hub.library.belonging import Item, assign, assign_fetched
from slipstream.hub.library.facts import Notes
from slipstream.hub.library.models import Companion, Library, LocalModel, Place
from slipstream.hub.library.stored import Group, Identity, LocalSet, Part, Source, sets_of
from slipstream.hub.library.stores import survey
from slipstream.hub.library.uses import last_uses
from slipstream.paths import real
from slipstream.weights.names import quantization_at

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_RESOLVED_DEPTH = 2
"""Parts of a path in a snapshot that ``hub.reference`` still looks at."""

_Key = tuple[Identity, int]


def scan(folders: Sequence[Path], cancel: CancelToken) -> Library:
    """The models on this computer.

    Args:
        folders: the user's own folders with models.

    Raises: Cancelled.
    """
    found = survey(folders, cancel)
    notes = Notes()
    known: dict[_Key, list[Item]] = {}
    try:
        grouped = [(group, _items_of(group, known, notes, cancel)) for group in found.groups]
        for group, members in grouped:
            assign(group, members, notes)
    finally:
        notes.save()
    items = [item for alike in known.values() for item in alike]
    assign_fetched(items)
    parts = _parts(found.groups)
    refs = dict(_refs(grouped))
    used = last_uses()
    models = [_model(item, refs, parts, used) for item in items if item.is_model]
    taken = {part.path for model in models for part in model.parts}
    loose = [item for item in items if item.is_companion and not item.owned]
    return Library(
        models=tuple(sorted(models, key=lambda one: (one.name.lower(), one.bytes, one.path))),
        loose=tuple(_companion(item) for item in loose),
        parts=tuple(part for part in parts if part.path not in taken),
        stores=found.stores,
        problems=found.problems,
    )


def _items_of(
    group: Group, known: dict[_Key, list[Item]], notes: Notes, cancel: CancelToken
) -> list[Item]:
    """The sets of a group; what is already known from another place is the same item."""
    members = []
    for files in sets_of(group.files):
        cancel.raise_if_cancelled()
        alike = known.setdefault(_key(files), [])
        declared = files.first in group.companions
        item = _same(group, files, alike)
        if item is None:
            item = Item(files, notes.facts(files), declared)
            alike.append(item)
        elif len(files.missing) < len(item.files.missing):
            # A later place is more complete; it comes first from here on.
            item.files, item.facts = files, notes.facts(files)
        if item.declared and group.source is Source.OLLAMA and not declared:
            # What drafts for one of Ollama's models is another one; this place comes first.
            item.declared, item.files = False, files
        place = _place(group, files)
        if _is_new(place, item.places):
            whole = files is item.files
            item.places.insert(0 if whole else len(item.places), place)
        members.append(item)
    return members


def _same(group: Group, files: LocalSet, alike: Sequence[Item]) -> Item | None:
    """Which of the sets with the same files on disk this one is.

    Repositories of one cache may share content, and each can be removed without the others.
    """
    if group.source is Source.HUGGINGFACE:
        return next((item for item in alike if _is_of(item, group)), None)
    if len(alike) < 2 or not files.files:
        return next(iter(alike), None)
    target = real(files.files[0].path)
    led_to = (item for item in alike if target == real(item.files.first))
    return next(led_to, alike[0])


def _is_of(item: Item, group: Group) -> bool:
    return any((place.root, place.name) == (group.root, group.name) for place in item.places)


def _is_new(place: Place, known: Iterable[Place]) -> bool:
    """Whether a place is not yet known; Ollama may have several names for the same files."""
    return not any(each.files == place.files and place.name in ("", each.name) for each in known)


def _key(files: LocalSet) -> _Key:
    """The same for one set in several places."""
    first = files.files[0].identity if files.files else str(files.first)
    return first, len(files.files) + len(files.missing)


def _place(group: Group, files: LocalSet) -> Place:
    return Place(group.source, group.root, group.home, group.name, group.revision, files.files)


def _parts(groups: Iterable[Group]) -> list[Part]:
    return list({part.path: part for group in groups for part in group.parts}.values())


def _model(
    item: Item, refs: dict[Path, str], parts: Sequence[Part], used: Mapping[str, float]
) -> LocalModel:
    path, facts = item.files.first, item.facts
    places = tuple(item.places)
    name = facts.name
    if places[0].source is Source.OLLAMA:
        name = places[0].name
    return LocalModel(
        path=path,
        name=name,
        quant=facts.quant,
        role=facts.role,
        places=places,
        missing=item.files.missing,
        problem=facts.problem,
        ref=str(path) if facts.problem else refs.get(path, str(path)),
        drafters=tuple(map(_companion, item.drafters)),
        projectors=tuple(map(_companion, item.projectors)),
        lent=frozenset(one.files.first for one in item.lent),
        parts=tuple(part for part in parts if _is_part_of(item, part)),
        last_used=_last_use(places, used),
        has_head=facts.has_head,
    )


def _last_use(places: Iterable[Place], used: Mapping[str, float]) -> float | None:
    """When a model was last used, by whichever of its names."""
    if not used:
        return None
    moments = (used.get(identity(place.files[0].path)) for place in places if place.files)
    return max((moment for moment in moments if moment is not None), default=None)


def _companion(item: Item) -> Companion:
    return Companion(
        path=item.files.first,
        name=item.facts.name,
        quant=item.facts.quant,
        role=item.facts.role,
        places=tuple(item.places),
        missing=item.files.missing,
        problem=item.facts.problem,
    )


def _is_part_of(item: Item, part: Part) -> bool:
    """Whether a file that is arriving is one of a set's: by its name, in the same place."""
    names = {item.files.first.name, *item.files.missing}
    return part.of in names and any(_near(place, part) for place in item.places)


def _near(place: Place, part: Part) -> bool:
    home = place.repository if place.source is Source.HUGGINGFACE else place.home
    return part.path.is_relative_to(home)


def _refs(grouped: Iterable[tuple[Group, list[Item]]]) -> Iterator[tuple[Path, str]]:
    """References by repository and quantization that lead to exactly one file.

    Of several snapshots the first that has the quantization counts, as in ``hub.reference``.
    """
    settled: set[str] = set()
    cache = hub_cache()
    for group, members in grouped:
        if group.root != cache or not _REPOSITORY.fullmatch(group.name):
            continue
        here: dict[str, set[Path]] = {}
        for path in (path for item in members for path in _whole_in(item, group)):
            label = quantization_at(path)
            here.setdefault(f"{group.name}:{label}" if label else group.name, set()).add(path)
        for ref, found in here.items():
            unique = len(found) == 1 and (ref != group.name or len(here) == 1)
            if unique and ref not in settled:
                yield found.pop(), ref
        if here:
            settled |= {group.name, *here}


def _whole_in(item: Item, group: Group) -> Iterator[Path]:
    """The first files of a model in a snapshot, where nothing is missing."""
    if not item.is_model or item.files.missing:
        return
    for place in item.places:
        whole = place.home == group.home and len(place.files) == len(item.files.files)
        if whole and len(place.files[0].path.relative_to(group.home).parts) <= _RESOLVED_DEPTH:
            yield place.files[0].path
