"""Tuning for real: the embedded engine with the demo model, and a few tokens."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from slipstream.cancel import Cancelled, CancelToken
from slipstream.compare.modes import PLAIN_MODE, Mode
from slipstream.compare.prompts import Prompt, PromptSet
from slipstream.compare.report import Measured
from slipstream.compare.runner import Plan, Starting, run
from slipstream.compare.tuned import Tuning
from slipstream.compare.tuner import PROBED_WITH, Progress, TunePlan, kinds_there, tune
from slipstream.drafters.kinds import DrafterKind
from slipstream.engine.spec import Choice, EngineSpec
from slipstream.errors import SlipstreamError

MTP, NGRAM, EAGLE3 = DrafterKind.MTP, DrafterKind.NGRAM, DrafterKind.EAGLE3
PROMPTS = PromptSet(
    (
        (
            Prompt("story", "Tell me a story about a fox."),
            Prompt("story", "Tell me a story about a bear."),
        ),
    )
)


@pytest.fixture
def one_thread(embedded: EngineSpec) -> Choice:
    return Choice(embedded, threads=1)


def plan(model: Path, *kinds: DrafterKind) -> TunePlan:
    return TunePlan(model, kinds, PROMPTS, passes=2, tokens=32)


def split(events: Sequence[Progress | Tuning]) -> tuple[list[Progress], Tuning]:
    *steps, found = events
    assert isinstance(found, Tuning)
    return [one for one in steps if isinstance(one, Progress)], found


def test_every_kind_has_a_number_to_begin_with(demo: Path) -> None:
    assert set(PROBED_WITH) == set(DrafterKind)
    there = kinds_there(demo, CancelToken())
    assert [str(kind) for kind in there] == ["mtp", "dflash", "draft", "ngram"]


def test_kinds_are_launched_once_and_what_seems_best_is_confirmed(
    demo: Path, one_thread: Choice
) -> None:
    steps, found = split(list(tune(plan(demo, MTP, EAGLE3), CancelToken(), lambda: one_thread)))
    assert [one.mode for one in steps[:3]] == [PLAIN_MODE, Mode(MTP, 4), Mode(EAGLE3, 4)]
    assert [one.launch for one in steps] == list(range(1, len(steps) + 1))
    assert all(one.about >= one.launch for one in steps)
    assert steps[0].seconds_left is None
    assert all(one.seconds_left for one in steps[1:])
    plain, mtp, eagle3 = found.tried[:3]
    assert plain.tokens_per_second > 0
    assert mtp.by_position == tuple(sorted(mtp.by_position, reverse=True))
    assert len(mtp.by_position) == 4
    assert len(mtp.expected) == 8
    assert mtp.reason
    assert "drafter" in eagle3.reason
    assert not eagle3.tokens_per_second
    confirmed = [one for one in found.tried if one.confirmed]
    assert [one.confirming for one in steps].count(True) == 2 * len(confirmed) + bool(confirmed)
    assert found.best.kind in (None, MTP)
    if found.best.kind:
        assert found.best.speedup in [one.speedup for one in confirmed]
    assert found.reason
    assert found.engine == one_thread.engine.build
    assert found.seconds > 0


def test_where_nothing_is_accepted_plain_decoding_is_best(demo: Path, one_thread: Choice) -> None:
    """There is nothing to repeat in the beginning of a story."""
    steps, found = split(list(tune(plan(demo, NGRAM), CancelToken(), lambda: one_thread)))
    assert [one.mode for one in steps] == [PLAIN_MODE, Mode(NGRAM, 12)]
    assert found.best.kind is None
    assert found.best.tokens_per_second == found.tried[0].tokens_per_second
    assert "nothing is faster" in found.reason
    assert found.drift is None


def test_a_drafter_can_be_told_to_propose_only_what_is_likely(
    demo: Path, one_thread: Choice
) -> None:
    modes = (Mode(MTP, 4), Mode(MTP, 4, p_min=0.6))
    looks = Plan(demo, modes, PROMPTS, 1, 32, check_drift=False)
    measured, started = Measured(looks), []
    for event in run(looks, CancelToken(), lambda: one_thread):
        measured.take(event)
        if isinstance(event, Starting):
            started.append(event.mode)
    assert started == [0, 1]
    assert not measured.again
    assert [one.loaded.spec.p_min for one in measured.launched.values()] == [0.0, 0.6]
    always, likely = (one.numbers for one in measured.samples)
    assert likely.drafted < always.drafted
    assert likely.acceptance
    assert always.acceptance
    assert likely.acceptance > always.acceptance


def test_it_ends_when_it_is_cancelled(demo: Path, one_thread: Choice) -> None:
    cancel = CancelToken()
    seen: list[Progress | Tuning] = []
    with pytest.raises(Cancelled):
        for event in tune(plan(demo, MTP), cancel, lambda: one_thread):
            seen.append(event)
            if len(seen) == 2:
                cancel.cancel()
    assert len(seen) == 2


def test_without_plain_decoding_there_is_nothing(tmp_path: Path, one_thread: Choice) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF")
    with pytest.raises(SlipstreamError):
        list(tune(plan(broken, NGRAM), CancelToken(), lambda: one_thread))
