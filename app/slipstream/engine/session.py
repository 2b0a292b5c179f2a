"""One loaded model and the conversation with it: what the window and the command line drive."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.drafters.kinds import Drafter, SpecChoice, SpecConfig
from slipstream.engine.events import LoadEvent, ReplyEvent


@dataclass(frozen=True)
class LoadRequest:
    """What the user asks to have loaded.

    Attributes:
        model: file of the target.
        spec: a kind of drafter, "auto" for the proven one, "off" for plain decoding.
        draft_tokens: most draft tokens per step; None takes the kind's default.
        context: tokens; None takes 16,384 or the model's own limit if that is lower.
    """

    model: Path
    spec: SpecChoice = "auto"
    draft_tokens: int | None = None
    context: int | None = None


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


class Session:
    """Owns at most one engine process. Methods block; call them from a worker thread."""

    loaded: Loaded | None

    def load(self, request: LoadRequest, cancel: CancelToken) -> Iterator[LoadEvent]:
        """Load a model, unloading what ran before; ``loaded`` is set when the iterator ends.

        Raises: SlipstreamError, Cancelled.
        """
        raise NotImplementedError

    def reply(
        self, messages: Sequence[ChatMessage], options: ReplyOptions, cancel: CancelToken
    ) -> Iterator[ReplyEvent]:
        """Generate one reply; ends with Finished, also when cancelled.

        Raises: SlipstreamError, if the engine dies, hangs or refuses; what was generated so far
        has been yielded by then.
        """
        raise NotImplementedError

    def stop(self) -> None:
        """Unload: end the engine process if one runs."""
        raise NotImplementedError
