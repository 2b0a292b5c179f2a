"""What a store of models yields: files that lie together, told before any of them is read."""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from slipstream.weights.names import Shard, shard_of
from slipstream.weights.shards import shards

_PARTS = (".part", ".incomplete", ".downloadinprogress")
"""How files that have not arrived in full end: ours and LM Studio's, huggingface_hub's,
llama.cpp's."""
_BLOCK = 512
"""Bytes of what ``st_blocks`` counts."""

Identity = tuple[int, int] | str
"""The same for all names of one file: its number on its file system, else its real path."""


class Source(StrEnum):
    """Whose store a model lies in."""

    HUGGINGFACE = "huggingface"
    LMSTUDIO = "lmstudio"
    OLLAMA = "ollama"
    FOLDER = "folder"


@dataclass(frozen=True)
class Part:
    """A file that has not arrived in full.

    Attributes:
        path: where it grows.
        bytes: on disk now.
        of: name of the file it will be; None where nothing tells.
        source: whose store it lies in.
        repo: ``owner/name`` of the repository it comes from; empty where nothing tells.
    """

    path: Path
    bytes: int
    of: str | None
    source: Source
    repo: str = ""


@dataclass(frozen=True)
class Group:
    """Files that lie together, so that drafters and projectors among them belong to its models.

    Attributes:
        source: whose store it is.
        root: the store's folder.
        home: the folder they lie in.
        name: ``owner/repo``, Ollama's ``name:tag``; empty for a folder of the user's.
        files: all GGUF files, shards one by one; some may be gone or links that lead nowhere.
        parts: files that have not arrived in full.
        revision: commit of the repository.
        companions: files that the store itself says are not models.
    """

    source: Source
    root: Path
    home: Path
    name: str = ""
    files: tuple[Path, ...] = ()
    parts: tuple[Part, ...] = ()
    revision: str | None = None
    companions: frozenset[Path] = frozenset()


@dataclass(frozen=True)
class LocalFile:
    """One file that is there: what it leads to, its size, and when it changed (nanoseconds)."""

    path: Path
    identity: Identity
    bytes: int
    changed: int


@dataclass(frozen=True)
class LocalSet:
    """One file, or the shards of a set, in one place.

    Attributes:
        first: the path that the first file has or would have.
        files: those that are there, the first first.
        missing: names of those that are not.
    """

    first: Path
    files: tuple[LocalFile, ...]
    missing: tuple[str, ...]


def sets_of(paths: Iterable[Path]) -> list[LocalSet]:
    """Join the shards among some files to sets, in the order of their first files."""
    firsts: dict[tuple[Path, Shard | str], list[Path]] = {}
    for path in paths:
        shard = shard_of(path.name)
        key = Shard(shard.stem, 1, shard.total) if shard else path.name
        firsts.setdefault((path.parent, key), []).append(path)
    return [_set_of(found) for found in firsts.values()]


def local_file(path: Path) -> LocalFile | None:
    """What a path leads to; None if that is no file, or gone."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return None
        number = (found.st_dev, found.st_ino)
        identity = number if found.st_ino else os.path.realpath(path)
    except (OSError, ValueError):
        return None
    return LocalFile(path, identity, found.st_size, found.st_mtime_ns)


def is_gguf(name: str) -> bool:
    """Whether a file is called like a model."""
    return name.lower().endswith(".gguf")


def is_part(name: str) -> bool:
    """Whether a file is called like one that has not arrived in full."""
    return name.lower().endswith(_PARTS)


def part(path: Path, of: str | None, source: Source) -> Part | None:
    """A file that has not arrived in full, as it is now; None if it is no file, or gone.

    Room that was set aside for it and not yet written to does not count.
    """
    try:
        found = path.lstat()
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    written = getattr(found, "st_blocks", found.st_size) * _BLOCK
    return Part(path, min(found.st_size, written), of, source)


def _set_of(paths: list[Path]) -> LocalSet:
    every = shards(paths[0])
    there = [file for file in map(local_file, every) if file]
    found = {file.path for file in there}
    missing = tuple(path.name for path in every if path not in found)
    return LocalSet(every[0], tuple(there), missing)
