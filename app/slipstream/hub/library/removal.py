"""Decides what is deleted with a model, before anything is touched."""

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from slipstream.errors import SlipstreamError
from slipstream.hub.downloads.blocks import map_of
from slipstream.hub.library.cached import Emptied, emptied
from slipstream.hub.library.doomed import Doomed, Kept, doomed, freed_by, lies_in
from slipstream.hub.library.models import Companion, Library, LocalModel, Place, Stored
from slipstream.hub.library.stored import Part, Source
from slipstream.hub.library.stores import Store
from slipstream.paths import printable, real

_QUIET = 60.0
"""Seconds after which a file that did not change is not being downloaded."""


@dataclass(frozen=True)
class Removal:
    """What deleting a model takes away.

    Attributes:
        name: of the model.
        links: what only leads to something: entries of snapshots, references, links in folders.
        files: the files themselves, the largest last.
        shared: links to content that repositories of the Hugging Face cache share; it goes with
            the last of them.
        folders: deleted if nothing is left in them, the innermost first.
        freed: bytes.
        kept: what stays, and why.
        stores: those that lose something.
    """

    name: str
    links: tuple[Doomed, ...]
    files: tuple[Doomed, ...]
    shared: tuple[Doomed, ...]
    folders: tuple[Path, ...]
    freed: int
    kept: tuple[Kept, ...]
    stores: tuple[Store, ...]


def removal(model: LocalModel | Companion, library: Library) -> Removal:
    """What goes when a model does: its files, and what belongs to no other model.

    Args:
        model: one of the library's, or one of its drafters and projectors without a model.
        library: what there is.

    Raises: SlipstreamError ``belongs_to_ollama``.
    """
    _refuse_ollama(model)
    going, kept = _companions(model, library) if isinstance(model, LocalModel) else ([], [])
    leaving: list[Stored] = [model, *going]
    caches = [emptied(root, entries) for root, entries in _cached(leaving).items()]
    parts = _parts(model) if isinstance(model, LocalModel) else ()
    found = [*parts, *_in_folders(leaving, kept), *_all(caches)]
    found = list({one.path: one for one in found}.values())
    cached = {one.path for cache in caches for one in cache.links}
    files = [one for one in found if not one.is_link and one.path not in cached]
    links = [one for one in found if one.is_link or one.path in cached]
    in_folders = [one for one in links if one.path not in cached]
    kept += [*_left(in_folders, files, caches), *_named_elsewhere(files)]
    return Removal(
        name=model.name,
        links=tuple(links),
        files=tuple(sorted(files, key=lambda one: one.bytes)),
        shared=tuple(one for cache in caches for one in cache.shared),
        folders=tuple(folder for cache in caches for folder in cache.folders),
        freed=freed_by(files) + sum(cache.shared_bytes for cache in caches),
        kept=(*kept, *(each for cache in caches for each in cache.kept)),
        stores=tuple(_stores(leaving, found)),
    )


def part_removal(part: Part, library: Library) -> Removal:
    """What goes when a file does that has not arrived in full, and belongs to no model.

    Args:
        part: one of the library's.
        library: what there is.

    Raises: SlipstreamError: ``belongs_to_ollama``, ``still_arriving``.
    """
    store = next(one for one in library.stores if part.path.is_relative_to(one.root))
    name = printable(part.of or part.path.name)
    if store.source is Source.OLLAMA:
        raise _ollamas(name, part.path, "Start Ollama, which deletes what it does not go on with.")
    if _is_growing(part.path):
        raise SlipstreamError(
            "still_arriving",
            f"{name} changed a moment ago: a program may be downloading it.",
            facts={"path": printable(part.path)},
            action="Stop that download, and try again in a minute.",
        )
    files = [one for path in (part.path, map_of(part.path)) for one in _if_there(path, store.root)]
    return Removal(
        name=name,
        links=(),
        files=tuple(files),
        shared=(),
        folders=(),
        freed=part.bytes,
        kept=(),
        stores=(store,),
    )


