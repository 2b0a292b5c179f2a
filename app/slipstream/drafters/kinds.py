"""The kinds of drafter and what a launch must say about one."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal


class DrafterKind(StrEnum):
    """How draft tokens are made. The values are the words of the command line."""

    MTP = "mtp"
    DFLASH = "dflash"
    DSPARK = "dspark"
    EAGLE3 = "eagle3"
    DRAFT = "draft"
    SELF = "self"
    NGRAM = "ngram"


MADE_FOR_A_TARGET = frozenset(
    {DrafterKind.MTP, DrafterKind.DFLASH, DrafterKind.DSPARK, DrafterKind.EAGLE3}
)
"""They read the target's hidden states, and a recurrent target keeps a state per draft token."""
DRAFTER_KV = "f16"
"""Element type of a drafter's KV cache; a quantized one brought acceptance to zero (llama.cpp
#25725)."""

SpecChoice = DrafterKind | Literal["auto", "off"]
"""What a person asks for: a kind, what is chosen or proven ("auto"), or plain decoding ("off")."""


def spec_choice(word: str) -> SpecChoice:
    """The choice that a word stands for; what is not known is "auto"."""
    if word == "off":
        return "off"
    try:
        return DrafterKind(word)
    except ValueError:
        return "auto"


@dataclass(frozen=True)
class Drafter:
    """Something that may draft for one target.

    Attributes:
        kind: how it drafts.
        path: its file; None for a head inside the target and for n-grams.
        proven: its header (or the target's own) shows that it fits; otherwise it is only plausible.
        reason: one sentence: why it fits, or what is not certain.
        bytes: size of its file; 0 when it has none.
        longest_draft: most draft tokens it can make in one step; None where there is no limit.
        chosen: the user wants this model to be drafted by it.
        copy: its file on this computer, where ``path`` is a name in a repository.
    """

    kind: DrafterKind
    path: Path | None
    proven: bool
    reason: str
    bytes: int = 0
    longest_draft: int | None = None
    chosen: bool = False
    copy: Path | None = None

    @property
    def here(self) -> Path | None:
        """Its file on this computer; None without one."""
        return self.copy or self.path


@dataclass(frozen=True)
class Unfit:
    """What is a drafter by its name or header, and cannot draft for the model.

    Attributes:
        kind: how it would draft.
        path: its file; the model's own, if it is a head inside.
        reason: one sentence: what is wrong.
        missed: the user will expect it to draft for this model: it is damaged, or names the model.
        inside: it is a head inside the model.
    """

    kind: DrafterKind
    path: Path
    reason: str
    missed: bool
    inside: bool = False


@dataclass(frozen=True)
class Found:
    """What was found for one target.

    Attributes:
        drafters: what fits, the best first.
        unfit: drafters near the model that do not.
        target: its file; None where there is none.
        plain: the user wants no drafter for it.
    """

    drafters: tuple[Drafter, ...]
    unfit: tuple[Unfit, ...] = ()
    target: Path | None = None
    plain: bool = False


@dataclass(frozen=True)
class SpecConfig:
    """How one launch speculates; ``kind`` None means plain decoding.

    Attributes:
        kind: the kind of drafter.
        drafter: the drafter's file; None for a head inside the target and for n-grams.
        draft_tokens: most tokens drafted per step.
        p_min: stop drafting below this draft probability; 0 never stops early.
        with_ngram: also try n-grams before the drafter.
    """

    kind: DrafterKind | None
    drafter: Path | None = None
    draft_tokens: int = 0
    p_min: float = 0.0
    with_ngram: bool = False


PLAIN = SpecConfig(kind=None)
