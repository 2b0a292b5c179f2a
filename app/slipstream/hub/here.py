"""What of a repository is on this computer already."""

from pathlib import Path

from slipstream.errors import SlipstreamError
from slipstream.hub.cache import find, hub_cache
from slipstream.hub.files import Listing, RepoFile
from slipstream.hub.headers import stored_set
from slipstream.hub.repository import FileSet
from slipstream.weights.header import Header
from slipstream.weights.shards import read_model


def missing_bytes(listing: Listing, file_set: FileSet) -> int:
    """Bytes of a set that still have to be transferred."""
    return sum(file.bytes for file in file_set.files if _found(listing, file) is None)


def local_path(listing: Listing, file_set: FileSet) -> Path | None:
    """The first file of a set on this computer; None if not all of it is there."""
    found = [_found(listing, file) for file in file_set.files]
    paths = [path for path in found if path is not None]
    return paths[0] if len(paths) == len(found) else None


def known_header(listing: Listing, file_set: FileSet) -> Header | None:
    """The header of a set, as far as nothing has to be transferred for it."""
    path = local_path(listing, file_set)
    if path is not None and path.name == file_set.files[0].name:
        try:
            return read_model(path)
        except SlipstreamError:
            return None
    return stored_set(file_set)


def _found(listing: Listing, file: RepoFile) -> Path | None:
    return find(hub_cache(), listing.repo, listing.revision, file)
