"""What of a repository is on this computer already."""

from dataclasses import dataclass
from pathlib import Path

from slipstream.errors import SlipstreamError
from slipstream.hub.cache import blob_path, find, hub_cache
from slipstream.hub.downloads.blocks import held, map_of
from slipstream.hub.files import Listing, RepoFile
from slipstream.hub.headers import stored_set
from slipstream.hub.repository import FileSet
from slipstream.weights.header import Header
from slipstream.weights.shards import read_model


@dataclass(frozen=True)
class Here:
    """What of a set of files is on this computer.

    Attributes:
        path: of its first file; None if not all of the set is there, or only under the names that
            contents have, where no drafter is found beside it.
        missing: bytes that still have to be transferred.
    """

    path: Path | None
    missing: int


def look_here(repo: str, revision: str, file_set: FileSet) -> Here:
    """Look for the files of a set of a repository at a commit."""
    cache = hub_cache()
    found = [find(cache, repo, revision, file) for file in file_set.files]
    there = zip(file_set.files, found, strict=True)
    missing = sum(_missing(cache, repo, file) for file, path in there if path is None)
    first = found[0]
    named = first is not None and first.name == file_set.files[0].name
    return Here(first if named and None not in found else None, missing)


def _missing(cache: Path, repo: str, file: RepoFile) -> int:
    """Bytes of a file without those that a download left behind."""
    own = blob_path(cache, repo, file)
    part = own.with_name(f"{own.name}.part")
    return file.bytes - min(held(part), file.bytes) if map_of(part).exists() else file.bytes


def known_header(listing: Listing, file_set: FileSet, here: Here | None = None) -> Header | None:
    """The header of a set, as far as nothing has to be transferred for it.

    Args:
        listing: of its repository.
        file_set: of that.
        here: what of it is on this computer, if that is known.
    """
    path = (here or look_here(listing.repo, listing.revision, file_set)).path
    if path is not None:
        try:
            return read_model(path)
        except SlipstreamError:
            return None
    return stored_set(file_set)
