"""Which drafter the user chose for a model, and which were fetched for it from elsewhere."""

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from slipstream import paths
from slipstream.drafters.entries import Entries, change_entries, read_entries
from slipstream.drafters.lineage import CACHE_FOLDERS, Place, cached_repository

Choice = Path | Literal["automatic", "none"]
"""A drafter's file, whatever drafts best, or no drafter at all."""

MOST = 1000
"""Models that are remembered, those changed last."""
_IN_CACHE = re.compile(
    rf"(?P<home>.*[\\/](?P<repo>{CACHE_FOLDERS}[^\\/]+)[\\/]snapshots)[\\/](?P<commit>[^\\/]+)[\\/](?P<file>.+)"
)
_CHOICE, _FETCHED = "choice", "fetched"
_FILE, _REPOSITORY, _BASES = "file", "repository", "bases"


@dataclass(frozen=True)
class Fetched:
    """A drafter that was downloaded for a model.

    Attributes:
        path: its file.
        place: the repository it came from, which tells what it was made for.
    """

    path: Path
    place: Place


@dataclass(frozen=True)
class Attached:
    """What belongs to a model beside what lies near it.

    Attributes:
        choice: what the user wants to draft with.
        fetched: drafters downloaded for it into other places, the newest last.
    """

    choice: Choice = "automatic"
    fetched: tuple[Fetched, ...] = ()


def attached(target: Path) -> Attached:
    """What belongs to a model; files may be gone.

    Args:
        target: the first file of the model.
    """
    return all_attached()(target)


def all_attached() -> Callable[[Path], Attached]:
    """The same for many models, without reading the file for each."""
    entries = read_entries(paths.pairs_file)
    return lambda target: _decoded(entries.get(identity(target)))


def choose_drafter(target: Path, choice: Choice) -> None:
    """Remember what the user wants a model to be drafted by.

    Raises: SlipstreamError ``not_saved``, ``home_not_writable``.
    """
    kept = choice.absolute() if isinstance(choice, Path) else choice
    _change(target, lambda known: replace(known, choice=kept))


def attach(target: Path, drafter: Fetched) -> None:
    """Remember a drafter that was fetched for a model.

    Raises: SlipstreamError ``not_saved``, ``home_not_writable``.
    """

    def added(known: Attached) -> Attached:
        mine = identity(drafter.path)
        others = (one for one in known.fetched if identity(one.path) != mine)
        return replace(known, fetched=(*others, drafter))

    _change(target, added)


def identity(path: Path) -> str:
    """What a file is called for good: ``owner/repo:file`` in a Hugging Face cache, where the same
    file lies elsewhere after an update; else its path without links."""
    match = _IN_CACHE.fullmatch(str(path))
    if not match:
        return str(paths.real(path))
    return f"{cached_repository(match['repo'])}:{match['file'].replace(chr(92), '/')}"


def _change(target: Path, change: Callable[[Attached], Attached]) -> None:
    key = identity(target)

    def changed(entries: Entries) -> Entries:
        now = change(_decoded(entries.pop(key, None)))
        return entries if now == Attached() else {**entries, key: _encoded(now)}

    change_entries(paths.pairs_file, changed, MOST)


def _encoded(known: Attached) -> dict[str, object]:
    choice = {_FILE: str(known.choice)} if isinstance(known.choice, Path) else known.choice
    fetched = [
        {_FILE: str(one.path), _REPOSITORY: one.place.repository, _BASES: one.place.bases}
        for one in known.fetched
    ]
    return {_CHOICE: choice, _FETCHED: fetched}


def _decoded(entry: object) -> Attached:
    if not isinstance(entry, dict):
        return Attached()
    fetched = entry.get(_FETCHED)
    return Attached(
        choice="none" if entry.get(_CHOICE) == "none" else _file(entry.get(_CHOICE)) or "automatic",
        fetched=tuple(_fetched(fetched)) if isinstance(fetched, list) else (),
    )


def _fetched(entries: list[object]) -> Iterator[Fetched]:
    for entry in entries:
        path = _file(entry)
        if path and isinstance(entry, dict):
            repository, bases = entry.get(_REPOSITORY), entry.get(_BASES)
            names = bases if isinstance(bases, list) else []
            yield Fetched(
                path,
                Place(
                    repository=repository if isinstance(repository, str) else "",
                    bases=tuple(name for name in names if isinstance(name, str)),
                ),
            )


def _file(entry: object) -> Path | None:
    path = entry.get(_FILE) if isinstance(entry, dict) else None
    return _present(Path(path)) if isinstance(path, str) and paths.is_path(path) else None


def _present(path: Path) -> Path:
    """Where a file is now: in another revision, if its repository in the cache was updated."""
    match = _IN_CACHE.fullmatch(str(path))
    with contextlib.suppress(OSError):
        if match and not path.exists():
            for other in sorted(Path(match["home"]).glob("*")):
                if (other / match["file"]).exists():
                    return other / match["file"]
    return path
