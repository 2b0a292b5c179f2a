"""What a comparison showed, mode by mode, and what to do about it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from statistics import median

from slipstream.compare.modes import Mode
from slipstream.compare.prompts import Prompt
from slipstream.compare.runner import Again, Failed, Launched, Plan, RunEvent
from slipstream.compare.samples import Sample
from slipstream.compare.statistics import Group, Outcome, interval, outcome, speedup
from slipstream.errors import SlipstreamError

_SHOWN = 12
"""Tokens that are shown before and after the place where two answers part."""
MOST_DRIFT = 0.03
"""Share by which the mode compared with may have changed its speed meanwhile."""


@dataclass
class Measured:
    """Everything a run brought so far.

    Attributes:
        plan: what was to be measured.
        samples: the answers.
        again: those of the mode compared with, after everything else.
        launched: the first launch of each mode.
        failed: why a mode is missing.
    """

    plan: Plan
    samples: list[Sample] = field(default_factory=list)
    again: list[Sample] = field(default_factory=list)
    launched: dict[int, Launched] = field(default_factory=dict)
    failed: dict[int, SlipstreamError] = field(default_factory=dict)

    def take(self, event: RunEvent) -> None:
        """Add what a run yielded."""
        match event:
            case Sample():
                self.samples.append(event)
            case Again():
                self.again.append(event.sample)
            case Launched():
                self.launched.setdefault(event.mode, event)
            case Failed():
                self.failed[event.mode] = event.error


@dataclass(frozen=True)
class Gain:
    """How much faster than the mode compared with.

    Attributes:
        speedup: 1.5 is half as fast again.
        interval: between which values it lies in 95 of 100 cases.
        outcome: what that means.
    """

    speedup: float
    interval: tuple[float, float]
    outcome: Outcome


@dataclass(frozen=True)
class Difference:
    """Where an answer first differs from that of the mode compared with.

    Attributes:
        prompt: what was answered.
        at: the first token that differs, from 0.
        before: the end of what is the same.
        theirs: how the mode compared with goes on.
        mine: how this one does.
    """

    prompt: Prompt
    at: int
    before: str
    theirs: str
    mine: str


@dataclass(frozen=True)
class Row:
    """One mode. Times are seconds, memory is bytes.

    Attributes:
        mode: which.
        draft_tokens: most draft tokens per step that it ran with.
        tokens_per_second: decoded, the prompt apart.
        first_token: from the request to the first token.
        prompt_per_second: tokens of the prompt read.
        gain: over the mode compared with; None without answers to the same texts.
        by_kind: the same by kind of prompt.
        speed_by_kind: tokens per second by kind of prompt.
        acceptance: accepted over drafted tokens; None if nothing was drafted.
        tokens_per_step: tokens that a pass of the target yields.
        by_position: share of drafting steps whose 1st, 2nd, ... draft token was accepted.
        extra_memory: held beyond the mode compared with.
        same_text: answers with the very tokens of the mode compared with.
        of: answers that were looked at for that.
        difference: of the first answer that differs; None if none does.
        error: why it could not be run; None if it could.
    """

    mode: Mode
    draft_tokens: int
    tokens_per_second: float
    first_token: float
    prompt_per_second: float
    gain: Gain | None
    by_kind: Mapping[str, Gain]
    speed_by_kind: Mapping[str, float]
    acceptance: float | None
    tokens_per_step: float | None
    by_position: tuple[float, ...]
    extra_memory: int
    same_text: int
    of: int
    difference: Difference | None
    error: SlipstreamError | None


@dataclass(frozen=True)
class Verdict:
    """What to use.

    Attributes:
        use: the mode.
        draft_tokens: what it ran with.
        reason: one sentence.
    """

    use: Mode
    draft_tokens: int
    reason: str


@dataclass(frozen=True)
class Report:
    """What a comparison showed.

    Attributes:
        rows: one for each mode, in the order of the plan.
        verdict: what to use.
        drift: share by which the mode compared with was slower (or, below 0, faster) at the end;
            None if that was not measured.
    """

    rows: tuple[Row, ...]
    verdict: Verdict
    drift: float | None


def report(measured: Measured) -> Report:
    """Sum up what was measured so far."""
    there = range(len(measured.plan.modes))
    rows = tuple(_row(measured, mode) for mode in there)
    return Report(rows, _verdict(measured, rows), _drift(measured))


def _row(measured: Measured, mode: int) -> Row:
    plan, launched = measured.plan, measured.launched.get(mode)
    samples = [one for one in measured.samples if one.mode == mode and one.usable]
    pairs = list(_pairs(measured, mode))
    kinds = {mine.prompt.kind: None for _, mine in pairs}
    slots = [[one.per_token for one in samples if one.slot == slot] for slot in _slots(samples)]
    drafted = sum(one.numbers.drafted for one in samples)
    steps = sum(one.numbers.steps for one in samples)
    basis = measured.launched.get(plan.baseline)
    return Row(
        mode=plan.modes[mode],
        draft_tokens=launched.loaded.spec.draft_tokens if launched else 0,
        tokens_per_second=len(slots) / sum(map(median, slots)) if slots else 0.0,
        first_token=median(one.tokens[0].at for one in samples) if samples else 0.0,
        prompt_per_second=median(one.numbers.prompt_per_second for one in samples)
        if samples
        else 0.0,
        gain=_gain(pairs),
        by_kind={kind: gain for kind in kinds if (gain := _gain(_of_kind(pairs, kind)))},
        speed_by_kind=_speeds(samples),
        acceptance=sum(one.numbers.accepted for one in samples) / drafted if drafted else None,
        tokens_per_step=sum(len(one.tokens) - 1 for one in samples) / steps if steps else None,
        by_position=_by_position(samples),
        extra_memory=launched.memory - basis.memory if launched and basis else 0,
        same_text=sum(_texts(theirs) == _texts(mine) for theirs, mine in pairs),
        of=len(pairs),
        difference=next(filter(None, (_difference(*pair) for pair in pairs)), None),
        error=measured.failed.get(mode),
    )


def _speeds(samples: Sequence[Sample]) -> dict[str, float]:
    kinds = dict.fromkeys(one.prompt.kind for one in samples)
    taken = {kind: [one.per_token for one in samples if one.prompt.kind == kind] for kind in kinds}
    return {kind: 1 / median(seconds) for kind, seconds in taken.items()}


def paired(measured: Measured, mode: int) -> list[tuple[Sample, Sample]]:
    """The answers of the mode compared with and those of another one, prompt by prompt of the first
    pass."""
    return [pair for pair in _pairs(measured, mode) if pair[1].number == 0]


def _pairs(measured: Measured, mode: int) -> Iterator[tuple[Sample, Sample]]:
    """The answers of the mode compared with, and those of another one to the same texts."""
    basis = {
        (one.number, one.slot): one
        for one in measured.samples
        if one.mode == measured.plan.baseline and one.usable
    }
    for one in measured.samples:
        if one.mode == mode and one.usable and (one.number, one.slot) in basis:
            yield basis[one.number, one.slot], one


def _of_kind(pairs: Sequence[tuple[Sample, Sample]], kind: str) -> list[tuple[Sample, Sample]]:
    return [pair for pair in pairs if pair[1].prompt.kind == kind]


def _gain(pairs: Sequence[tuple[Sample, Sample]]) -> Gain | None:
    if not pairs:
        return None
    groups: list[Group] = [
        {
            mine.number: (theirs.per_token, mine.per_token)
            for theirs, mine in pairs
            if mine.slot == slot
        }
        for slot in _slots([mine for _, mine in pairs])
    ]
    found, between = speedup(groups), interval(groups)
    return Gain(found, between, outcome(found, between))


def _slots(samples: Sequence[Sample]) -> list[int]:
    return sorted({one.slot for one in samples})


def _texts(sample: Sample) -> list[str]:
    return [token.text for token in sample.tokens]


def _difference(theirs: Sample, mine: Sample) -> Difference | None:
    """Where two answers part; one that ends where the other goes on differs there."""
    before, now = _texts(theirs), _texts(mine)
    if before == now:
        return None
    shorter = min(len(before), len(now))
    parted = (place for place in range(shorter) if before[place] != now[place])
    at = next(parted, shorter)
    return Difference(
        prompt=mine.prompt,
        at=at,
        before="".join(now[max(0, at - _SHOWN) : at]),
        theirs="".join(before[at : at + _SHOWN]),
        mine="".join(now[at : at + _SHOWN]),
    )


def _by_position(samples: Sequence[Sample]) -> tuple[float, ...]:
    """Of all drafting steps together."""
    drafts = sum(one.numbers.drafts for one in samples)
    shares = ([one.numbers.drafts * share for share in one.numbers.by_position] for one in samples)
    return tuple(sum(column) / drafts for column in zip_longest(*shares, fillvalue=0.0))


def _drift(measured: Measured) -> float | None:
    first = {
        one.slot: one.per_token
        for one in measured.samples
        if one.mode == measured.plan.baseline and one.number == 0 and one.usable
    }
    found = [one.per_token / first[one.slot] for one in measured.again if one.usable]
    return median(found) - 1 if found else None


def _verdict(measured: Measured, rows: Sequence[Row]) -> Verdict:
    basis = rows[measured.plan.baseline]
    faster = [row for row in rows if row.gain and row.gain.outcome is Outcome.FASTER]
    best = max(faster, key=lambda row: row.gain.speedup if row.gain else 0.0, default=None)
    if best is None or best.gain is None:
        reason = f"Nothing is faster than {basis.mode} by 5 % or more on this computer."
        return Verdict(basis.mode, basis.draft_tokens, reason)
    low, high = best.gain.interval
    reason = (
        f"{best.mode} is {best.gain.speedup:.2f} times as fast as {basis.mode} on this computer"
        f" (between {low:.2f} and {high:.2f})."
    )
    return Verdict(best.mode, best.draft_tokens, reason)
