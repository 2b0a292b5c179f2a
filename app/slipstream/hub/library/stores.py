"""All places on this computer where models lie."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub.cache import hub_cache
from slipstream.hub.library import folder as one_folder
from slipstream.hub.library import huggingface, lmstudio, ollama
from slipstream.hub.library.stored import Group, Source
from slipstream.hub.library.walk import Problems, is_folder, not_a_folder
from slipstream.paths import expanded, printable

_Groups = Callable[[Path, Problems, CancelToken], Iterator[Group]]
_READERS: dict[Source, _Groups] = {
    Source.HUGGINGFACE: huggingface.groups,
    Source.LMSTUDIO: lmstudio.groups,
    Source.OLLAMA: ollama.groups,
    Source.FOLDER: one_folder.groups,
}


@dataclass(frozen=True)
class Store:
    """One folder with models, and whose it is."""

    source: Source
    root: Path


@dataclass(frozen=True)
class Survey:
    """What lies in all stores.

    Attributes:
        stores: those that are there.
        groups: files that lie together.
        problems: what could not be looked at.
    """

    stores: tuple[Store, ...]
    groups: tuple[Group, ...]
    problems: tuple[SlipstreamError, ...]


def survey(folders: Sequence[Path], cancel: CancelToken) -> Survey:
    """Look through all stores; nothing is read but names and manifests.

    Args:
        folders: the user's own folders with models.

    Raises: Cancelled.
    """
    problems: Problems = [_gone(path) for path in map(expanded, folders) if not is_folder(path)]
    problems += map(not_a_folder, _in_the_way(hub_cache()))
    there = tuple(stores(folders))
    groups = [group for one in there for group in _READERS[one.source](one.root, problems, cancel)]
    return Survey(there, tuple(groups), tuple(problems))


def stores(folders: Sequence[Path]) -> Iterator[Store]:
    """The stores that are there, each folder once."""
    seen: set[str] = set()
    for one in _possible(folders):
        if is_folder(one.root) and (real := os.path.realpath(one.root)) not in seen:
            seen.add(real)
            yield one


def _possible(folders: Sequence[Path]) -> Iterator[Store]:
    yield Store(Source.HUGGINGFACE, hub_cache())
    yield from (Store(Source.LMSTUDIO, root) for root in lmstudio.roots())
    yield from (Store(Source.OLLAMA, root) for root in ollama.roots())
    for folder in folders:
        root = expanded(folder).absolute()
        yield Store(Source.HUGGINGFACE if huggingface.is_cache(root) else Source.FOLDER, root)


def _in_the_way(folder: Path) -> list[Path]:
    """What lies at the place of a folder, or on the way to it, and is none."""
    return [path for path in (folder, *folder.parents) if path.exists() and not is_folder(path)]


def _gone(path: Path) -> SlipstreamError:
    return SlipstreamError(
        "folder_missing",
        f"The folder {printable(path)} is not there.",
        facts={"path": printable(path)},
        action="Connect the drive it is on, or take it off the list of folders with models.",
    )
