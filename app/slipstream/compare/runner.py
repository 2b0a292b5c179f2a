"""Runs the modes of a comparison one after another, so that none has an advantage.

Each launch answers the prompts of one pass. Passes go through the modes there and back (A B, B A),
so that what drifts hits all alike; each takes other prompts, so that nothing is drafted from an
answer that was given before; and at the end the first launch is repeated to see what drifted.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.compare.modes import Mode
from slipstream.compare.prompts import Prompt, PromptSet
from slipstream.compare.samples import Sample, Token
from slipstream.engine.events import FellBack, Finished, Piece, ReplyNumbers, Source
from slipstream.engine.requests import ChatMessage, Loaded, LoadRequest, ReplyOptions
from slipstream.engine.session import Session
from slipstream.engine.spec import Choice, chosen
from slipstream.errors import SlipstreamError

_WARM_UP = Prompt("warm-up", "Count from one to fifty in words.")
_WARM_UP_TOKENS = 64
"""The first tokens after a launch include what backends set up when they are first used."""
_SEED = 42
PASSES = 4
"""Even, so that no mode comes first more often than the others; chance makes four launches that all
lean to one side in one comparison of eight, and the dead band lets few of these through."""


@dataclass(frozen=True)
class Plan:
    """What is compared.

    Attributes:
        model: file of the target.
        modes: the ways to run it; the first plain one, or else the first, is compared with.
        prompts: what is answered.
        passes: how often every mode is launched.
        tokens: length of every answer.
        check_drift: repeat the first launch at the end.
    """

    model: Path
    modes: tuple[Mode, ...]
    prompts: PromptSet
    passes: int = PASSES
    tokens: int = 256
    check_drift: bool = True

    @property
    def baseline(self) -> int:
        """The mode that the others are compared with."""
        plain = (place for place, mode in enumerate(self.modes) if mode.kind is None)
        return next(plain, 0)

    @property
    def answers(self) -> int:
        """How many answers there will be, if no mode fails."""
        return self.launches * len(self.prompts.kinds)

    @property
    def launches(self) -> int:
        """How often an engine is started, if no mode fails."""
        return self.passes * len(self.modes) + self.check_drift


@dataclass(frozen=True)
class Starting:
    """A launch of a mode begins."""

    mode: int


@dataclass(frozen=True)
class Launched:
    """A mode is running.

    Attributes:
        mode: which.
        loaded: what runs.
        memory: bytes it holds, on all devices together.
    """

    mode: int
    loaded: Loaded
    memory: int


@dataclass(frozen=True)
class Failed:
    """A mode cannot be run, or broke; the others go on."""

    mode: int
    error: SlipstreamError


@dataclass(frozen=True)
class Again:
    """An answer of the mode compared with, after everything else."""

    sample: Sample


RunEvent = Starting | Launched | Failed | Sample | Again


def run(
    plan: Plan, cancel: CancelToken, choose_engine: Callable[[], Choice] = chosen
) -> Iterator[RunEvent]:
    """Measure everything that is planned; what was yielded stays true if it is cancelled.

    Raises: Cancelled; SlipstreamError, if the mode that is compared with cannot be run.
    """
    broken: set[int] = set()
    for launch in _launches(plan):
        if launch.mode in broken:
            continue
        yield Starting(launch.mode)
        try:
            yield from _measure(plan, launch, cancel, choose_engine)
        except SlipstreamError as error:
            if launch.mode == plan.baseline:
                raise
            broken.add(launch.mode)
            yield Failed(launch.mode, error)


@dataclass(frozen=True)
class _Launch:
    """One launch: which mode answers the prompts of which pass."""

    mode: int
    number: int
    again: bool = False


def _launches(plan: Plan) -> Iterator[_Launch]:
    there = range(len(plan.modes))
    for number in range(plan.passes):
        for mode in there if number % 2 == 0 else reversed(there):
            yield _Launch(mode, number)
    if plan.check_drift:
        yield _Launch(plan.baseline, 0, again=True)


def _measure(
    plan: Plan, launch: _Launch, cancel: CancelToken, choose_engine: Callable[[], Choice]
) -> Iterator[RunEvent]:
    mode = plan.modes[launch.mode]
    session = Session(choose_engine)
    try:
        request = LoadRequest(plan.model, mode.spec, mode.draft_tokens, p_min=mode.p_min)
        for event in session.load(request, cancel):
            if isinstance(event, FellBack):
                raise _not_as_asked(mode, event.reason)
        assert session.loaded is not None
        if not launch.again:
            yield Launched(launch.mode, session.loaded, sum(session.holds().values()))
        _answer(session, _WARM_UP, _WARM_UP_TOKENS, cancel)
        for slot, prompt in enumerate(plan.prompts.of_pass(launch.number)):
            tokens, numbers = _answer(session, prompt, plan.tokens, cancel)
            sample = Sample(launch.mode, launch.number, slot, prompt, tokens, numbers)
            yield Again(sample) if launch.again else sample
    finally:
        session.stop()


def _answer(
    session: Session, prompt: Prompt, length: int, cancel: CancelToken
) -> tuple[tuple[Token, ...], ReplyNumbers]:
    """Raises: Cancelled, SlipstreamError."""
    options = ReplyOptions(max_tokens=length, temperature=0.0, seed=_SEED, ignore_eos=True)
    tokens: list[Token] = []
    sent = time.monotonic()
    numbers = ReplyNumbers()
    for event in session.reply([ChatMessage("user", prompt.text)], options, cancel):
        if isinstance(event, Piece):
            drafted = event.source is Source.DRAFTER
            tokens.append(Token(time.monotonic() - sent, event.text, drafted))
        elif isinstance(event, Finished):
            numbers = event.numbers
    cancel.raise_if_cancelled()
    return tuple(tokens), numbers


def _not_as_asked(mode: Mode, reason: str) -> SlipstreamError:
    return SlipstreamError(
        "mode_failed",
        f"{mode} cannot be run here.",
        facts={"mode": str(mode), "reason": reason},
        action="Compare without it.",
    )
