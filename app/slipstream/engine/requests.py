"""What is asked of a session, and its answer: plain values that every layer above shares."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path

from slipstream.drafters.kinds import Drafter, SpecChoice, SpecConfig


@dataclass(frozen=True)
class LoadRequest:
    """What the user asks to have loaded; all else is as the model's own settings say.

    Attributes:
        model: file of the target.
        spec: a kind of drafter, "off" for plain decoding, "auto" for what the model's own settings
            say, and where they say nothing for the proven one.
        draft_tokens: most draft tokens per step; None takes the model's own number, or the kind's.
        context: tokens; None takes the model's own number or that of the app's settings; never
            more than the model was trained for.
        afresh: what drafters showed before does not count, and nobody is using the model.
        anyway: it is loaded also where memory seems too small.
        own_settings: the model's own settings count.
        p_min: stop drafting below this draft probability; None takes the kind's own.
    """

    model: Path
    spec: SpecChoice = "auto"
    draft_tokens: int | None = None
    context: int | None = None
    afresh: bool = False
    anyway: bool = False
    own_settings: bool = True
    p_min: float | None = None


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
        projector: what lets it read images; None if it cannot.
    """

    request: LoadRequest
    name: str
    context: int
    spec: SpecConfig
    drafters: tuple[Drafter, ...]
    fallback: str | None
    engine: str
    projector: Path | None = None


@dataclass(frozen=True)
class ChatMessage:
    """One message of a conversation as the engine sees it."""

    role: str
    content: str


@dataclass(frozen=True)
class ReplyOptions:
    """Sampling of one reply; None leaves a value to the model's own settings, or to its file.

    Attributes:
        ignore_eos: the reply goes on to ``max_tokens``, also where the model would end it.
    """

    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    repeat_penalty: float | None = None
    ignore_eos: bool | None = None

    def over(self, other: "ReplyOptions") -> "ReplyOptions":
        """These values, and where one is None that of another."""
        mine = {name: value for name, value in asdict(self).items() if value is not None}
        return replace(other, **mine)
