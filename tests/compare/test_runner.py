"""Comparing for real: the embedded engine with the demo model."""

from pathlib import Path

import pytest

from slipstream.cancel import Cancelled, CancelToken
from slipstream.compare.document import document
from slipstream.compare.modes import Mode, parse_modes
from slipstream.compare.prompts import Prompt, PromptSet
from slipstream.compare.report import Measured, report
from slipstream.compare.runner import Again, Failed, Launched, Plan, run
from slipstream.compare.samples import Sample
from slipstream.drafters.kinds import DrafterKind
from slipstream.engine.spec import Choice, EngineSpec
from slipstream.errors import SlipstreamError

PROMPTS = PromptSet(
    (
        (
            Prompt("story", "Tell me a story about a fox."),
            Prompt("story", "Tell me a story about a bear."),
        ),
        (Prompt("code", "Write a Python function named merge."),),
    )
)


def plan(demo: Path, modes: str, passes: int = 2, tokens: int = 24) -> Plan:
    return Plan(demo, parse_modes(modes), PROMPTS, passes, tokens)


@pytest.fixture
def one_thread(embedded: EngineSpec) -> Choice:
    return Choice(embedded, threads=1)


def test_modes_take_turns_and_every_number_has_its_tokens(demo: Path, one_thread: Choice) -> None:
    asked = plan(demo, "plain,mtp=2,ngram")
    measured = Measured(asked)
    events = list(run(asked, CancelToken(), lambda: one_thread))
    for event in events:
        measured.take(event)
    assert [event.mode for event in events if isinstance(event, Launched)] == [0, 1, 2, 2, 1, 0]
    samples = [event for event in events if isinstance(event, Sample)]
    assert len(samples) + sum(isinstance(event, Again) for event in events) == asked.answers
    for sample in samples:
        assert len(sample.tokens) == sample.numbers.tokens == 24
        assert sum(token.drafted for token in sample.tokens) == sample.numbers.accepted
        times = [token.at for token in sample.tokens]
        assert times == sorted(times)
    told = report(measured)
    plain, mtp, _ = told.rows
    assert plain.gain
    assert plain.gain.speedup == pytest.approx(1.0)
    assert mtp.draft_tokens == 2
    assert mtp.acceptance
    assert mtp.extra_memory > 0
    assert (mtp.same_text, mtp.of) == (4, 4)
    recorded = document(measured, told)["samples"]
    rates = [(len(one["times"]) - 1) / (one["times"][-1] - one["times"][0]) for one in recorded]
    assert min(rates) < plain.tokens_per_second < max(rates)


def test_a_mode_that_cannot_run_does_not_end_the_others(demo: Path, one_thread: Choice) -> None:
    asked = plan(demo, "plain,eagle3,mtp", passes=1, tokens=16)
    events = list(run(asked, CancelToken(), lambda: one_thread))
    (failed,) = (event for event in events if isinstance(event, Failed))
    assert asked.modes[failed.mode] == Mode(DrafterKind.EAGLE3)
    assert {event.mode for event in events if isinstance(event, Sample)} == {0, 2}


def test_without_the_mode_that_is_compared_with_there_is_nothing(
    tmp_path: Path, one_thread: Choice
) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF")
    with pytest.raises(SlipstreamError):
        list(run(plan(broken, "plain"), CancelToken(), lambda: one_thread))


def test_what_was_measured_before_it_was_cancelled_stays(demo: Path, one_thread: Choice) -> None:
    cancel = CancelToken()
    measured = Measured(plan(demo, "plain,mtp"))
    with pytest.raises(Cancelled):
        for event in run(measured.plan, cancel, lambda: one_thread):
            measured.take(event)
            if len(measured.samples) == 3:
                cancel.cancel()
    assert len(measured.samples) == 3
    assert [row.mode.kind for row in report(measured).rows] == [None, DrafterKind.MTP]
