"""What the connections of one download share."""

import random
import threading
from dataclasses import dataclass, field

from slipstream.errors import SlipstreamError
from slipstream.hub.connection import Connection
from slipstream.hub.downloads.blocks import Part
from slipstream.hub.downloads.hashing import Follower
from slipstream.hub.downloads.limit import SpeedLimit
from slipstream.hub.downloads.link import Link, resolve
from slipstream.hub.downloads.runs import Runs
from slipstream.hub.files import RepoFile


@dataclass(frozen=True)
class Patience:
    """How long a download puts up with a bad connection.

    Attributes:
        silence: seconds without a byte after which a connection counts as cut.
        tries: how often in a row nothing may arrive before it is given up.
        first: seconds before the second try; each further wait is twice as long.
        longest: seconds that no wait is longer than, unless the server asks for it.
    """

    silence: float = 20.0
    tries: int = 8
    first: float = 0.5
    longest: float = 30.0

    def pause(self, tries: int) -> float:
        """Seconds to wait after so many failures; not the same for everybody."""
        seconds = min(self.longest, self.first * 2.0 ** (tries - 1))
        return seconds * random.uniform(0.75, 1.25)


@dataclass(frozen=True)
class Source:
    """A file on the Hub.

    Attributes:
        connection: the way there.
        repo: ``owner/name``.
        revision: the commit.
        file: as the listing at that commit tells.
    """

    connection: Connection
    repo: str
    revision: str
    file: RepoFile


class Stopped(Exception):  # noqa: N818 - a decision, not an error
    """The download was stopped."""


class GaveUp(Exception):  # noqa: N818 - carries the error
    """A connection that does not deliver; another one may.

    Attributes:
        error: what to tell if none does.
    """

    def __init__(self, error: SlipstreamError) -> None:
        super().__init__(error.message)
        self.error = error


@dataclass(eq=False)
class Job:
    """What the connections of one file share.

    Attributes:
        source: the file.
        part: where its blocks go.
        limit: of speed.
        patience: with the network.
        runs: who fetches what.
        follower: computes the checksum.
        news: set whenever something happened that the download waits for.
        stop: set when the connections shall end.
        etag: of the bytes that arrive.
    """

    source: Source
    part: Part
    limit: SpeedLimit
    patience: Patience
    runs: Runs
    follower: Follower
    news: threading.Event
    stop: threading.Event = field(default_factory=threading.Event)
    etag: str | None = None
    _link: Link | None = None
    _resolving: threading.Lock = field(default_factory=threading.Lock)

    @property
    def resolved(self) -> bool:
        """Whether the Hub said where the file is."""
        return self._link is not None

    def link(self) -> Link:
        """A link that is good, as far as is known.

        Raises: what ``resolve`` raises.
        """
        source = self.source
        with self._resolving:
            if self._link is None or self._link.expired:
                self._link = resolve(source.connection, source.repo, source.revision, source.file)
            return self._link

    def drop(self, link: Link) -> None:
        """A link turned out not to be good."""
        with self._resolving:
            if self._link is link:
                self._link = None
