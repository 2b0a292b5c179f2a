"""From what the probes let expect to what is worth confirming."""

from collections.abc import Sequence
from dataclasses import dataclass

from slipstream.compare.modes import Mode
from slipstream.compare.probe import Curves
from slipstream.compare.sentences import KIND_NAMES
from slipstream.compare.statistics import DEAD_BAND
from slipstream.drafters.kinds import DrafterKind
from slipstream.words import SPECULATION, draft_tokens

MOST = 3
"""Numbers of draft tokens that are confirmed, of all kinds together."""
P_MIN = 0.6
_CLOSE = 0.05
"""Share of the best speed expected within which others may be as good."""
_TOO_SLOW = 1 - 2 * DEAD_BAND
"""One launch is not sure enough to give up what may be just within the dead band."""


@dataclass(frozen=True)
class Candidate:
    """A number of draft tokens with the speedup that is expected of it."""

    kind: DrafterKind
    draft_tokens: int
    speedup: float

    @property
    def mode(self) -> Mode:
        """How it is launched."""
        return Mode(self.kind, self.draft_tokens)


@dataclass(frozen=True)
class Outlook:
    """What is expected of one drafter.

    Attributes:
        kind: which.
        curves: speed by draft tokens.
        longest: most draft tokens per step that are looked at.
        p_min: draft probability below which it stopped drafting; 0 never stops early.
    """

    kind: DrafterKind
    curves: Curves
    longest: int
    p_min: float = 0.0

    @property
    def numbers(self) -> tuple[Candidate, ...]:
        """Every number of draft tokens."""
        speedup = self.curves.all.speedup
        there = range(1, self.longest + 1)
        return tuple(Candidate(self.kind, number, speedup(number)) for number in there)

    @property
    def worthwhile(self) -> tuple[Candidate, ...]:
        """Those that should be faster, and not much slower for any kind of prompt."""
        return tuple(
            one for one in self.numbers if one.speedup >= 1 + DEAD_BAND and self._safe(one)
        )

    def _safe(self, one: Candidate) -> bool:
        return self.curves.slowest(one.draft_tokens)[1] >= _TOO_SLOW


def best_of(outlooks: Sequence[Outlook]) -> Candidate | None:
    """What should be fastest; None if nothing is worthwhile."""
    return max(_worthwhile(outlooks), key=_speedup, default=None)


def unknown(outlooks: Sequence[Outlook]) -> Mode | None:
    """A launch that tells more about what should be fastest; None if enough is known.

    The first draft token costs more than the others. So between numbers that were measured, most
    of all below the first one, speeds are expected too high rather than too low, and to look there
    misses nothing; beyond a single number they are expected too low.
    """
    best = best_of(outlooks)
    if best is None:
        return None
    outlook = next(one for one in outlooks if one.kind is best.kind)
    number = best.draft_tokens
    known = [measured for measured, _ in outlook.curves.all.steps if measured]
    if len(known) == 1 and known[0] <= number and known[0] < outlook.longest:
        return Mode(best.kind, outlook.longest)
    between = number + 1 in known and known[0] < number
    return None if between or number in known or number - 1 in known else best.mode


def to_confirm(outlooks: Sequence[Outlook]) -> tuple[Mode, ...]:
    """The best, and what should be about as fast: its neighbours, and the best of other kinds; and
    where draft tokens are expensive, drafting only what is likely."""
    best = best_of(outlooks)
    if best is None:
        return ()
    close = [one for one in _worthwhile(outlooks) if one.speedup >= (1 - _CLOSE) * best.speedup]
    beside = [one for one in close if _neighbours(one, best)]
    firsts = [best_of([one]) for one in outlooks if one.kind is not best.kind]
    beside += [one for one in firsts if one in close]
    beside.sort(key=_speedup, reverse=True)
    modes = tuple(one.mode for one in (best, *beside)[:MOST])
    outlook = next(one for one in outlooks if one.kind is best.kind)
    if _stopping_may_pay(outlook):
        modes += (Mode(best.kind, outlook.curves.all.steps[-1][0], P_MIN),)
    return modes


def outlook_sentence(outlook: Outlook) -> str:
    """What is expected of a drafter."""
    name = SPECULATION[outlook.kind].name
    best = best_of([outlook])
    if best is not None:
        return f"{_with(best)} should be {best.speedup:.2f} times as fast as plain decoding."
    if not any(outlook.curves.all.accepted):
        return f"Nothing that {name} proposed was accepted."
    fastest = max(outlook.numbers, key=_speedup)
    if fastest.speedup < 1 + DEAD_BAND:
        return (
            f"{name} should not be faster than plain decoding by 5 % or more: at best"
            f" {fastest.speedup:.2f} times as fast, with {draft_tokens(fastest.draft_tokens)}."
        )
    kind, slowest = outlook.curves.slowest(fastest.draft_tokens)
    return (
        f"{_with(fastest)} should be faster on the whole, but slower for"
        f" {KIND_NAMES.get(kind, kind)} ({slowest:.2f} times as fast)."
    )


def _with(one: Candidate) -> str:
    return f"{SPECULATION[one.kind].name} with {draft_tokens(one.draft_tokens)}"


def _worthwhile(outlooks: Sequence[Outlook]) -> list[Candidate]:
    return [one for outlook in outlooks for one in outlook.worthwhile]


def _speedup(one: Candidate) -> float:
    return one.speedup


def _neighbours(one: Candidate, other: Candidate) -> bool:
    return one.kind is other.kind and abs(one.draft_tokens - other.draft_tokens) == 1


def _stopping_may_pay(outlook: Outlook) -> bool:
    """N-grams have no probabilities, and some drafters stop early anyway."""
    able = outlook.kind is not DrafterKind.NGRAM and not outlook.p_min
    return able and outlook.curves.all.expensive
