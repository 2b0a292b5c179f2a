"""Which quantizations of many are worth showing at first."""

from collections.abc import Sequence
from itertools import groupby

from slipstream.engine.picture import Line
from slipstream.planning.recommend import is_good

FEW = 8
"""So many are shown without choosing among them."""


def most_telling(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Of few all; of many what is here, what is recommended, and one for each number of bits.

    Args:
        lines: in the order of the page: by their bits.

    Returns: in the same order.
    """
    if len(lines) <= FEW:
        return tuple(lines)
    kept = [line for line in lines if line.here or line.recommended]
    others = [line for line in lines if not line.here]
    for _, group in groupby(others, key=lambda line: line.bits):
        alike = list(group)
        if not any(line.recommended for line in alike):
            kept.append(max(alike, key=_worth))
    return tuple(line for line in lines if any(line is each for each in kept))


def _worth(line: Line) -> tuple[bool, bool, bool, int]:
    """K-quants lose less than the older kinds of as many bits, dynamic ones less than others."""
    return is_good(line.label), "_K" in line.label, line.dynamic, line.bytes
