"""Answers whose acceptance and step times are known."""

from collections.abc import Sequence

from slipstream.compare.prompts import Prompt
from slipstream.compare.samples import Sample, Token
from slipstream.engine.events import ReplyNumbers

KINDS = ("code", "story", "chat", "facts", "json", "maths")
STEPS = 100


def answer(slot: int, accepted: Sequence[float], seconds: float, mode: int = 0) -> Sample:
    """An answer of 100 steps.

    Args:
        slot: place of the prompt, and of its kind in ``KINDS``.
        accepted: share of the steps whose 1st, 2nd, ... draft token was accepted.
        seconds: that a step took.
        mode: place of the mode.
    """
    drafts = STEPS if accepted else 0
    taken = round(STEPS * sum(accepted))
    tokens = STEPS + taken
    numbers = ReplyNumbers(
        tokens=tokens + 1,
        drafted=drafts * len(accepted),
        accepted=taken,
        steps=STEPS,
        drafts=drafts,
        by_position=tuple(accepted),
    )
    times = (0.2 + at * STEPS * seconds / tokens for at in range(tokens + 1))
    said = tuple(Token(at, "a", drafted=False) for at in times)
    return Sample(mode, 0, slot, Prompt(KINDS[slot], KINDS[slot]), said, numbers)


def answers(accepted: Sequence[float], seconds: float) -> tuple[Sample, ...]:
    """One to each prompt, all alike."""
    return tuple(answer(slot, accepted, seconds) for slot in range(len(KINDS)))
