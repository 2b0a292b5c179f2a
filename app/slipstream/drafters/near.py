"""Where the drafters of a model on this computer lie."""

import contextlib
import heapq
import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from slipstream.drafters.lineage import DRAFTER_FOLDERS
from slipstream.weights.names import quantization, shard_of
from slipstream.weights.shards import shards, size_of

_SETTLED = 2.0
"""Seconds after a change from which on every further change shows in a folder's time."""


@dataclass(frozen=True)
class _Listing:
    """A folder: its GGUF files by size and name, one per set of shards, and drafter folders."""

    files: tuple[tuple[int, str, Path], ...] = ()
    folders: tuple[Path, ...] = ()


def files_near(target: Path) -> Iterator[Path]:
    """GGUF files that may belong to the target, the smallest first, one per set of shards."""
    own = {target, *shards(target)}
    listings = [_listed(folder).files for folder in _folders(target.parent)]
    yield from (path for _, _, path in heapq.merge(*listings) if path not in own)


def _folders(home: Path) -> Iterator[Path]:
    """The model's folder and its drafter folders; for a quantization's own folder, also those
    of the repository around it."""
    for folder in (home, home.parent) if quantization(home.name) else (home,):
        yield folder
        yield from _listed(folder).folders


def _listed(folder: Path) -> _Listing:
    """What a folder holds; looked up again when it has changed."""
    with contextlib.suppress(OSError):
        changed = folder.stat().st_mtime_ns
        look = _look_into if time.time() - changed / 1e9 > _SETTLED else _look_into.__wrapped__
        return look(folder, changed)
    return _Listing()


@lru_cache(maxsize=64)
def _look_into(folder: Path, changed: int) -> _Listing:  # noqa: ARG001 - tells versions apart
    """Raises: OSError, which is not remembered."""
    with os.scandir(folder) as entries:
        found = [Path(folder, entry.name) for entry in entries]
    named = (path for path in found if path.suffix.lower() == ".gguf")
    firsts = (path for path in named if (shard := shard_of(path.name)) is None or shard.number == 1)
    files = ((size_of(path), path.name, path) for path in firsts if _is(stat.S_ISREG, path))
    drafters = (path for path in found if path.name.lower() in DRAFTER_FOLDERS)
    folders = sorted(path for path in drafters if _is(stat.S_ISDIR, path))
    return _Listing(tuple(sorted(files)), tuple(folders))


def _is(kind: Callable[[int], bool], path: Path) -> bool:
    try:
        return kind(path.stat().st_mode)
    except OSError:
        return False