def _is_growing(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime < _QUIET
    except OSError:
        return False


def _stores(leaving: Iterable[Stored], going: Sequence[Doomed]) -> list[Store]:
    """The stores that something goes from, each once."""
    places = (place for one in leaving for place in one.places)
    touched = {
        Store(place.source, place.root): None
        for place in places
        if any(one.path.is_relative_to(place.root) for one in going)
    }
    return list(touched)


def _refuse_ollama(model: Stored) -> None:
    place = next((each for each in model.places if each.source is Source.OLLAMA), None)
    if place:
        action = f"Run: ollama rm {printable(place.name)}"
        raise _ollamas(printable(model.name), model.path, action)


def _ollamas(name: str, path: Path, action: str) -> SlipstreamError:
    return SlipstreamError(
        "belongs_to_ollama",
        f"{name} is Ollama's, which alone knows what else needs its files.",
        facts={"path": printable(path), "name": name},
        action=action,
    )


def _companions(model: LocalModel, library: Library) -> tuple[list[Companion], list[Kept]]:
    """The companions that go along, and those that stay."""
    going: list[Companion] = []
    kept: list[Kept] = []
    models = {other.path for other in library.models}
    for one in model.companions:
        others = [
            printable(other.name)
            for other in library.models
            if other.path != model.path and one in other.companions
        ]
        if one.path in models:
            kept.append(Kept(one.path, "It is a model of its own."))
        elif others:
            more = f" and {len(others) - 1} more need" if len(others) > 1 else " needs"
            kept.append(Kept(one.path, f"{others[0]}{more} it."))
        elif any(place.source is Source.OLLAMA for place in one.places):
            kept.append(Kept(one.path, "It is Ollama's."))
        elif _is_elsewhere_too(one, model):
            kept.append(Kept(one.path, "Another store has it, too."))
        elif one.path in model.lent:
            kept.append(Kept(one.path, "It did not come with this model."))
        else:
            going.append(one)
    return going, kept


def _is_elsewhere_too(companion: Companion, model: LocalModel) -> bool:
    """Whether a store that the model is not in has a companion as well: its program may need it."""
    roots = {place.root for place in companion.places}
    return len(roots) > 1 and not roots <= {place.root for place in model.places}


def _cached(leaving: Iterable[Stored]) -> dict[Path, list[Path]]:
    """Entries of snapshots by cache, links that lead nowhere among them."""
    found: dict[Path, list[Path]] = {}
    for one in leaving:
        for place in one.places:
            if place.source is Source.HUGGINGFACE:
                entries = [file.path for file in place.files]
                folder = entries[0].parent if entries else one.path.parent
                entries += [folder / name for name in one.missing]
                found.setdefault(place.root, []).extend(entries)
    return found


def _parts(model: LocalModel) -> Iterator[Doomed]:
    for part in model.parts:
        place = next(each for each in model.places if part.path.is_relative_to(each.root))
        for path in (part.path, map_of(part.path)):
            yield from _if_there(path, place.repository)


def _in_folders(leaving: Iterable[Stored], kept: list[Kept]) -> Iterator[Doomed]:
    for place, path in _elsewhere(leaving):
        if lies_in(path, place.root):
            yield from _if_there(path, place.root)
        else:
            kept.append(Kept(path, f"It lies outside {printable(place.root)}."))


def _elsewhere(leaving: Iterable[Stored]) -> Iterator[tuple[Place, Path]]:
    places = (place for one in leaving for place in one.places)
    for place in places:
        if place.source is not Source.HUGGINGFACE:
            yield from ((place, file.path) for file in place.files)


def _if_there(path: Path, root: Path) -> Iterator[Doomed]:
    one = doomed(path, root)
    if one:
        yield one


def _all(caches: Iterable[Emptied]) -> Iterator[Doomed]:
    for cache in caches:
        yield from (*cache.links, *cache.files)


def _left(
    links: Sequence[Doomed], files: Sequence[Doomed], caches: Sequence[Emptied]
) -> Iterator[Kept]:
    """What links in folders lead to and stays."""
    going = {os.path.realpath(one.path) for one in files}
    going |= {os.path.realpath(one.path) for cache in caches for one in cache.shared}
    for one in links:
        target = real(one.path)
        if target.exists() and str(target) not in going:
            yield Kept(target, "Only the link to it goes.", one.path.name)


def _named_elsewhere(files: Sequence[Doomed]) -> Iterator[Kept]:
    """Files whose content stays on disk under another name."""
    names = Counter(one.found for one in files)
    for one in files:
        if names[one.found] < one.names:
            yield Kept(one.path, "Only this name goes: its content has another one on this disk.")
