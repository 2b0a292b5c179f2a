"""Models that are split into several files."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from slipstream.errors import SlipstreamError
from slipstream.weights.cache import cached_header
from slipstream.weights.header import Header
from slipstream.weights.names import shard_of


def shards(path: Path) -> tuple[Path, ...]:
    """Every file of the set that ``path`` belongs to, whether it exists or not; the first first."""
    shard = shard_of(path.name)
    if shard is None:
        return (path,)
    return tuple(
        path.with_name(f"{shard.stem}-{number:05}-of-{shard.total:05}{path.suffix}")
        for number in range(1, shard.total + 1)
    )


def missing_shards(path: Path) -> tuple[Path, ...]:
    """The files of the set that are not there."""
    return tuple(file for file in shards(path) if not file.is_file())


def size_of(path: Path) -> int:
    """Bytes of the whole set; files that are not there count nothing."""
    return sum(file.stat().st_size for file in shards(path) if file.is_file())


def read_model(path: Path) -> Header:
    """The header of a whole model: the first shard's metadata with the tensors of every shard.

    Tensor offsets are those in each tensor's own file; sizes are sums over the set.

    Files that have not changed are not read again.

    Raises: SlipstreamError: ``missing_shard``, or what ``read_header`` raises.
    """
    files = shards(path)
    if len(files) == 1:
        return cached_header(path)
    missing = missing_shards(path)
    if missing:
        raise SlipstreamError(
            "missing_shard",
            f"This model has {len(files)} files, and {len(missing)} of them "
            f"{'is' if len(missing) == 1 else 'are'} missing.",
            facts={"missing": ", ".join(file.name for file in missing[:8]), "of": len(files)},
            action="Download the missing files into the same folder.",
        )
    return merged([cached_header(file) for file in files])


def merged(headers: Sequence[Header]) -> Header:
    """The header of a whole set from those of its files, the first first."""
    return dataclasses.replace(
        headers[0],
        tensors=tuple(tensor for header in headers for tensor in header.tensors),
        file_bytes=sum(header.file_bytes for header in headers),
        missing_bytes=sum(header.missing_bytes for header in headers),
    )
