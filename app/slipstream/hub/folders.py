"""The models that lie in a folder, used where they are."""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.drafters.identify import FileRole, role_of
from slipstream.errors import SlipstreamError
from slipstream.weights.names import shard_of
from slipstream.weights.shards import read_model

DEEPEST = 4
"""Levels of folders below: ``publisher/model/quantization/`` and one to spare."""
MOST = 2_000
"""Files looked at in one folder, so that choosing a whole disk ends in a moment."""


def models_in(folder: Path, deepest: int = DEEPEST) -> Iterator[Path]:
    """The models in a folder that can be loaded as such, the first file of each, by name.

    Drafters, projectors and files that cannot be read are left out.

    Args:
        folder: where to look; nothing is found in one that does not exist.
        deepest: levels of folders to go down.
    """
    yield from filter(is_model, files_in(folder, deepest))


def files_in(
    folder: Path, deepest: int = DEEPEST, cancel: CancelToken | None = None
) -> Iterator[Path]:
    """GGUF files in a folder, whatever they are; of a set of shards the first.

    Args:
        folder: where to look; nothing is found in one that does not exist.
        deepest: levels of folders to go down.

    Raises: Cancelled.
    """
    files = _gguf_files(folder, deepest, cancel or CancelToken())
    yield from filter(_is_first, islice(files, MOST))


def is_model(path: Path) -> bool:
    """Whether a file is a model that can answer by itself; its header decides."""
    if not _is_first(path):
        return False
    try:
        return role_of(read_model(path)) is FileRole.TARGET
    except SlipstreamError:
        return False


def _is_first(path: Path) -> bool:
    shard = shard_of(path.name)
    return shard is None or shard.number == 1


def _gguf_files(folder: Path, deepest: int, cancel: CancelToken) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        cancel.raise_if_cancelled()
        depth = len(Path(parent).relative_to(folder).parts)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if depth >= deepest:
            folders.clear()
        for name in sorted(files):
            if name.lower().endswith(".gguf"):
                yield Path(parent, name)
