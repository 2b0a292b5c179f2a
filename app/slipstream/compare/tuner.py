"""Finds how to speculate with one model, from few launches.

Plain decoding and every kind of drafter are launched once, which tells how fast each should be with
any number of draft tokens (``probe``). What should be best is then measured in turns with plain
decoding, on other prompts, as in every comparison; only that decides.
"""

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.compare.candidates import Outlook, outlook_sentence, to_confirm, unknown
from slipstream.compare.modes import PLAIN_MODE, Mode, default_modes
from slipstream.compare.probe import Probe, curves, measurable
from slipstream.compare.prompts import PromptSet
from slipstream.compare.report import Measured, report
from slipstream.compare.runner import PASSES, Plan, Starting, run
from slipstream.compare.samples import Sample
from slipstream.compare.settle import failed, settled, tried_of
from slipstream.compare.tuned import Tried, Tuning
from slipstream.drafters.kinds import DrafterKind
from slipstream.engine.spec import Choice, chosen
from slipstream.errors import SlipstreamError

TOKENS = 128
PROBED_WITH = {
    DrafterKind.MTP: 4,
    DrafterKind.DFLASH: 8,
    DrafterKind.DSPARK: 8,
    DrafterKind.EAGLE3: 4,
    DrafterKind.DRAFT: 8,
    DrafterKind.SELF: 8,
    DrafterKind.NGRAM: 12,
}
"""Draft tokens of the first launch of each kind."""
_LOOKED_AT = 8
"""Draft tokens up to which speeds are also expected beyond those of the first launch."""
_MORE_PROBES = 3
"""Launches with another number of draft tokens, where the best one seems to lie far from those
measured."""
_EXPECTED_MODES = 4
"""Modes that are confirmed as a rule, plain decoding among them."""

ChooseEngine = Callable[[], Choice]


@dataclass(frozen=True)
class TunePlan:
    """What is tuned, and how.

    Attributes:
        model: file of the target.
        kinds: the kinds of drafter to try.
        prompts: what is answered; the first ones of each kind in the probes, the others after.
        passes: how often each mode is launched to confirm it.
        tokens: length of every answer.
    """

    model: Path
    kinds: tuple[DrafterKind, ...]
    prompts: PromptSet
    passes: int = PASSES
    tokens: int = TOKENS

    @property
    def measured(self) -> list[object]:
        """How it is measured, as a plain value: a result is only good for the same way."""
        texts = [[prompt.text for prompt in prompts] for prompts in self.prompts.kinds]
        return [self.kinds, texts, self.passes, self.tokens]


@dataclass(frozen=True)
class Progress:
    """A launch begins.

    Attributes:
        mode: what is launched.
        confirming: it is measured in turns with others; otherwise it is looked at for once.
        launch: which launch it is, from 1.
        about: how many there will be, about.
        seconds_left: until the end, from what launches took so far; None before the first ended.
    """

    mode: Mode
    confirming: bool
    launch: int
    about: int
    seconds_left: float | None


def kinds_there(model: Path, cancel: CancelToken) -> tuple[DrafterKind, ...]:
    """Every kind of drafter that is there, and n-grams.

    Raises: SlipstreamError, if the model cannot be read; Cancelled.
    """
    return tuple(mode.kind for mode in default_modes(model, cancel) if mode.kind is not None)


def tune(
    plan: TunePlan, cancel: CancelToken, choose_engine: ChooseEngine = chosen
) -> Iterator[Progress | Tuning]:
    """Find how to speculate; the result is yielded at the end. A kind that fails is left out.

    Raises: Cancelled; SlipstreamError, if the model cannot be run without a drafter.
    """
    about = 1 + len(plan.kinds) + _EXPECTED_MODES * plan.passes + 1 if plan.kinds else 1
    bench = _Bench(plan, cancel, choose_engine, about)
    probing = yield from _probe(bench)
    modes = to_confirm(list(probing.outlooks.values()))
    found = (yield from bench.confirm(modes)) if modes else None
    best, reason, confirmed = settled(probing.tried[0], found)
    yield Tuning(
        engine=probing.engine,
        tried=(*probing.told(), *confirmed),
        best=best,
        reason=reason,
        drift=report(found).drift if found else None,
        seconds=time.monotonic() - bench.began,
        when=time.time(),
    )


