"""What is asked of a session, and its answer: plain values that every layer above shares."""

from dataclasses import dataclass
from pathlib import Path

from slipstream.drafters.kinds import Drafter, SpecChoice, SpecConfig


@dataclass(frozen=True)
class LoadRequest:
    """What the user asks to have loaded.

    Attributes:
        model: file of the target.
        spec: a kind of drafter, "auto" for the proven one, "off" for plain decoding.
        draft_tokens: most draft tokens per step; None takes the kind's default.
        context: tokens; None takes the number in the settings, or the model's own limit if that is
            lower.
        afresh: what drafters showed before does not count.
    """

    model: Path
    spec: SpecChoice = "auto"
    draft_tokens: int | None = None
    context: int | None = None
    afresh: bool = False


@dataclass(frozen=True)
class Loaded:
    """What runs now: the answer to what was asked for.

    Attributes:
        name: the model's name for people.
        context: tokens of context it got.
        spec: how it speculates in fact.
        drafters: everything found that could draft for this model.
        fallback: why it does not speculate as asked; None if it does.
        engine: name and build of the engine.
    """

    request: LoadRequest
    name: str
    context: int
    spec: SpecConfig
    drafters: tuple[Drafter, ...]
    fallback: str | None
    engine: str


@dataclass(frozen=True)
class ChatMessage:
    """One message of a conversation as the engine sees it."""

    role: str
    content: str


@dataclass(frozen=True)
class ReplyOptions:
    """Sampling of one reply; None leaves a value to the model's own preset."""

    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
