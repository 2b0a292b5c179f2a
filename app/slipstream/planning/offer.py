"""What a repository on the Hub offers, ready to be planned.

Of each model one header is read; its other quantizations differ in their weights, and of those the
sum is known from the list of files.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.drafters.discovery import MUCH_SMALLER
from slipstream.drafters.kinds import DrafterKind
from slipstream.errors import SlipstreamError
from slipstream.hub.address import Address
from slipstream.hub.calls import silent
from slipstream.hub.candidates import Source
from slipstream.hub.companions import (
    Companion,
    Companions,
    companion_at,
    embedded,
    find_companions,
    find_projector,
    lower,
)
from slipstream.hub.connection import Connection
from slipstream.hub.downloads.orders import Item, Order, Pairing
from slipstream.hub.files import Listing
from slipstream.hub.headers import read_set
from slipstream.hub.here import known_header
from slipstream.hub.listing import read_listing
from slipstream.hub.repository import FileSet, Repository, sort_files
from slipstream.planning.computer import Computer
from slipstream.planning.quantizations import Quantization
from slipstream.planning.read import Models
from slipstream.planning.rows import Alike, Row
from slipstream.weights.header import Header


class Look(Enum):
    """How far to look for what goes with a model."""

    HEADER = "its header, and what was read before: as soon as it can be shown"
    BEST = "until something proven drafts for it"
    EVERYTHING = "all that may draft for it"


@dataclass(frozen=True)
class Offer:
    """What a repository offers.

    Attributes:
        listing: its files.
        rows: the quantizations that can be run, model by model, the smallest first.
        problems: what could not be looked at.
    """

    listing: Listing
    rows: tuple[Row, ...]
    problems: tuple[SlipstreamError, ...]

    def row(self, quantization: Quantization) -> Row:
        """The row of one of its quantizations."""
        return next(row for row in self.rows if row.quantization is quantization)

    def order(
        self,
        row: Row,
        drafter: Companion | None,
        folder: Path | None = None,
        *,
        projector: bool = True,
    ) -> Order:
        """What to download for a quantization: its files, a drafter, and what reads images.

        Args:
            row: of this offer.
            drafter: what is to draft; None for nothing.
            folder: where to; None is the Hugging Face cache.
            projector: whether what reads images is wanted.
        """
        reads_images = row.projector.files if projector and row.projector else ()
        files = [*row.files.files, *reads_images]
        more: tuple[Item, ...] = ()
        pairing = None
        if drafter and drafter.files:
            chosen = drafter.source is Source.ASKED_FOR
            pairing = Pairing(drafter.repo, drafter.files.path, drafter.place.bases, chosen)
            if drafter.repo == self.listing.repo:
                files += drafter.files.files
            else:
                more = (Item(drafter.repo, drafter.revision, "main", drafter.files.files),)
        mine = Item(self.listing.repo, self.listing.revision, self.listing.ref, tuple(files))
        return Order((mine, *more), folder, pairing)


def read_offer(
    address: Address,
    connection: Connection,
    computer: Computer,
    kinds: Collection[DrafterKind],
    cancel: CancelToken,
    waiting: Callable[[float], None] = silent,
    drafter: Address | None = None,
    *,
    look: Look = Look.BEST,
    listing: Listing | None = None,
) -> Offer:
    """Look into a repository: one listing, and per model its header and that of its drafter.

    Args:
        address: the repository; with a quantization or a file only that one.
        connection: the Hub.
        computer: where it is to run, which tells whose header matters most.
        kinds: of drafter that are wanted; with none, none is looked for.
        cancel: ends it at once.
        waiting: told the seconds whenever a rate limit makes us wait.
        drafter: the only one to look at; None finds one.
        look: how far to look.
        listing: of the repository, if it was read already.

    Raises: Cancelled; SlipstreamError: what ``read_listing`` and ``Models.read`` raise.
    """
    if listing is None:
        listing = read_listing(address.repo, connection, cancel, address.revision, waiting)
    reader = partial(read_set, listing, connection=connection, cancel=cancel, waiting=waiting)
    models = Models(sort_files(listing), address, computer, lambda one: reader(file_set=one))
    read_projector = partial(known_header, listing) if look is Look.HEADER else models.header
    problems: list[SlipstreamError] = []
    rows: list[Row] = []
    for read in models.read():
        repository = models.repository
        if drafter:
            asked_for = companion_at(
                drafter, repository, read.files, read.header, connection, cancel, waiting
            )
            found = Companions((asked_for,), None, ())
        elif look is Look.HEADER:
            found = Companions(embedded(repository, read.files, read.header), None, ())
        else:
            found = find_companions(
                repository,
                read.files,
                read.header,
                connection,
                cancel,
                kinds=kinds,
                everything=look is Look.EVERYTHING,
                waiting=waiting,
            )
        problems += found.problems
        projector = _projector(repository, read.header, read_projector, problems)
        alike = Alike(listing, read, projector)
        rows += [
            alike.row(one, _fitting(repository, one, found.drafters, kinds)) for one in read.alike
        ]
    return Offer(listing, tuple(rows), (*models.problems, *problems))


def _projector(
    repository: Repository,
    target: Header,
    read: Callable[[FileSet], Header | None],
    problems: list[SlipstreamError],
) -> tuple[FileSet, Header | None] | None:
    """What lets a model read images, with its header as far as that is known."""
    try:
        found = find_projector(repository, target, read)
        return (found, read(found)) if found else None
    except SlipstreamError as problem:
        problems.append(problem)
        return None


def _fitting(
    repository: Repository,
    one: FileSet,
    drafters: Iterable[Companion],
    kinds: Collection[DrafterKind],
) -> tuple[Companion, ...]:
    """The drafters of a model that suit one of its quantizations: whole models by their size."""
    fitting = [
        drafter
        for drafter in drafters
        if drafter.kind is not DrafterKind.SELF
        and (drafter.kind is not DrafterKind.DRAFT or drafter.bytes <= MUCH_SMALLER * one.bytes)
    ]
    asked_for = [drafter for drafter in drafters if drafter.source is Source.ASKED_FOR]
    own = lower(repository, one) if DrafterKind.SELF in kinds else ()
    return tuple(asked_for or (*fitting, *own))
