"""What loading a model and generating a reply report while they run.

The command line prints these, the window draws them; both receive the very same values.
"""

from dataclasses import dataclass
from enum import StrEnum

from slipstream.drafters.kinds import SpecConfig, Unfit


class EngineState(StrEnum):
    """Where an engine process is in its life."""

    STOPPED = "stopped"
    STARTING = "starting"
    LOADING = "loading"
    READY = "ready"
    BUSY = "busy"
    STOPPING = "stopping"
    FAILED = "failed"


@dataclass(frozen=True)
class StateChanged:
    """The engine moved on.

    Attributes:
        state: the new state.
        progress: share of the file that is loaded, 0 to 1; None where the engine does not tell.
    """

    state: EngineState
    progress: float | None = None


@dataclass(frozen=True)
class FellBack:
    """A launch did not work as configured; this is the rung of the ladder that comes next.

    Attributes:
        wanted: how it was to speculate.
        now: how it will speculate instead.
        context: tokens of context it will have.
        code: name of the failure that caused it (``engine/failures.py``).
        reason: one sentence for a person.
        without_images: it will not read images any more, which it should have.
    """

    wanted: SpecConfig
    now: SpecConfig
    context: int
    code: str
    reason: str
    without_images: bool = False


class Source(StrEnum):
    """Who chose a token."""

    DRAFTER = "drafter"
    TARGET = "target"


@dataclass(frozen=True)
class Reading:
    """The prompt is being read: ``done`` of ``total`` tokens."""

    done: int
    total: int


@dataclass(frozen=True)
class Piece:
    """One token of the reply.

    Attributes:
        text: what it adds; empty for a hidden token (end of text, half a character).
        source: who chose it. A drafter's token was checked by the target model.
        reasoning: it belongs to the thinking, not to the answer.
    """

    text: str
    source: Source
    reasoning: bool = False


@dataclass(frozen=True)
class ReplyNumbers:
    """Measured numbers of one reply, while it runs or at its end. Times are seconds.

    Attributes:
        tokens: tokens generated so far, thinking and hidden ones included.
        tokens_per_second: mean decode speed; the first token is left out (the prompt pass made it).
        speed_now: decode speed over about the last second.
        first_token: from sending the request to the first token.
        prompt_tokens: tokens of the prompt, cached ones included.
        prompt_cached: of these, tokens that were already in the KV cache.
        prompt_per_second: speed of reading the rest.
        drafted, accepted: draft tokens proposed, and accepted by the target.
        steps: passes of the target that produced the tokens.
        drafts: drafting steps: those of them in which a draft was verified.
        by_position: share of drafting steps whose 1st, 2nd, ... draft token was accepted.
    """

    tokens: int = 0
    tokens_per_second: float = 0.0
    speed_now: float = 0.0
    first_token: float = 0.0
    prompt_tokens: int = 0
    prompt_cached: int = 0
    prompt_per_second: float = 0.0
    drafted: int = 0
    accepted: int = 0
    steps: int = 0
    drafts: int = 0
    by_position: tuple[float, ...] = ()

    @property
    def acceptance(self) -> float | None:
        """Accepted over drafted tokens; None if nothing was drafted."""
        return self.accepted / self.drafted if self.drafted else None

    @property
    def tokens_per_step(self) -> float | None:
        """Tokens a pass of the target yields: 1 without speculation."""
        return (self.tokens - 1) / self.steps if self.steps else None


@dataclass(frozen=True)
class Finished:
    """The reply is complete, or was stopped.

    Attributes:
        finish: "stop", "length" (token limit or context full) or "cancelled".
        numbers: the final numbers.
    """

    finish: str
    numbers: ReplyNumbers


LoadEvent = StateChanged | FellBack | Unfit
ReplyEvent = Reading | Piece | ReplyNumbers | Finished
