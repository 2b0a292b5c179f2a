"""The contexts that the slider stops at."""

SHORTEST = 2048
"""Tokens; less is hardly a conversation."""

LONGEST = 1_048_576
"""Tokens: the most that can be set, and what is offered where a model does not say how many it was
made for."""


def notches(longest: int) -> tuple[int, ...]:
    """Contexts in tokens, growing by a third or a half each, up to the longest.

    Args:
        longest: tokens that the model was made for; more than can be set do not count.
    """
    longest = min(longest, LONGEST)
    found = []
    step = SHORTEST
    while step < longest:
        found += [step, step + step // 2]
        step *= 2
    return (*(each for each in found if each < longest), longest)


def nearest(stops: tuple[int, ...], context: int) -> int:
    """The place of the longest stop that is no longer than a context; else of the first."""
    return max((i for i, stop in enumerate(stops) if stop <= context), default=0)
