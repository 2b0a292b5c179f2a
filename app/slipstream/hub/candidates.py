"""Which files of a repository may draft for a model, by their names, sizes and places."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

from slipstream.drafters.discovery import LOWER_QUANTIZATION, MUCH_SMALLER
from slipstream.drafters.identify import KINDS, guess_by_name
from slipstream.drafters.kinds import DrafterKind
from slipstream.drafters.lineage import ModelName, Place, listed_name, name_of
from slipstream.hub.files import Listing
from slipstream.hub.repository import FileSet, Repository
from slipstream.weights.names import bits, is_float

COARSE = 3
"""Bits below which a lower quantization of a model agrees with it too seldom to be the first."""
_ORDER = tuple(dict.fromkeys(KINDS.values()))
_A_PART = 0.5
"""Share of its target's size below which a file whose name may mean both is read as a drafter."""


class Source(StrEnum):
    """Where a drafter was found."""

    INSIDE = "inside"
    SAME = "same"
    SISTER = "sister"
    KNOWN = "known"
    SEARCH = "search"
    ASKED_FOR = "asked_for"


@dataclass(frozen=True)
class Candidate:
    """A file that may draft."""

    source: Source
    listing: Listing
    files: FileSet
    kind: DrafterKind


def place_in(listing: Listing) -> Place:
    """What a repository tells of its files."""
    return Place(listing.repo, bases=listing.base_models)


def may_name(name: ModelName | None, model: ModelName | None) -> bool:
    """Whether a name leaves open that a model is meant: no word of it is missing in the model's."""
    return name is None or (model is not None and name.words <= model.words)


def drafters_in(
    repository: Repository,
    source: Source,
    target: FileSet,
    model: ModelName | None,
    kinds: Collection[DrafterKind],
) -> list[Candidate]:
    """The files that may be drafters of these kinds, those to be tried first first.

    Args:
        repository: of the model, or another one.
        source: what it is.
        target: the model's files.
        model: the model's name.
        kinds: that are wanted.
    """
    home = PurePosixPath(target.path).parent
    place = place_in(repository.listing)

    def order(candidate: Candidate) -> tuple[object, ...]:
        files = candidate.files
        folder = PurePosixPath(files.path).parent
        return (
            files.problem is not None or bool(files.missing),
            not may_name(listed_name(files.path, place), model),
            _ORDER.index(candidate.kind),
            is_float(files.quant),
            (folder != home, folder != PurePosixPath()),
        )

    found = (
        Candidate(source, repository.listing, files, kind)
        for files, kind in _promising(repository, target)
        if kind in kinds
    )
    return sorted(found, key=order)


def smaller_models_in(repository: Repository, target: FileSet) -> list[Candidate]:
    """Other models that are small enough to draft, the smallest first."""
    return [
        Candidate(Source.SAME, repository.listing, one, DrafterKind.DRAFT)
        for one in repository.targets
        if one.bytes <= MUCH_SMALLER * target.bytes and not _same_name(one, target)
    ]


def lower_quantizations(repository: Repository, target: FileSet) -> list[FileSet]:
    """The same model in files that are enough smaller: the smallest first that is not coarse."""
    lower = (
        one
        for one in repository.targets
        if one.bytes <= LOWER_QUANTIZATION * target.bytes and _same_name(one, target)
    )
    usable = (one for one in lower if not one.missing and not one.problem)
    return sorted(usable, key=lambda one: ((bits(one.quant) or 0) < COARSE, one.bytes))


def _promising(repository: Repository, target: FileSet) -> Iterator[tuple[FileSet, DrafterKind]]:
    yield from ((one, one.kind) for one in repository.drafters if one.kind)
    yield from _ambiguous(repository.targets, target)


def _ambiguous(sets: Iterable[FileSet], target: FileSet) -> Iterator[tuple[FileSet, DrafterKind]]:
    for one in sets:
        kind = KINDS.get(guess_by_name(PurePosixPath(one.path)).role)
        if kind and one.ambiguous and one.bytes < _A_PART * target.bytes:
            yield one, kind


def _same_name(one: FileSet, other: FileSet) -> bool:
    mine, name = name_of(one.path), name_of(other.path)
    if mine is None or name is None:
        return mine is name
    return mine.same_model(name)
