"""How much faster one mode is than another, and how sure that is."""

import random
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from statistics import median

DEAD_BAND = 0.05
"""Share of a speed below which a difference is none that anybody should act upon."""

_DRAWS = 2000
_TAIL = 0.025
_SEED = 20250101  # the same samples always give the same interval

Pair = tuple[float, float]
"""Seconds per token of the same text: in the mode compared with, and in the mode itself."""
Group = Mapping[int, Pair]
"""What one place in the set of prompts took, by pass; never empty."""


class Outcome(StrEnum):
    """What a comparison came to."""

    FASTER = "faster"
    SAME = "no difference"
    SLOWER = "slower"


def speedup(groups: Sequence[Group]) -> float:
    """How many times as fast a mode is: the time per token before, over the time now.

    Each group counts by its median, so that one disturbed pass changes little, and all alike.

    Args:
        groups: at least one.
    """
    return _speedup([group.values() for group in groups])


def interval(groups: Sequence[Group]) -> tuple[float, float]:
    """Between which values the speedup lies in 95 of 100 cases: the bootstrap over the groups, and
    over whole passes, because all answers of a launch share what makes that launch fast or slow.

    Source: B. Efron, R. Tibshirani, An Introduction to the Bootstrap (1993), chapters 8 and 13.
    """
    chance = random.Random(_SEED)
    passes = sorted({number for group in groups for number in group})

    def drawn() -> float:
        numbers = chance.choices(passes, k=len(passes))
        return _speedup(
            [
                [group[number] for number in numbers if number in group] or group.values()
                for group in chance.choices(groups, k=len(groups))
            ]
        )

    found = sorted(drawn() for _ in range(_DRAWS))
    first = round(_TAIL * (_DRAWS - 1))
    return found[first], found[-1 - first]


def _speedup(groups: Sequence[Collection[Pair]]) -> float:
    before = sum(median(one for one, _ in group) for group in groups)
    return before / sum(median(one for _, one in group) for group in groups)


def outcome(gain: float, between: tuple[float, float]) -> Outcome:
    """What a speedup with its interval means: a difference must be large and sure."""
    low, high = between
    if gain >= 1 + DEAD_BAND and low > 1:
        return Outcome.FASTER
    if gain <= 1 - DEAD_BAND and high < 1:
        return Outcome.SLOWER
    return Outcome.SAME
