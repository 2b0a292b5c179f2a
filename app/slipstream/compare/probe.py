"""What one launch of a drafter tells about other numbers of draft tokens.

A step of the target with k draft tokens takes T(k) seconds and yields 1 + P1 + ... + Pk tokens,
where Pi is the share of steps whose first i draft tokens were all accepted. Pi depends on the
drafter and the text, not on how far it drafts, so a launch with K draft tokens tells it for all up
to K. T(k) is taken to be linear between the numbers it was measured with; without a drafter that is
T(0).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from slipstream.compare.samples import Sample

_EXPENSIVE = 0.25
"""Share of a plain step that a draft token may cost; beyond it stopping early is worth a try."""


@dataclass(frozen=True)
class Probe:
    """One launch of a drafter.

    Attributes:
        draft_tokens: most draft tokens per step.
        samples: its answers.
    """

    draft_tokens: int
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class Curve:
    """How fast a drafter should be with any number of draft tokens.

    Attributes:
        accepted: P1, P2, ...
        steps: seconds per step by draft tokens, as measured; the first is without any.
    """

    accepted: tuple[float, ...]
    steps: tuple[tuple[int, float], ...]

    def tokens_per_step(self, draft_tokens: int) -> float:
        """What a step yields. Beyond what was drafted each further token is accepted as often after
        the one before it as the last one that was."""
        known = self.accepted[:draft_tokens]
        further = draft_tokens - len(known)
        if not known or not further:
            return 1 + sum(known)
        before = known[-2] if len(known) > 1 else 1.0
        ratio = min(1.0, known[-1] / before) if before else 0.0
        return 1 + sum(known) + sum(known[-1] * ratio**more for more in range(1, further + 1))

    def step(self, draft_tokens: int) -> float:
        """Seconds per step. Beyond what was measured each further draft token costs what those did
        that were, the first ones apart where that is known."""
        around = pairwise(self.steps)
        last = (self.steps[min(1, len(self.steps) - 2)], self.steps[-1])
        below, above = next((two for two in around if two[1][0] >= draft_tokens), last)
        if below[0] == above[0]:
            return below[1]
        share = (draft_tokens - below[0]) / (above[0] - below[0])
        return below[1] + share * (above[1] - below[1])

    def speed(self, draft_tokens: int) -> float:
        """Tokens per second."""
        return self.tokens_per_step(draft_tokens) / self.step(draft_tokens)

    def speedup(self, draft_tokens: int) -> float:
        """How many times as fast as without a drafter."""
        return self.speed(draft_tokens) / self.speed(0)

    @property
    def expensive(self) -> bool:
        """Whether draft tokens cost so much that it may be better to draft only what is likely."""
        most, seconds = self.steps[-1]
        return seconds > (1 + _EXPENSIVE * most) * self.steps[0][1]


@dataclass(frozen=True)
class Curves:
    """What is expected of one drafter.

    Attributes:
        all: over all prompts.
        by_kind: the same by kind of prompt.
    """

    all: Curve
    by_kind: dict[str, Curve]

    def slowest(self, draft_tokens: int) -> tuple[str, float]:
        """The kind of prompt that gains least, and its speedup."""
        speedups = ((kind, one.speedup(draft_tokens)) for kind, one in self.by_kind.items())
        overall = ("", self.all.speedup(draft_tokens))
        return min(speedups, key=lambda each: each[1], default=overall)


def measurable(sample: Sample) -> bool:
    """Whether a sample tells how long a step takes."""
    return sample.usable and sample.numbers.steps > 0


def curves(plain: Sequence[Sample], probes: Sequence[Probe]) -> Curves:
    """What is expected of a drafter.

    Args:
        plain: answers without a drafter; at least one, all ``measurable``.
        probes: launches of the drafter, each with at least one answer to the same prompts.
    """
    costs = [_cost(plain, probe.samples) for probe in probes]
    by_kind: dict[str, Curve] = {}
    for kind in dict.fromkeys(one.prompt.kind for one in plain):
        parts = [Probe(each.draft_tokens, _of_kind(each.samples, kind)) for each in probes]
        if all(part.samples for part in parts):
            by_kind[kind] = _curve(_of_kind(plain, kind), parts, costs)
    return Curves(_curve(plain, probes, costs), by_kind)


def _curve(plain: Sequence[Sample], probes: Sequence[Probe], costs: Sequence[float]) -> Curve:
    alone = median(map(_step, plain))
    steps = {0: alone}
    for probe, cost in zip(probes, costs, strict=True):
        steps[probe.draft_tokens] = alone + cost * _width(probe.samples)
    return Curve(_accepted(probes), tuple(sorted(steps.items())))


def _of_kind(samples: Sequence[Sample], kind: str) -> tuple[Sample, ...]:
    return tuple(one for one in samples if one.prompt.kind == kind)


def _step(sample: Sample) -> float:
    """Seconds per step."""
    return sample.per_token * (len(sample.tokens) - 1) / sample.numbers.steps


def _width(samples: Sequence[Sample]) -> float:
    """Draft tokens per step; steps without a draft count, too."""
    return sum(one.numbers.drafted for one in samples) / sum(one.numbers.steps for one in samples)


def _cost(plain: Sequence[Sample], samples: Sequence[Sample]) -> float:
    """Seconds that a draft token costs: the median of the prompts, each with the weight of its
    draft tokens, so that one disturbed answer changes little."""
    alone = {one.slot: _step(one) for one in plain}
    found = sorted(
        ((_step(one) - alone[one.slot]) / _width([one]), one.numbers.drafted)
        for one in samples
        if one.numbers.drafted and one.slot in alone
    )
    half = sum(weight for _, weight in found) / 2
    passed = 0.0
    for cost, weight in found:
        passed += weight
        if passed >= half:
            return max(0.0, cost)
    return 0.0


def _accepted(probes: Sequence[Probe]) -> tuple[float, ...]:
    """P1, P2, ... of all launches that drafted so far; 0 for what was never drafted."""
    most = max(probe.draft_tokens for probe in probes)
    return tuple(_share(probes, at) for at in range(1, most + 1))


def _share(probes: Sequence[Probe], position: int) -> float:
    """Of the steps that could draft so far, those whose draft was accepted so far."""
    numbers = [
        one.numbers for probe in probes if probe.draft_tokens >= position for one in probe.samples
    ]
    shares = ((each.drafts, each.by_position[position - 1 : position]) for each in numbers)
    accepted = sum(drafts * sum(share) for drafts, share in shares)
    return accepted / sum(each.steps for each in numbers)
