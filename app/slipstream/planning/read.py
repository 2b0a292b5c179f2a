"""Which header of a repository is read for which model of it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import prod

from slipstream.errors import SlipstreamError
from slipstream.hub.address import Address
from slipstream.hub.here import known_header
from slipstream.hub.repository import FileSet, Repository, pick, with_header
from slipstream.planning.computer import Computer
from slipstream.planning.placement import Fit
from slipstream.planning.recommend import Option, recommend
from slipstream.weights.header import Header
from slipstream.weights.names import bits, model_stem
from slipstream.words import several

MOST_MODELS = 6
"""Of one repository that are looked at; it usually holds one."""
MOST_TRIES = 4
"""Headers that are read for one model, where its files turn out to be something else."""
_MORE = 1.1
"""Of its weights a model needs in all, roughly; only to choose whose header is read."""
_AND_MORE = 1 << 30
_LISTED = 8
_NO_MODEL = frozenset({"not_a_model", "damaged_file", "unsupported_file", "impossible_shape"})
_SMALLEST_SHARE = 0.4
"""Of what a model's matrices take with the bits of a label; a file below is not what it says."""


@dataclass(frozen=True)
class Read:
    """A model of a repository.

    Attributes:
        files: the quantization whose header was read.
        header: of that.
        alike: all its quantizations that can be run, the smallest first.
    """

    files: FileSet
    header: Header
    alike: tuple[FileSet, ...]


class Models:
    """Reads one header of each model; each may show that names were wrong.

    Attributes:
        repository: as far as it is known.
        problems: what could not be looked at.
    """

    def __init__(
        self,
        repository: Repository,
        address: Address,
        computer: Computer,
        read: Callable[[FileSet], Header],
    ) -> None:
        """Prepare.

        Args:
            repository: sorted by names.
            address: what of it is wanted.
            computer: where it is to run, which tells whose header matters most.
            read: reads the header of files of the repository.
        """
        self.repository = repository
        self.problems: list[SlipstreamError] = []
        self._asked = address.file or address.quant
        self._computer, self._read = computer, read
        self._useless: set[str] = set()

    def read(self) -> Iterator[Read]:
        """The models that are wanted.

        Raises: Cancelled; SlipstreamError: ``no_gguf``, ``only_drafters``, ``no_quantization``,
            ``no_model``, ``incomplete_on_hub``, ``cannot_run``, what could not be read if nothing
            could, or what keeps everything from being read.
        """
        names = dict.fromkeys(map(_name, self._wanted()))
        found = False
        for name in islice(names, MOST_MODELS):
            read = self._read_one(name)
            if read:
                found = True
                yield read
        if len(names) > MOST_MODELS:
            self.problems.append(_too_many(self.repository, len(names)))
        if not found:
            yield self._called_a_drafter()

    def header(self, one: FileSet) -> Header:
        """The header of files of the repository, read only if nothing here knows it.

        Raises: Cancelled; SlipstreamError.
        """
        return known_header(self.repository.listing, one) or self._read(one)

    def _read_one(self, name: str) -> Read | None:
        for _ in range(MOST_TRIES):
            there = [one for one in self._usable() if _name(one) == name]
            if not there:
                return None
            one = _likely(there, self._computer)
            try:
                header = self.header(one)
            except SlipstreamError as problem:
                if problem.code not in _NO_MODEL:
                    raise
                self.problems.append(problem)
                self._useless.add(one.path)
                continue
            self.repository = with_header(self.repository, one, header)
            targets = {each.files: each for each in self.repository.targets}
            if one.files in targets:
                return self._alike(targets[one.files], header, name)
        return None

    def _called_a_drafter(self) -> Read:
        """A model that is named like a drafter, where there is no other.

        Raises: Cancelled; SlipstreamError, if there is none either.
        """
        drafters = () if self._asked else self.repository.drafters[:MOST_TRIES]
        for one in drafters:
            try:
                header = self.header(one)
            except SlipstreamError as problem:
                self.problems.append(problem)
                continue
            self.repository = with_header(self.repository, one, header)
            targets = {each.files: each for each in self.repository.targets}
            if one.files in targets:
                return self._alike(targets[one.files], header, _name(one))
        raise next(iter(self.problems), _nothing(self.repository, self._asked, ()))

    def _alike(self, one: FileSet, header: Header, name: str) -> Read:
        alike, elements = (
            [],
            sum(prod(each.shape) for each in header.tensors if len(each.shape) > 1),
        )
        for other in self._usable():
            if _name(other) == name:
                if other.files == one.files or _is_large_enough(other, elements):
                    alike.append(other)
                else:
                    self.problems.append(_too_small(other))
        return Read(one, header, tuple(alike))

    def _wanted(self) -> tuple[FileSet, ...]:
        """The quantizations that are asked for and can be run.

        Raises: SlipstreamError, if there are none, and nothing that may be one.
        """
        usable = self._usable()
        if not usable and (self._asked or self._found() or not self.repository.drafters):
            raise _nothing(self.repository, self._asked, self._found())
        return usable

    def _usable(self) -> tuple[FileSet, ...]:
        return tuple(
            one
            for one in self._found()
            if not one.missing and not one.problem and one.path not in self._useless
        )

    def _found(self) -> tuple[FileSet, ...]:
        targets = self.repository.targets
        if not self._asked:
            return targets
        shards = [one for one in targets if any(f.path == self._asked for f in one.files)]
        return tuple(shards) or pick(targets, self._asked)


