"""What goes with a model of a repository: its drafter, found wherever it is, and its projector."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from slipstream.cancel import CancelToken
from slipstream.drafters.discovery import longest_draft
from slipstream.drafters.identify import FileRole, drafter_kind, role_of
from slipstream.drafters.kinds import MADE_FOR_A_TARGET, DrafterKind
from slipstream.drafters.lineage import Place, listed_name, own_name
from slipstream.drafters.pairing import Proof, can_be_proven, prove_embedded
from slipstream.errors import SlipstreamError
from slipstream.hub import kin
from slipstream.hub.address import Address
from slipstream.hub.calls import silent
from slipstream.hub.candidates import (
    Candidate,
    Source,
    drafters_in,
    lower_quantizations,
    may_name,
    place_in,
    smaller_models_in,
)
from slipstream.hub.connection import Connection
from slipstream.hub.listing import read_listing
from slipstream.hub.remote_proof import RemoteProof
from slipstream.hub.repository import FileSet, Repository, pick, sort_files
from slipstream.weights.header import Header

MOST_HEADERS = 12
"""Headers of possible drafters that are read for one model."""
_TRIES = 2
"""Of these, drafters of one kind in one repository: they differ by their quantization."""

_BROKEN = frozenset({"not_a_model", "damaged_file", "unsupported_file", "not_found"})


@dataclass(frozen=True)
class Companion:
    """Something that may draft for a model.

    Attributes:
        kind: how it drafts.
        source: where it was found.
        repo, revision: its repository, and the commit of that.
        files: its files; None for a head inside the model.
        fits: nothing speaks against it.
        proven: it was made for this model (or is a lower quantization of it).
        reason: one sentence: why it fits, what is not certain, or what is wrong.
        place: what its repository tells of what it was made for.
        longest_draft: most draft tokens it can make in one step; None where there is no limit.
        header: of its file; None where that was not read.
    """

    kind: DrafterKind
    source: Source
    repo: str
    revision: str
    files: FileSet | None
    fits: bool
    proven: bool
    reason: str
    place: Place
    longest_draft: int | None = None
    header: Header | None = field(default=None, repr=False, compare=False)

    @property
    def bytes(self) -> int:
        """What will be transferred for it."""
        return self.files.bytes if self.files else 0


@dataclass(frozen=True)
class Companions:
    """What goes with a model.

    Attributes:
        drafters: what was looked at, in the order of preference.
        projector: lets it read images; None if its repository has none.
        problems: why some places could not be looked at.
    """

    drafters: tuple[Companion, ...]
    projector: FileSet | None
    problems: tuple[SlipstreamError, ...]

    @property
    def chosen(self) -> Companion | None:
        """The best that is proven."""
        return next((one for one in self.drafters if one.proven), None)

    @property
    def unfit(self) -> tuple[Companion, ...]:
        """Drafters that cannot draft for this model."""
        return tuple(one for one in self.drafters if not one.fits)


def find_companions(
    repository: Repository,
    target: FileSet,
    header: Header,
    connection: Connection,
    cancel: CancelToken,
    *,
    kinds: Collection[DrafterKind] = MADE_FOR_A_TARGET,
    everything: bool = False,
    waiting: Callable[[float], None] = silent,
) -> Companions:
    """Find what drafts for a model: inside it, in its repository, and in others.

    Other repositories are only asked where something there could be proven, and only those of
    their files are looked at that may bear the model's name. A place that cannot be looked at is a
    problem that is told, and no more.

    Args:
        repository: with the model.
        target: the model.
        header: of the model.
        connection: the Hub.
        cancel: ends it at once.
        kinds: of drafter that are wanted: those the engine can run, or the one that was asked for.
            A lower quantization (SELF) and a smaller model (DRAFT) of the same repository are only
            looked for when they are among these.
        everything: go on after the first proven one.
        waiting: told the seconds whenever a rate limit makes us wait.

    Raises: Cancelled.
    """
    look = _Look(repository, target, header, connection, cancel, waiting)
    found: list[Companion] = []
    for one in look.all(frozenset(kinds)):
        found.append(one)
        if one.proven and not everything:
            break
    return Companions(
        drafters=tuple(sorted(found, key=lambda one: (not one.proven, not one.fits))),
        projector=find_projector(repository, header),
        problems=tuple(look.problems),
    )


def embedded(repository: Repository, target: FileSet, header: Header) -> tuple[Companion, ...]:
    """The head inside a model, if it has one."""
    proof = prove_embedded(header)
    if not proof.fits:
        return ()
    inside = Candidate(Source.INSIDE, repository.listing, target, DrafterKind.MTP)
    return (_companion(inside, proof, header),)


def lower(repository: Repository, target: FileSet) -> tuple[Companion, ...]:
    """The lower quantizations of a model that may draft for it; no header is needed for them."""
    proof = Proof(True, True, "It is the same model, more coarsely quantized.")
    return tuple(
        _companion(Candidate(Source.SAME, repository.listing, files, DrafterKind.SELF), proof)
        for files in lower_quantizations(repository, target)
    )


def companion_at(
    address: Address,
    repository: Repository,
    target: FileSet,
    header: Header,
    connection: Connection,
    cancel: CancelToken,
    waiting: Callable[[float], None] = silent,
) -> Companion:
    """The drafter that a person names for a model, whether it fits or not.

    Args:
        address: of a file, or of a repository, whose best drafter is meant.
        repository, target, header: the model.
        connection: the Hub.
        cancel: ends it at once.
        waiting: told the seconds whenever a rate limit makes us wait.

    Raises: Cancelled; SlipstreamError: ``no_drafter``, what ``read_listing`` and ``read_set``
        raise.
    """
    listing = read_listing(address.repo, connection, cancel, address.revision, waiting)
    there, asked = sort_files(listing), address.file or address.quant
    found = pick((*there.drafters, *there.targets), asked) if asked else there.drafters
    look = _Look(repository, target, header, connection, cancel, waiting)
    for files in found[:1]:
        kind = files.kind or DrafterKind.DRAFT
        companion = look.at(Candidate(Source.ASKED_FOR, listing, files, kind))
        if companion:
            return companion
    raise next(iter(look.problems), _no_drafter(address))


def _no_drafter(address: Address) -> SlipstreamError:
    return SlipstreamError(
        "no_drafter",
        f"There is no drafter at {address}.",
        facts={"repository": address.repo, "file": address.file},
        action="Name a file of a repository that is a drafter: owner/repo/file.gguf.",
    )


def find_projector(
    repository: Repository,
    header: Header,
    read: Callable[[FileSet], Header | None] | None = None,
) -> FileSet | None:
    """The best projector of a repository that fits a model.

    Args:
        repository: with the model.
        header: of the model.
        read: reads headers, to be sure, as far as it can; None goes by names.

    Raises: what ``read`` raises.
    """
    name = own_name(header, place_in(repository.listing))
    for one in repository.projectors:
        if one.missing or not may_name(listed_name(one.path, Place()), name):
            continue
        known = read(one) if read else None
        width = known.integer("clip.vision.projection_dim") if known else None
        if width in (None, header.hidden_size):
            return one
    return None


class _Look:
    """One search: what it is for, and what went wrong."""

    def __init__(
        self,
        repository: Repository,
        target: FileSet,
        header: Header,
        connection: Connection,
        cancel: CancelToken,
        waiting: Callable[[float], None],
    ) -> None:
        self.problems: list[SlipstreamError] = []
        self._repository = repository
        self._target = target
        self._header = header
        self._cancel = cancel
        self._name = own_name(header, place_in(repository.listing))
        self._proofs = RemoteProof(repository.listing, target, header, connection, cancel, waiting)
        self._ask = partial(
            kin.elsewhere,
            connection=connection,
            cancel=cancel,
            problems=self.problems,
            waiting=waiting,
        )

    def all(self, kinds: frozenset[DrafterKind]) -> Iterator[Companion]:
        """Everything that may draft, the nearest first."""
        if DrafterKind.MTP in kinds:
            yield from embedded(self._repository, self._target, self._header)
        yield from self._looked_at(self._candidates(kinds), kinds)
        if DrafterKind.SELF in kinds:
            yield from lower(self._repository, self._target)

    def _candidates(self, kinds: frozenset[DrafterKind]) -> Iterator[Candidate]:
        """What may draft for this model, by its names."""
        made_for_it = kinds & MADE_FOR_A_TARGET
        yield from drafters_in(self._repository, Source.SAME, self._target, self._name, made_for_it)
        if self._name and made_for_it and can_be_proven(self._header):
            for source, listing in self._ask(self._repository.listing, self._name):
                sorted_ = sort_files(listing)
                there = drafters_in(sorted_, source, self._target, self._name, made_for_it)
                named = ((one, listed_name(one.files.path, place_in(listing))) for one in there)
                yield from (one for one, name in named if may_name(name, self._name))
        if DrafterKind.DRAFT in kinds:
            yield from smaller_models_in(self._repository, self._target)

    def _looked_at(
        self, candidates: Iterator[Candidate], kinds: frozenset[DrafterKind]
    ) -> Iterator[Companion]:
        tries: Counter[tuple[str, DrafterKind]] = Counter()
        for one in candidates:
            self._cancel.raise_if_cancelled()
            key = (one.listing.repo, one.kind)
            if tries[key] >= _TRIES or tries.total() >= MOST_HEADERS:
                continue
            tries[key] += 1
            companion = self.at(one)
            if companion and companion.kind in kinds:
                yield companion
                if companion.proven:
                    tries[key] = _TRIES

    def at(self, candidate: Candidate) -> Companion | None:
        """What a file is to the target; None if it is no drafter, or could not be looked at."""
        files = candidate.files
        if files.missing or files.problem:
            lacks = f"It is incomplete: its repository lacks {len(files.missing)} of its files."
            return _companion(candidate, Proof(False, False, files.problem or lacks))
        try:
            header, proof = self._proofs.read(candidate.listing, files)
        except SlipstreamError as error:
            if error.code in _BROKEN:
                return _companion(candidate, Proof(False, False, error.message))
            self.problems.append(error)
            return None
        whole = candidate.kind is DrafterKind.DRAFT and role_of(header) is FileRole.TARGET
        kind = DrafterKind.DRAFT if whole else drafter_kind(header)
        return _companion(replace(candidate, kind=kind), proof, header) if kind else None


def _companion(candidate: Candidate, proof: Proof, header: Header | None = None) -> Companion:
    inside = candidate.source is Source.INSIDE
    made_for_it = candidate.kind in MADE_FOR_A_TARGET
    return Companion(
        kind=candidate.kind,
        source=candidate.source,
        repo=candidate.listing.repo,
        revision=candidate.listing.revision,
        files=None if inside else candidate.files,
        fits=proof.fits,
        proven=proof.proven,
        reason=proof.reason,
        place=place_in(candidate.listing),
        longest_draft=longest_draft(header) if header and made_for_it else None,
        header=None if inside else header,
    )
