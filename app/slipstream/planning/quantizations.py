"""The quantizations there are to plan: files on this computer, with what belongs to each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.drafters.discovery import MAX_FILES, find_drafters
from slipstream.drafters.identify import FileRole, role_of
from slipstream.drafters.kinds import Found
from slipstream.drafters.near import files_near
from slipstream.errors import SlipstreamError
from slipstream.paths import printable
from slipstream.planning.extras import projector_bytes
from slipstream.planning.model import Model, model_of
from slipstream.weights.header import Header
from slipstream.weights.names import model_stem, quantization_of
from slipstream.weights.shards import read_model, shards
from slipstream.weights.skeleton import shape_key


@dataclass(frozen=True)
class Quantization:
    """One quantization of a model.

    Attributes:
        label: its name ("Q4_K_M"); the file's name where none is known.
        header: of the whole model; of another quantization where its own was not read.
        model: what planning reads from it.
        shape: equal for all quantizations of one model.
        files: its files, the first first.
        found: what drafts for it.
        projector: what lets it read images, if there is one.
        download: bytes of its files that still have to be transferred.
        read: its own header is known; else what planning has of its bytes is an estimate.
        headers: of drafters that are not on this computer, by their paths.
    """

    label: str
    header: Header
    model: Model
    shape: str
    files: tuple[Path, ...]
    found: Found
    projector: Header | None = None
    download: int = 0
    read: bool = True
    headers: Mapping[Path, Header] = field(default_factory=dict)

    @cached_property
    def projector_bytes(self) -> int:
        """What reading images takes."""
        return projector_bytes(self.projector) if self.projector is not None else 0

    @cached_property
    def name(self) -> str:
        """The model's name, for people."""
        file = self.files[0].name
        return printable(model_stem(file) or file)

    @cached_property
    def model_key(self) -> tuple[str, str]:
        """Equal for all quantizations of one model: fine-tunes have the shape of their base."""
        return self.name, self.shape


def local_quantizations(
    paths: Sequence[Path], cancel: CancelToken
) -> tuple[tuple[Quantization, ...], tuple[SlipstreamError, ...]]:
    """Read models on this computer; what cannot be read is told beside the rest.

    Args:
        paths: the first file of each; files that are no models are left out.

    Raises: Cancelled.
    """
    read, problems = [], []
    projectors: dict[tuple[Path, int], Header | None] = {}
    for path in paths:
        cancel.raise_if_cancelled()
        try:
            header = read_model(path)
            if role_of(header) is not FileRole.TARGET:
                continue
            model = model_of(header)
        except SlipstreamError as problem:
            problems.append(problem)
            continue
        place = (path.parent, header.hidden_size)
        if place not in projectors:
            projectors[place] = next(projectors_near(header), None)
        read.append(
            Quantization(
                label=quantization_of(header) or path.stem,
                header=header,
                model=model,
                shape=shape_key(header),
                files=shards(path),
                found=find_drafters(header, cancel),
                projector=projectors[place],
            )
        )
    return tuple(read), tuple(problems)


def projectors_near(target: Header) -> Iterator[Header]:
    """Projectors near a model that make what it reads."""
    for path in islice(files_near(target.path), MAX_FILES):
        try:
            header = read_model(path)
        except SlipstreamError:
            continue
        width = header.integer("clip.vision.projection_dim")
        if role_of(header) is FileRole.PROJECTOR and width in (None, target.hidden_size):
            yield header
