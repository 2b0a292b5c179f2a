"""What the page of a model shows, as values: every quantization with its memory and its verdict."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from slipstream.drafters.gains import Gain
from slipstream.drafters.kinds import DrafterKind, SpecConfig
from slipstream.errors import SlipstreamError
from slipstream.machine.devices import Device
from slipstream.planning.computer import Computer
from slipstream.planning.plan import Plan
from slipstream.planning.rows import Row
from slipstream.words import Tone

AUTO: Literal["auto"] = "auto"
OFF: Literal["off"] = "off"
_INSIDE = "inside"


@dataclass(frozen=True)
class Knobs:
    """What a person can turn on the page of a model; everything shown follows.

    Attributes:
        context: tokens that prompt and reply share.
        kv_type: element type of the KV cache.
        drafter: AUTO, OFF, the key of a DrafterOption, or the word of a kind, which means the first
            of that kind: a model's settings tell no more.
        projector: whether what lets it read images is loaded with it.
        gpu_layers: layers on the devices; None for as many as they hold.
    """

    context: int
    kv_type: str = "f16"
    drafter: str = AUTO
    projector: bool = True
    gpu_layers: int | None = None


def drafter_key(kind: DrafterKind, path: Path | None) -> str:
    """What ``Knobs.drafter`` calls a drafter: its kind, and its file or the head inside the model;
    of n-grams there is one kind only."""
    if kind is DrafterKind.NGRAM:
        return kind.value
    return f"{kind}:{path.as_posix() if path else _INSIDE}"


@dataclass(frozen=True)
class Line:
    """One quantization, as the page shows it.

    Attributes:
        plan: what it takes and where it goes.
        row: of the repository; None for a model on this computer.
        bits: of its weights, roughly; None where its label does not tell.
        dynamic: its layers have different numbers of bits ("UD-...").
        path: of its first file on this computer; None if not all of its own files are there.
        bytes: of its own files.
        download: bytes still to be transferred, drafter and projector included.
        verdict: "Fits fully on your GPU", in a few words.
        tone: of the verdict.
        why: the same in one sentence or two, with the numbers.
        searched: all that may draft for it was looked for.
    """

    plan: Plan
    row: Row | None
    bits: int | None
    dynamic: bool
    path: Path | None
    bytes: int
    download: int
    verdict: str
    tone: Tone
    why: str
    searched: bool = True

    @property
    def here(self) -> bool:
        """Whether its own files are on this computer."""
        return self.path is not None

    @property
    def label(self) -> str:
        """Its name: "Q4_K_M"."""
        return self.plan.quantization.label

    @property
    def name(self) -> str:
        """The model's: some repositories hold several."""
        return self.plan.quantization.name

    @property
    def spec(self) -> SpecConfig | None:
        """How it was planned to speculate, with the drafter's file on this computer; None while a
        drafter may still be found."""
        spec = self.plan.setup.spec
        if spec.kind is None and not self.searched:
            return None
        drafters = self.plan.quantization.found.drafters
        copies = (one.copy for one in drafters if (one.kind, one.path) == (spec.kind, spec.drafter))
        return replace(spec, drafter=next(copies, None) or spec.drafter)

    @property
    def recommended(self) -> bool:
        """Whether it is the one to take."""
        return self.plan.recommended


@dataclass(frozen=True)
class DrafterOption:
    """Something that may draft for the model.

    Attributes:
        key: what ``Knobs.drafter`` is to choose it.
        kind: how it drafts.
        title: "MTP head, inside every file".
        detail: one sentence: why it fits, what is not certain, or what is wrong; what running it
            on this computer showed, if it was run.
        repo: where it comes from, if that is another repository; else empty.
        proven: it was made for this model.
        fits: nothing speaks against it; others cannot be chosen.
        bytes: of its file; 0 of what needs none.
        memory: bytes that it adds while in use to the recommended quantization (or the first);
            None as long as that was not planned.
        gain: what a comparison of this quantization on this computer showed; None without one.
    """

    key: str
    kind: DrafterKind
    title: str
    detail: str
    repo: str
    proven: bool
    fits: bool
    bytes: int
    memory: int | None
    gain: Gain | None = None


@dataclass(frozen=True)
class Picture:
    """Everything that the page of one model shows for one position of the knobs.

    Attributes:
        name: of the model, for people.
        knobs: what it was made for.
        lines: the quantizations: those that are here first, then by bits and size.
        drafters: what may draft, the best first; n-grams last.
        drafter: the key of the one that the line to take, or else the first, is planned with; empty
            for none.
        headline: the recommendation as one sentence; else what is wrong, in one.
        reason: what more there is to say about it, with the numbers.
        computer, devices: what it was planned for.
        projector: bytes of what lets it read images; None if there is none.
        trained_context: tokens; None if the header does not tell.
        layers: the most that ``Knobs.gpu_layers`` can be; 0 where nothing can hold layers.
        exact: an engine laid it out; else it is an estimate (by formula, or between two answers).
        problems: what could not be looked at.
    """

    name: str
    knobs: Knobs
    lines: tuple[Line, ...]
    drafters: tuple[DrafterOption, ...]
    drafter: str
    headline: str
    reason: str
    computer: Computer
    devices: Sequence[Device]
    projector: int | None
    trained_context: int | None
    layers: int
    exact: bool
    problems: tuple[SlipstreamError, ...]

    @property
    def choice(self) -> str:
        """Which of the choices the knobs stand at: AUTO, OFF, or the key of a drafter."""
        of_kind = (one.key for one in self.drafters if one.kind.value == self.knobs.drafter)
        return next(of_kind, self.knobs.drafter)

    @property
    def recommended(self) -> Line | None:
        """The line to take."""
        return next((line for line in self.lines if line.recommended), None)
