"""What a repository on the Hub offers, ready to be planned.

One header stands for all quantizations of a model: the others differ in their weights, and of those
the sum is known from the list of files.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.drafters.discovery import NGRAM
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
)
from slipstream.hub.connection import Connection
from slipstream.hub.downloads.orders import Item, Order, Pairing
from slipstream.hub.files import Listing
from slipstream.hub.headers import read_set
from slipstream.hub.here import known_header, missing_bytes
from slipstream.hub.listing import read_listing
from slipstream.hub.repository import FileSet, Repository, pick, sort_files, with_header
from slipstream.planning.computer import Computer
from slipstream.planning.model import model_of
from slipstream.planning.placement import Fit
from slipstream.planning.quantizations import Quantization
from slipstream.planning.recommend import Option, recommend
from slipstream.weights.header import Header
from slipstream.weights.names import quantization_of
from slipstream.weights.resized import resized
from slipstream.weights.skeleton import shape_key

_MORE = 1.1
"""Of its weights a model needs in all, roughly; only to choose whose header is read."""
_AND_MORE = 1 << 30
_LISTED = 8


@dataclass(frozen=True)
class Offer:
    """What a repository offers.

    Attributes:
        repository: what is in it, as far as headers were read.
        sets: the quantizations that can be run, the smallest first.
        quantizations: the same, ready to be planned.
        companions: what goes with the one whose header was read, and so with all.
        problems: what could not be looked at.
    """

    repository: Repository
    sets: tuple[FileSet, ...]
    quantizations: tuple[Quantization, ...]
    companions: Companions
    problems: tuple[SlipstreamError, ...]

    def order(
        self, one: Quantization, drafter: Companion | None, folder: Path | None = None
    ) -> Order:
        """What to download for a quantization: its files, a drafter, and what reads images.

        Args:
            one: of this offer.
            drafter: one of the companions; None for none.
            folder: where to; None is the Hugging Face cache.
        """
        listing = self.repository.listing
        files = list(self.sets[self.quantizations.index(one)].files)
        if self.companions.projector:
            files += self.companions.projector.files
        more: tuple[Item, ...] = ()
        pairing = None
        if drafter and drafter.files:
            pairing = Pairing(
                drafter.repo,
                drafter.files.path,
                drafter.place.bases,
                chosen=drafter.source is Source.ASKED_FOR,
            )
            if drafter.repo == listing.repo:
                files += drafter.files.files
            else:
                more = (Item(drafter.repo, drafter.revision, "main", drafter.files.files),)
        mine = Item(listing.repo, listing.revision, listing.ref, tuple(files))
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
    """Look into a repository: one listing, and the headers of a model and of its drafter.

    Args:
        address: the repository; with a quantization or a file only that one.
        connection: the Hub.
        computer: where it is to run, which tells whose header matters most.
        kinds: of drafter that are wanted; with none, none is looked for.
        cancel: ends it at once.
        waiting: told the seconds whenever a rate limit makes us wait.
        drafter: the only one to look at; None finds one.

    Raises: Cancelled; SlipstreamError: ``no_gguf``, ``only_drafters``, ``no_quantization``,
        ``incomplete_on_hub``, ``cannot_run``, what ``read_listing`` and ``read_set`` raise.
    """
    listing = read_listing(address.repo, connection, cancel, address.revision, waiting)
    reader = _Reader(sort_files(listing), address, connection, cancel, waiting)
    one, header = reader.read_a_model(computer)
    repository, sets = reader.repository, reader.wanted()
    if drafter:
        asked_for = companion_at(drafter, repository, one, header, connection, cancel, waiting)
        companions = Companions((asked_for,), find_projector(repository, header), ())
    else:
        companions = find_companions(
            repository, one, header, connection, cancel, kinds=kinds, waiting=waiting
        )
    planned = (_quantization(listing, each, one, header, companions) for each in sets)
    return Offer(repository, sets, tuple(planned), companions, companions.problems)


class _Reader:
    """Reads headers until one is a model's; each may show that a name was wrong."""

    def __init__(
        self,
        repository: Repository,
        address: Address,
        connection: Connection,
        cancel: CancelToken,
        waiting: Callable[[float], None],
    ) -> None:
        self.repository = repository
        self._address = address
        self._connection, self._cancel, self._waiting = connection, cancel, waiting

    def wanted(self) -> tuple[FileSet, ...]:
        """The quantizations that are asked for and can be run.

        Raises: SlipstreamError, if there are none.
        """
        targets = self.repository.targets
        asked = self._address.file or self._address.quant
        found = pick(targets, asked) if asked else targets
        usable = tuple(one for one in found if not one.missing and not one.problem)
        if not usable:
            raise _nothing(self.repository, asked, found)
        return usable

    def read_a_model(self, computer: Computer) -> tuple[FileSet, Header]:
        """One of the quantizations with its header.

        Raises: Cancelled; SlipstreamError.
        """
        while True:
            one = _likely(self.wanted(), computer)
            listing = self.repository.listing
            header = known_header(listing, one) or read_set(
                listing, one, self._connection, self._cancel, self._waiting
            )
            self.repository = with_header(self.repository, one, header)
            read = next((each for each in self.repository.targets if each.files == one.files), None)
            if read is not None:
                return read, header


