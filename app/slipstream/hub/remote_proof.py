"""Whether files of repositories fit a model of one, by headers that are read from afar."""

from collections.abc import Callable, Sequence

from slipstream import words
from slipstream.cancel import CancelToken
from slipstream.drafters.pairing import Proof, prove
from slipstream.errors import SlipstreamError
from slipstream.hub.calls import silent
from slipstream.hub.candidates import place_in
from slipstream.hub.connection import Connection
from slipstream.hub.files import Listing
from slipstream.hub.headers import read_set, read_tokens
from slipstream.hub.repository import FileSet
from slipstream.weights.header import Header
from slipstream.weights.parser import Value


class RemoteProof:
    """Proves drafters for one target; its tokens are fetched once, and only when they are needed.

    Args:
        listing, target, header: the model, its files and its header.
        connection: the Hub.
        cancel: ends every reading at once.
        waiting: told the seconds whenever a rate limit makes us wait.
    """

    def __init__(
        self,
        listing: Listing,
        target: FileSet,
        header: Header,
        connection: Connection,
        cancel: CancelToken,
        waiting: Callable[[float], None] = silent,
    ) -> None:
        self._listing = listing
        self._target = target
        self._header = header
        self._connection = connection
        self._cancel = cancel
        self._waiting = waiting
        self._own_tokens: Sequence[Value] | None = None

    def read(self, listing: Listing, files: FileSet) -> tuple[Header, Proof]:
        """The header of a possible drafter, and whether it fits.

        Raises: Cancelled; SlipstreamError: what ``read_remote`` raises.
        """
        header = read_set(listing, files, self._connection, self._cancel, self._waiting)
        if header.missing_bytes:
            missing = words.size(header.missing_bytes)
            return header, Proof(False, False, f"It is incomplete: {missing} are missing.")
        theirs: Sequence[Value] | None = None

        def tokens(one: Header) -> Sequence[Value]:
            nonlocal theirs
            if one is self._header:
                return self._tokens_of_target()
            if theirs is None:
                theirs = self._fetched(listing, files)
            return theirs

        try:
            proof = prove(
                self._header,
                header,
                target_place=place_in(self._listing),
                drafter_place=place_in(listing),
                tokens=tokens,
            )
        except _NotFetched as failed:
            raise failed.error from failed
        return header, proof

    def _tokens_of_target(self) -> Sequence[Value]:
        if self._own_tokens is None:
            self._own_tokens = self._fetched(self._listing, self._target)
        return self._own_tokens

    def _fetched(self, listing: Listing, files: FileSet) -> Sequence[Value]:
        """Raises: _NotFetched."""
        try:
            return read_tokens(listing, files, self._connection, self._cancel, self._waiting)
        except SlipstreamError as error:
            raise _NotFetched(error) from error


class _NotFetched(Exception):  # noqa: N818 - what the Hub did; says nothing of the drafter
    def __init__(self, error: SlipstreamError) -> None:
        super().__init__(error)
        self.error = error
