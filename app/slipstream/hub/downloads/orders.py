"""What to get, and what was got."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from slipstream.hub import cache
from slipstream.hub.downloads.places import CachePlace, FolderPlace, Place
from slipstream.hub.files import RepoFile


@dataclass(frozen=True)
class Item:
    """What to get of one repository.

    Attributes:
        repo: ``owner/name``.
        revision: the commit.
        ref: the branch or tag that was asked for.
        files: as the listing at that commit tells.
    """

    repo: str
    revision: str
    ref: str
    files: tuple[RepoFile, ...]


@dataclass(frozen=True)
class Pairing:
    """Which of the files drafts for the first one.

    Attributes:
        repo, path: the drafter's repository, and its first file there.
        bases: the models that its repository says it was made from.
        chosen: the user named it; else it was found.
    """

    repo: str
    path: str
    bases: tuple[str, ...] = ()
    chosen: bool = False


@dataclass(frozen=True)
class Order:
    """What to get.

    Attributes:
        items: one per repository: the target's, and the drafter's if that is another. The first
            file of the first is the one to load.
        folder: where to; None is the Hugging Face cache.
        pairing: what drafts, if a drafter is among the files.
    """

    items: tuple[Item, ...]
    folder: Path | None = None
    pairing: Pairing | None = None


@dataclass(frozen=True)
class Fetched:
    """One file that is there now, with the checksum that was listed.

    Attributes:
        repo: ``owner/name``.
        file: as it was listed.
        path: where it is.
        transferred: it was not there before.
    """

    repo: str
    file: RepoFile
    path: Path
    transferred: bool


@dataclass(frozen=True)
class Downloaded:
    """What a download brought.

    Attributes:
        files: in the order of their items.
        seconds: it took.
    """

    files: tuple[Fetched, ...]
    seconds: float


def places_of(order: Order) -> Iterator[Place]:
    """Where each file of an order goes."""
    kind = CachePlace if order.folder is None else FolderPlace
    root = cache.hub_cache() if order.folder is None else order.folder
    for item in order.items:
        for file in item.files:
            yield kind(root, item.repo, item.revision, file)


def target_path(order: Order) -> Path:
    """Where the file to load is, or will be."""
    return next(places_of(order)).there
