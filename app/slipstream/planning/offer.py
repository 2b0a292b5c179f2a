"""What a repository on the Hub offers, ready to be planned.

Of each model one header is read; its other quantizations differ in their weights, and of those the
sum is known from the list of files.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.drafters.discovery import MUCH_SMALLER, NGRAM
from slipstream.drafters.kinds import Drafter, DrafterKind, Found, Unfit
from slipstream.errors import SlipstreamError
from slipstream.hub.address import Address
from slipstream.hub.calls import silent
from slipstream.hub.candidates import Source
from slipstream.hub.companions import (
    Companion,
    Companions,
    companion_at,
    find_companions,
    find_projector,
    lower,
)
from slipstream.hub.connection import Connection
from slipstream.hub.downloads.orders import Item, Order, Pairing
from slipstream.hub.files import Listing
from slipstream.hub.headers import read_set
from slipstream.hub.here import known_header, missing_bytes
from slipstream.hub.listing import read_listing
from slipstream.hub.repository import FileSet, Repository, sort_files
from slipstream.planning.computer import Computer
from slipstream.planning.model import model_of
from slipstream.planning.quantizations import Quantization
from slipstream.planning.read import Models, Read
from slipstream.weights.header import Header
from slipstream.weights.names import quantization_of
from slipstream.weights.resized import resized
from slipstream.weights.skeleton import shape_key


@dataclass(frozen=True)
class Row:
    """One quantization of a repository.

    Attributes:
        files: its files there.
        quantization: the same, ready to be planned.
        drafters: what may draft for it, the best first.
        projector: lets it read images; None if its repository has none.
    """

    files: FileSet
    quantization: Quantization
    drafters: tuple[Companion, ...]
    projector: FileSet | None

    @property
    def drafter(self) -> Companion | None:
        """The best that is proven."""
        return next((one for one in self.drafters if one.proven), None)


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

    def order(self, row: Row, drafter: Companion | None, folder: Path | None = None) -> Order:
        """What to download for a quantization: its files, a drafter, and what reads images.

        Args:
            row: of this offer.
            drafter: what is to draft; None for nothing.
            folder: where to; None is the Hugging Face cache.
        """
        files = [*row.files.files, *(row.projector.files if row.projector else ())]
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

    Raises: Cancelled; SlipstreamError: what ``read_listing`` and ``Models.read`` raise.
    """
    listing = read_listing(address.repo, connection, cancel, address.revision, waiting)
    reader = partial(read_set, listing, connection=connection, cancel=cancel, waiting=waiting)
    models = Models(sort_files(listing), address, computer, lambda one: reader(file_set=one))
    problems: list[SlipstreamError] = []
    rows: list[Row] = []
    for read in models.read():
        repository = models.repository
        if drafter:
            asked_for = companion_at(
                drafter, repository, read.files, read.header, connection, cancel, waiting
            )
            found = Companions((asked_for,), None, ())
        else:
            found = find_companions(
                repository,
                read.files,
                read.header,
                connection,
                cancel,
                kinds=kinds,
                waiting=waiting,
            )
        problems += found.problems
        projector = _projector(repository, read.header, models.header, problems)
        rows += [
            _row(repository, one, read, _fitting(repository, one, found.drafters, kinds), projector)
            for one in read.alike
        ]
    return Offer(listing, tuple(rows), (*models.problems, *problems))


def _projector(
    repository: Repository,
    target: Header,
    read: Callable[[FileSet], Header],
    problems: list[SlipstreamError],
) -> tuple[FileSet, Header] | None:
    """What lets a model read images, with its header."""
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


def _row(
    repository: Repository,
    one: FileSet,
    read: Read,
    drafters: tuple[Companion, ...],
    projector: tuple[FileSet, Header] | None,
) -> Row:
    """A quantization by its own header where that is known, else by its size and another's."""
    listing = repository.listing
    own = read.header if one.files == read.files.files else known_header(listing, one)
    used = own or resized(read.header, Path(one.path), one.bytes, one.quant)
    headers = {_path(each, listing): _header(each, read.header) for each in drafters}
    quantization = Quantization(
        label=one.quant or quantization_of(used) or Path(one.path).stem,
        header=used,
        model=model_of(used),
        shape=shape_key(used),
        files=tuple(Path(file.path) for file in one.files),
        found=_found(drafters, listing),
        projector=projector[1] if projector else None,
        download=missing_bytes(listing, one),
        read=own is not None,
        headers={path: header for path, header in headers.items() if path and header},
    )
    return Row(one, quantization, drafters, projector[0] if projector else None)


def _path(one: Companion, listing: Listing) -> Path | None:
    """What a drafter's file is called: with its repository, if it is another one."""
    if one.files is None:
        return None
    return Path(one.files.path) if one.repo == listing.repo else Path(one.repo, one.files.path)


def _header(drafter: Companion, target: Header) -> Header | None:
    """Of a drafter; a lower quantization of the target has the target's in its own size."""
    files = drafter.files
    if drafter.kind is DrafterKind.SELF and files and not drafter.header:
        return resized(target, Path(files.path), drafter.bytes, files.quant)
    return drafter.header


def _found(drafters: Sequence[Companion], listing: Listing) -> Found:
    fit = [
        Drafter(one.kind, _path(one, listing), one.proven, one.reason, one.bytes, one.longest_draft)
        for one in drafters
        if one.fits
    ]
    unfit = [
        Unfit(one.kind, path, one.reason, missed=False)
        for one in drafters
        if not one.fits and (path := _path(one, listing))
    ]
    return Found((*fit, NGRAM), tuple(unfit))
