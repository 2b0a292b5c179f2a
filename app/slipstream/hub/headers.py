"""Headers of files in repositories, read without the rest of them."""

from collections.abc import Callable, Sequence
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.drafters.vocabulary import tokens_of
from slipstream.hub.address import endpoint
from slipstream.hub.calls import silent
from slipstream.hub.connection import Connection
from slipstream.hub.files import Listing, RepoFile
from slipstream.hub.patience import patiently
from slipstream.hub.refusals import refusal
from slipstream.hub.repository import FileSet
from slipstream.weights.cache import stored
from slipstream.weights.header import TOKENS, Header
from slipstream.weights.parser import Value
from slipstream.weights.remote import Remote, read_remote, read_remote_model
from slipstream.weights.shards import merged


def read_set(
    listing: Listing,
    file_set: FileSet,
    connection: Connection,
    cancel: CancelToken,
    waiting: Callable[[float], None] = silent,
) -> Header:
    """The header of a model, projector or drafter; what was read once is kept on disk.

    Raises: Cancelled; SlipstreamError: what ``read_remote`` and ``refusal`` tell.
    """
    files = [_remote(listing, file, connection) for file in file_set.files]

    def call() -> Header:
        return read_remote_model(
            files,
            connection.client,
            cancel,
            headers=connection.headers(),
            refusal=lambda answer: refusal(answer, listing.repo, connection),
        )

    return patiently(call, cancel, waiting)


def stored_set(file_set: FileSet) -> Header | None:
    """The header of a set whose files were all read before, from the Hub that is used now."""
    found = []
    for file in file_set.files:
        header = stored(key, Path(file.path)) if (key := _key(endpoint(), file)) else None
        if header is None:
            return None
        found.append(header)
    return found[0] if len(found) == 1 else merged(found)


def read_tokens(
    listing: Listing,
    file_set: FileSet,
    connection: Connection,
    cancel: CancelToken,
    waiting: Callable[[float], None] = silent,
) -> Sequence[Value]:
    """The tokens of a model, which its header leaves out.

    Raises: Cancelled; SlipstreamError: what ``read_remote`` and ``refusal`` tell.
    """
    file = _remote(listing, file_set.files[0], connection)

    def call() -> Header:
        return read_remote(
            file.url,
            file.name,
            connection.client,
            cancel,
            headers=connection.headers(),
            keep_arrays=(TOKENS,),
            refusal=lambda answer: refusal(answer, listing.repo, connection),
        )

    return tokens_of(patiently(call, cancel, waiting))


def _remote(listing: Listing, file: RepoFile, connection: Connection) -> Remote:
    url = connection.file_url(listing.repo, listing.revision, file.path)
    return Remote(url, Path(file.path), _key(connection.endpoint, file))


def _key(hub: str | None, file: RepoFile) -> str | None:
    """A content is the same in all repositories of a Hub; another may lie about its checksum.

    Small files that git keeps have no header.
    """
    return f"{hub}/{file.sha256}" if file.sha256 else None
