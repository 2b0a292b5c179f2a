"""A repository as we see it: targets, drafters by kind, projectors, and the rest."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import PurePosixPath
from typing import Literal

from slipstream.drafters.identify import (
    KINDS,
    Doubt,
    FileRole,
    drafter_kind,
    guess_by_name,
    mtp_layers,
    role_of,
)
from slipstream.drafters.kinds import DrafterKind
from slipstream.hub.files import Listing, RepoFile
from slipstream.weights.header import Header
from slipstream.weights.names import (
    bits,
    is_float,
    meant,
    model_stem,
    parameters,
    quantization_at,
    quantization_of,
    refusal,
    shard_of,
)
from slipstream.weights.tensor_types import TYPE_NUMBERS

WHOLE = 0.8
"""A file with this share of its model's parameters is the model, though it is called a drafter."""
SMALLEST_PART, LARGEST_PART = 0.002, 0.15
"""Drafters have a share between these (EAGLE-3 of a 120B 0.8 %, the MTP head of a 27B 11 %)."""

_PROJECTORS = ("Q8_0", "F16", "BF16", None, "F32")
"""The best first: what is nearest to the usual quantizations of the model, as llama.cpp chooses,
then the float type that every backend computes with."""
_KINDS = tuple(dict.fromkeys(KINDS.values()))
_Place = Literal["targets", "drafters", "projectors", "others"]
_CERTAIN = (FileRole.TARGET, FileRole.PROJECTOR, FileRole.VOCABULARY, FileRole.IMATRIX)
"""Roles that a file has whatever its size is."""
_PLACES: dict[FileRole, _Place] = {FileRole.TARGET: "targets", FileRole.PROJECTOR: "projectors"}


@dataclass(frozen=True)
class FileSet:
    """One model, projector or drafter: a file, or all shards of a set.

    Attributes:
        quant: its quantization by name; None where the name has none.
        files: those the repository has, the first first.
        missing: paths of shards that the repository does not have.
        kind: how it drafts, if it is a drafter.
        problem: one sentence: why the engine cannot run it; None as far as is known.
        ambiguous: its name and size may mean something else; only its header tells.
        embedded_mtp: whether it has an MTP head inside; None as long as that is not known.
    """

    quant: str | None
    files: tuple[RepoFile, ...]
    missing: tuple[str, ...] = ()
    kind: DrafterKind | None = None
    problem: str | None = None
    ambiguous: bool = False
    embedded_mtp: bool | None = None

    @property
    def path(self) -> str:
        """The path of the first file."""
        return self.files[0].path

    @property
    def bytes(self) -> int:
        """What will be transferred."""
        return sum(file.bytes for file in self.files)


@dataclass(frozen=True)
class Repository:
    """What a repository offers, sorted by name; headers decide in the end.

    Attributes:
        listing: what it was sorted from.
        targets: one per quantization, the smallest first.
        drafters: of each kind the best first.
        projectors: the best first.
        others: files that none of these needs.
    """

    listing: Listing
    targets: tuple[FileSet, ...]
    drafters: tuple[FileSet, ...]
    projectors: tuple[FileSet, ...]
    others: tuple[RepoFile, ...]


def sort_files(listing: Listing) -> Repository:
    """Sort the files of a repository by name, where names leave doubt by size and neighbours."""
    sets = sorted(_sets(listing.files), key=_certainty_of_a_model, reverse=True)
    placed: list[tuple[_Place, FileSet]] = []
    for _, alike in groupby(sets, key=_certainty_of_a_model):
        models = [one for place, one in placed if place == "targets"]
        placed += [_by_name(one, models) for one in alike]
    return _arranged(listing, placed)


def pick(sets: Iterable[FileSet], asked: str) -> tuple[FileSet, ...]:
    """Those that a person means by a quantization, or by the path or the name of a file.

    Several where one quantization is there more than once; each can be asked for by its file.
    """
    sets = tuple(sets)
    named = tuple(one for one in sets if asked.lower() in _names(one))
    label = meant(asked, (one.quant for one in sets))
    return named or tuple(one for one in sets if label and one.quant == label)


def with_header(repository: Repository, file_set: FileSet, header: Header) -> Repository:
    """The repository as the header of one of its sets shows it.

    Other quantizations of the same name that are as ambiguous as this one go where it goes.

    Args:
        repository: as far as it is known.
        file_set: one of its sets, or one made of a file among ``others``.
        header: of the whole set, or of its first file.
    """
    role, kind = role_of(header), drafter_kind(header)
    if role is FileRole.MTP and _is_partial(header):
        return repository  # the rest of the model may lie in the other files
    place = _place(role, kind)
    read = replace(
        file_set,
        quant=file_set.quant or quantization_of(header),
        kind=kind,
        problem=_problem(file_set, header),
        ambiguous=False,
        embedded_mtp=_has_head(header) if role is FileRole.TARGET else None,
    )
    placed = [(place, read)]
    for old, one in _placed(repository):
        if one.files != file_set.files:
            alike = _alike(one, file_set)
            moved = (place, replace(one, kind=kind, ambiguous=False))
            placed.append(moved if alike else (old, one))
    return _arranged(repository.listing, placed)


def _sets(files: Iterable[RepoFile]) -> Iterator[FileSet]:
    """The GGUF files: those of a set together, the others each alone."""
    shards: dict[tuple[str, int, str], dict[int, RepoFile]] = defaultdict(dict)
    for file in files:
        suffix = file.path[-5:]
        if suffix.lower() != ".gguf":
            continue
        shard = shard_of(file.name)
        if shard:
            stem = file.path.removesuffix(file.name) + shard.stem
            shards[stem, shard.total, suffix][shard.number] = file
        else:
            yield _file_set((file,))
    for (stem, total, suffix), found in shards.items():
        paths = {n: f"{stem}-{n:05}-of-{total:05}{suffix}" for n in range(1, total + 1)}
        missing = tuple(path for number, path in paths.items() if number not in found)
        yield _file_set(tuple(found[number] for number in sorted(found)), missing)