def _likely(sets: Sequence[FileSet], computer: Computer) -> FileSet:
    """The one that will be recommended, going by sizes alone."""
    on_devices = sum(device.free for device in computer.devices)

    def fit(one: FileSet) -> Fit:
        needed = one.bytes * _MORE + _AND_MORE
        if needed <= on_devices:
            return Fit.GPU
        return Fit.CPU if needed <= computer.free else Fit.NONE

    options = [Option(one.quant or "", one.bytes, fit(one)) for one in sets]
    index = recommend(options)
    return sets[index or 0]


def _quantization(
    listing: Listing, one: FileSet, read: FileSet, header: Header, companions: Companions
) -> Quantization:
    """A quantization by its own header where that is known, else by its size and another's."""
    own = header if one.files == read.files else known_header(listing, one)
    used = own or resized(header, Path(one.path), one.bytes)
    drafters = [(each, _path(each, listing)) for each in companions.drafters]
    headers = {path: _header(each, header) for each, path in drafters if path}
    return Quantization(
        label=one.quant or quantization_of(used) or Path(one.path).stem,
        header=used,
        model=model_of(used),
        shape=shape_key(used),
        files=tuple(Path(file.path) for file in one.files),
        found=_found(drafters),
        download=missing_bytes(listing, one),
        read=own is not None,
        headers={path: known for path, known in headers.items() if known},
    )


def _path(one: Companion, listing: Listing) -> Path | None:
    """What a drafter's file is called: with its repository, if it is another one."""
    if one.files is None:
        return None
    return Path(one.files.path) if one.repo == listing.repo else Path(one.repo, one.files.path)


def _header(drafter: Companion, target: Header) -> Header | None:
    """Of a drafter; a lower quantization of the target has the target's in its own size."""
    if drafter.kind is DrafterKind.SELF and drafter.files and not drafter.header:
        return resized(target, Path(drafter.files.path), drafter.bytes)
    return drafter.header


def _found(drafters: Iterable[tuple[Companion, Path | None]]) -> Found:
    fit = [
        Drafter(one.kind, path, one.proven, one.reason, one.bytes, one.longest_draft)
        for one, path in drafters
        if one.fits
    ]
    unfit = [
        Unfit(one.kind, path, one.reason, missed=False)
        for one, path in drafters
        if path and not one.fits
    ]
    return Found((*fit, NGRAM), tuple(unfit))


def _nothing(
    repository: Repository, asked: str | None, found: Sequence[FileSet]
) -> SlipstreamError:
    """Why there is nothing to plan."""
    repo, targets = repository.listing.repo, repository.targets
    if found:
        problem = next((one.problem for one in found if one.problem), None)
        if problem:
            return SlipstreamError(
                "cannot_run",
                problem,
                facts={"repository": repo, "file": found[0].path},
                action="Choose another quantization.",
            )
        return SlipstreamError(
            "incomplete_on_hub",
            "Files of this model are missing on the Hub.",
            facts={"repository": repo, "missing": ", ".join(found[0].missing[:_LISTED])},
            action="Choose another quantization, or another repository.",
        )
    if targets:
        there = ", ".join(dict.fromkeys(one.quant or one.path for one in targets))
        return SlipstreamError(
            "no_quantization",
            f"{repo} has no {asked}.",
            facts={"repository": repo, "available": there},
            action="Choose one of those that it has.",
        )
    if repository.drafters:
        return SlipstreamError(
            "only_drafters",
            f"{repo} has drafters only, no model that could answer.",
            facts={"repository": repo, "files": len(repository.drafters)},
            action="Choose the model they were made for; its drafter is found by itself.",
        )
    safetensors = any(file.path.endswith(".safetensors") for file in repository.listing.files)
    return SlipstreamError(
        "no_gguf",
        f"{repo} has no model in GGUF format"
        + (", only in the format of other programs." if safetensors else "."),
        facts={"repository": repo, "files": len(repository.listing.files)},
        action="Search for its name to find a repository that has one.",
    )