def _name(one: FileSet) -> str:
    """Equal for all quantizations of one model."""
    return model_stem(one.files[0].name).lower()


def _likely(sets: Sequence[FileSet], computer: Computer) -> FileSet:
    """The one that will be recommended, going by sizes alone."""
    on_devices = sum(device.free for device in computer.devices)

    def fit(one: FileSet) -> Fit:
        needed = one.bytes * _MORE + _AND_MORE
        if needed <= on_devices:
            return Fit.GPU
        return Fit.CPU if needed <= computer.free else Fit.NONE

    index = recommend([Option(one.quant or "", one.bytes, fit(one)) for one in sets])
    return sets[index or 0]


def _is_large_enough(one: FileSet, elements: int) -> bool:
    """Whether files can be what their label says, of a model with so much in its matrices."""
    return one.bytes >= _SMALLEST_SHARE * elements * (bits(one.quant) or 0) / 8


def _too_small(one: FileSet) -> SlipstreamError:
    return SlipstreamError(
        "damaged_file",
        f"{one.path} is far too small for this model, so it is left out.",
        facts={"file": one.path, "bytes": one.bytes},
        action="Choose another quantization.",
    )


def _too_many(repository: Repository, number: int) -> SlipstreamError:
    return SlipstreamError(
        "many_models",
        f"{repository.listing.repo} holds {several(number, 'model')}; the first {MOST_MODELS} were"
        " looked at.",
        facts={"repository": repository.listing.repo},
        action="Name one of its files: owner/repo/file.gguf.",
    )


def _nothing(
    repository: Repository, asked: str | None, found: Sequence[FileSet]
) -> SlipstreamError:
    """Why there is nothing to plan."""
    repo, targets = repository.listing.repo, repository.targets
    if found:
        return _unusable(repo, found)
    others = (*repository.drafters, *repository.projectors)
    if asked and any(asked in (file.path, file.name) for one in others for file in one.files):
        return SlipstreamError(
            "no_model",
            f"{asked} is no model that could answer, but belongs to one.",
            facts={"repository": repo, "file": asked},
            action="Choose the model; what belongs to it is found by itself.",
        )
    if asked and targets:
        there = ", ".join(dict.fromkeys(one.quant or one.path for one in targets))
        return SlipstreamError(
            "no_quantization",
            f"{repo} has no {asked}. It has {there}.",
            facts={"repository": repo, "quant": asked},
            action="Choose one of those that it has.",
        )
    if repository.drafters:
        return SlipstreamError(
            "only_drafters",
            f"{repo} has drafters only, no model that could answer.",
            facts={"repository": repo},
            action="Choose the model they were made for; its drafter is found by itself.",
        )
    safetensors = any(file.path.endswith(".safetensors") for file in repository.listing.files)
    only = ", only in the format of other programs." if safetensors else "."
    return SlipstreamError(
        "no_gguf",
        f"{repo} has no model in GGUF format{only}",
        facts={"repository": repo},
        action="Search for its name to find a repository that has one.",
    )


def _unusable(repo: str, found: Sequence[FileSet]) -> SlipstreamError:
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