def _file_set(files: tuple[RepoFile, ...], missing: tuple[str, ...] = ()) -> FileSet:
    label = quantization_at(PurePosixPath(files[0].path))
    return FileSet(label, files, missing, problem=refusal(label))


def _certainty_of_a_model(one: FileSet) -> int:
    """How sure a name is that of a model; the surer ones are those that drafters belong to."""
    guess = guess_by_name(_path(one))
    if guess.role is FileRole.TARGET:
        return 3
    if guess.doubt is Doubt.BESIDE or guess.role not in KINDS:
        return 2
    return 1 if guess.doubt is Doubt.ALONE else 0


def _by_name(one: FileSet, models: Sequence[FileSet]) -> tuple[_Place, FileSet]:
    """A set and its place; ``models`` are the targets whose names are surer than its own."""
    guess, share = guess_by_name(_path(one)), _share(one, models)
    kind = KINDS.get(guess.role)
    place = _place(guess.role, kind)
    if guess.role in _CERTAIN:
        return place, one
    whole = share >= WHOLE
    doubtful = guess.doubt is not Doubt.NONE
    part = replace(one, kind=kind, ambiguous=doubtful or whole)
    model = replace(one, ambiguous=True)
    if models:
        is_model = whole and (guess.doubt is Doubt.BESIDE or not kind)
    else:
        is_model = whole or (doubtful and not SMALLEST_PART <= share <= LARGEST_PART)
    return ("targets", model) if is_model else (place, part)


def _share(one: FileSet, models: Iterable[FileSet]) -> float:
    """The share of its model's parameters that a set has, by sizes and labels; 0 if unknown.

    The model is the one beside it with the most similar quantization, or has as many parameters
    as the name says: a drafter bears the name of its target.
    """
    own = _parameters(one)
    label = bits(one.quant) or 0
    known = [(abs((bits(model.quant) or 0) - label), _parameters(model)) for model in models]
    model = min((pair for pair in known if pair[1]), default=(0, parameters(_path(one).name)))[1]
    return own / model if model else 0


def _parameters(one: FileSet) -> float:
    label = bits(one.quant)
    return one.bytes * 8 / label if label and not one.missing else 0


def _place(role: FileRole, kind: DrafterKind | None) -> _Place:
    return "drafters" if kind else _PLACES.get(role, "others")


def _placed(repository: Repository) -> Iterator[tuple[_Place, FileSet]]:
    yield from (("targets", one) for one in repository.targets)
    yield from (("drafters", one) for one in repository.drafters)
    yield from (("projectors", one) for one in repository.projectors)


def _arranged(listing: Listing, placed: Iterable[tuple[_Place, FileSet]]) -> Repository:
    places: dict[_Place, list[FileSet]] = defaultdict(list)
    for place, one in placed:
        places[place].append(one)
    places.pop("others", None)
    used = {file.path for sets in places.values() for one in sets for file in one.files}
    return Repository(
        listing,
        targets=tuple(sorted(places["targets"], key=lambda one: (one.bytes, one.path))),
        drafters=tuple(sorted(places["drafters"], key=_drafter_order)),
        projectors=tuple(sorted(places["projectors"], key=_projector_order)),
        others=tuple(file for file in listing.files if file.path not in used),
    )


def _drafter_order(one: FileSet) -> tuple[object, ...]:
    """By kind; quantized ones before those that are not, of them the most bits first."""
    kind = _KINDS.index(one.kind) if one.kind in _KINDS else len(_KINDS)
    label = one.quant
    return (kind, *_unusable(one), is_float(label), -(bits(label) or 0), -one.bytes, one.path)


def _projector_order(one: FileSet) -> tuple[object, ...]:
    known = one.quant in _PROJECTORS
    rank = _PROJECTORS.index(one.quant) if known else len(_PROJECTORS)
    return (*_unusable(one), rank, one.path)


def _unusable(one: FileSet) -> tuple[bool, bool]:
    return (one.problem is not None, bool(one.missing))


def _path(one: FileSet) -> PurePosixPath:
    return PurePosixPath(one.path)


def _names(one: FileSet) -> tuple[str, ...]:
    """What its first file may be called, in small letters."""
    path = _path(one)
    return tuple(str(name).lower() for name in (path, path.name, path.with_suffix(""), path.stem))


def _alike(one: FileSet, other: FileSet) -> bool:
    stems = {model_stem(_path(each).name) for each in (one, other)}
    return one.ambiguous and other.ambiguous and one.kind is other.kind and len(stems) == 1


def _is_partial(header: Header) -> bool:
    """Whether other files of the set have further tensors."""
    return (header.integer("split.tensors.count") or 0) > len(header.tensors)


def _has_head(header: Header) -> bool | None:
    """Whether an MTP head is inside; None where only the other files of the set tell."""
    if mtp_layers(header):
        return True
    return None if header.number("nextn_predict_layers") and _is_partial(header) else False


def _problem(file_set: FileSet, header: Header) -> str | None:
    """Why the engine cannot run a file; what its name made us believe holds until all is read."""
    of_a_fork = role_of(header) is FileRole.FORK_DRAFTER
    if of_a_fork or any(tensor.type not in TYPE_NUMBERS for tensor in header.tensors):
        return file_set.problem or "Only a modified llama.cpp can run this file."
    return file_set.problem if _is_partial(header) else None