@dataclass
class _Bench:
    """Measures modes, and knows how far everything is."""

    plan: TunePlan
    cancel: CancelToken
    choose_engine: ChooseEngine
    about: int
    launches: int = 0
    began: float = field(default_factory=time.monotonic)

    def once(self, *modes: Mode) -> Generator[Progress, None, Measured]:
        """Launch each mode once. Raises: Cancelled, SlipstreamError."""
        plan = self.plan
        first = PromptSet(tuple(prompts[:1] for prompts in plan.prompts.kinds))
        looks = Plan(plan.model, modes, first, 1, plan.tokens, check_drift=False)
        return (yield from self._run(looks, confirming=False))

    def confirm(self, modes: tuple[Mode, ...]) -> Generator[Progress, None, Measured]:
        """Measure modes in turns with plain decoding. Raises: Cancelled, SlipstreamError."""
        plan = self.plan
        others = PromptSet(tuple(prompts[1:] or prompts for prompts in plan.prompts.kinds))
        turns = Plan(plan.model, (PLAIN_MODE, *modes), others, plan.passes, plan.tokens)
        self.about = self.launches + turns.launches
        return (yield from self._run(turns, confirming=True))

    def _run(self, plan: Plan, *, confirming: bool) -> Generator[Progress, None, Measured]:
        measured = Measured(plan)
        for event in run(plan, self.cancel, self.choose_engine):
            if isinstance(event, Starting):
                yield self._begin(plan.modes[event.mode], confirming)
            measured.take(event)
        return measured

    def _begin(self, mode: Mode, confirming: bool) -> Progress:
        done, self.launches = self.launches, self.launches + 1
        self.about = max(self.about, self.launches)
        each = (time.monotonic() - self.began) / done if done else None
        left = each * (self.about - done) if each is not None else None
        return Progress(mode, confirming, self.launches, self.about, left)


@dataclass
class _Probing:
    """What single launches showed.

    Attributes:
        plain: answers without a drafter.
        engine: its build.
        tried: every launch, plain decoding first.
        probes: the launches of each kind.
        outlooks: what is expected of each kind that can be run.
    """

    plain: tuple[Sample, ...]
    engine: str
    tried: list[Tried]
    probes: dict[DrafterKind, list[Probe]] = field(default_factory=dict)
    outlooks: dict[DrafterKind, Outlook] = field(default_factory=dict)

    def take(self, kind: DrafterKind, measured: Measured, place: int) -> None:
        """Add a launch of a drafter. Raises: SlipstreamError, if it showed nothing."""
        if place in measured.failed:
            raise measured.failed[place]
        samples, loaded = _samples(measured, place), measured.launched[place].loaded
        probes = self.probes.setdefault(kind, [])
        probes.append(Probe(loaded.spec.draft_tokens, samples))
        limits = (one.longest_draft for one in loaded.drafters if one.kind is kind)
        limit = next(filter(None, limits), _LOOKED_AT)
        longest = max(min(_LOOKED_AT, limit), *(one.draft_tokens for one in probes))
        p_min = loaded.spec.p_min
        self.outlooks[kind] = Outlook(kind, curves(self.plain, probes), longest, p_min)
        self.tried.append(tried_of(report(measured).rows[place], p_min))

    def fail(self, kind: DrafterKind, mode: Mode, error: SlipstreamError) -> None:
        """A drafter could not be run; it is left out from now on."""
        self.outlooks.pop(kind, None)
        self.tried.append(failed(mode, error))

    def told(self) -> Iterator[Tried]:
        """Every launch, the first one of each kind with what is expected of it."""
        left = dict(self.outlooks)
        for one in self.tried:
            outlook = left.pop(one.kind, None) if one.kind else None
            if outlook is None:
                yield one
            else:
                expected = tuple(each.speedup for each in outlook.numbers)
                yield replace(one, expected=expected, reason=outlook_sentence(outlook))


def _probe(bench: _Bench) -> Generator[Progress, None, _Probing]:
    """Launch every kind once, and again what seems best and is only guessed."""
    kinds = bench.plan.kinds
    modes = tuple(Mode(kind, PROBED_WITH[kind]) for kind in kinds)
    measured = yield from bench.once(PLAIN_MODE, *modes)
    plain = tried_of(report(measured).rows[0])
    probing = _Probing(_samples(measured, 0), measured.launched[0].loaded.engine, [plain])
    for place, (kind, mode) in enumerate(zip(kinds, modes, strict=True), 1):
        try:
            probing.take(kind, measured, place)
        except SlipstreamError as error:
            probing.fail(kind, mode, error)
    for _ in range(_MORE_PROBES):
        again = unknown(list(probing.outlooks.values()))
        if again is None or again.kind is None:
            break
        try:
            probing.take(again.kind, (yield from bench.once(again)), 0)
        except SlipstreamError as error:
            probing.fail(again.kind, again, error)
    return probing


def _samples(measured: Measured, place: int) -> tuple[Sample, ...]:
    """Raises: SlipstreamError, if there is none that tells how long a step takes."""
    found = tuple(one for one in measured.samples if one.mode == place and measurable(one))
    if not found:
        raise SlipstreamError(
            "not_measured",
            "The engine does not tell how long a step takes.",
            facts={"mode": str(measured.plan.modes[place])},
            action="Choose another engine, or compare instead of tuning.",
        )
    return found
