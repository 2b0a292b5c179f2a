"""Where the drafters of a model on this computer lie."""

from collections.abc import Iterator
from pathlib import Path

from slipstream.weights.names import quantization, shard_of
from slipstream.weights.shards import shards, size_of

DRAFTER_FOLDERS = frozenset({"mtp", "dspark", "dflash"})


def files_near(target: Path) -> Iterator[Path]:
    """GGUF files that may belong to the target, the smallest first, one per set of shards."""
    own = {target, *shards(target)}
    files = [
        path
        for folder in _folders(target.parent)
        for path in _entries(folder)
        if path.suffix.lower() == ".gguf" and path.is_file() and path not in own
    ]
    firsts = (path for path in files if (shard := shard_of(path.name)) is None or shard.number == 1)
    yield from sorted(firsts, key=lambda path: (size_of(path), path.name))


def _folders(home: Path) -> Iterator[Path]:
    """The model's folder and its drafter folders; for a quantization's own folder, also those
    of the repository around it."""
    for folder in (home, home.parent) if quantization(home.name) else (home,):
        yield folder
        for entry in _entries(folder):
            if entry.name.lower() in DRAFTER_FOLDERS and entry.is_dir():
                yield entry


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
