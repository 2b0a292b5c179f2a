"""Reports from made-up answers whose numbers are known."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from slipstream.compare.modes import parse_modes
from slipstream.compare.prompts import Prompt, PromptSet
from slipstream.compare.report import Difference, Measured, report
from slipstream.compare.runner import Again, Failed, Plan
from slipstream.compare.samples import Sample, Token
from slipstream.compare.statistics import Outcome
from slipstream.engine.events import ReplyNumbers
from slipstream.errors import SlipstreamError

CODE, STORY = Prompt("code", "Write a function."), Prompt("story", "Tell me a story.")
PROMPTS = PromptSet(((CODE,), (STORY,)))


def answer(
    mode: int, number: int, slot: int, per_token: float, text: str = "abcde", drafted: int = 0
) -> Sample:
    tokens = tuple(
        Token(0.2 + at * per_token, letter, 0 < at <= drafted) for at, letter in enumerate(text)
    )
    numbers = ReplyNumbers(
        tokens=len(text),
        prompt_per_second=100.0,
        drafted=2 * drafted,
        accepted=drafted,
        steps=len(text) - 1 - drafted,
        drafts=drafted,
        by_position=(1.0, 0.0) if drafted else (),
    )
    return Sample(mode, number, slot, (CODE, STORY)[slot], tokens, numbers)


def measured(modes: str, answers: Sequence[Sample]) -> Measured:
    found = Measured(Plan(Path("m.gguf"), parse_modes(modes), PROMPTS, passes=3, tokens=5))
    for one in answers:
        found.take(one)
    return found


def passes(mode: int, code: float, story: float, **more: int) -> list[Sample]:
    return [
        answer(mode, number, slot, (code, story)[slot], **more)  # type: ignore[arg-type]
        for number in range(3)
        for slot in range(2)
    ]


def test_acceptance_by_position_counts_every_drafting_step_once() -> None:
    one, other = answer(1, 0, 0, 0.1, drafted=2), answer(1, 0, 1, 0.1)
    other = replace(
        other, numbers=replace(other.numbers, steps=20, drafts=6, by_position=(0.5, 0.5, 1 / 6))
    )
    (_, row) = report(measured("plain,mtp", [*passes(0, 0.1, 0.1), one, other])).rows
    assert row.by_position == pytest.approx((5 / 8, 3 / 8, 1 / 8))


def test_the_numbers_are_those_of_the_tokens() -> None:
    found = report(measured("plain,mtp", [*passes(0, 0.1, 0.1), *passes(1, 0.05, 0.05, drafted=2)]))
    plain, mtp = found.rows
    assert plain.tokens_per_second == pytest.approx(10)
    assert mtp.tokens_per_second == pytest.approx(20)
    assert mtp.first_token == pytest.approx(0.2)
    assert mtp.acceptance == pytest.approx(0.5)
    assert mtp.tokens_per_step == pytest.approx(2.0)
    assert mtp.by_position == pytest.approx((1.0, 0.0))
    assert plain.acceptance is None
    assert mtp.gain
    assert mtp.gain.speedup == pytest.approx(2.0)
    assert mtp.gain.outcome is Outcome.FASTER
    assert str(found.verdict.use) == "mtp"
    assert "2.00 times as fast" in found.verdict.reason


def test_what_helps_for_one_kind_only_says_so_by_kind() -> None:
    found = report(measured("plain,ngram", [*passes(0, 0.1, 0.1), *passes(1, 0.05, 0.15)]))
    gains = found.rows[1].by_kind
    assert gains["code"].outcome is Outcome.FASTER
    assert gains["story"].outcome is Outcome.SLOWER
    assert found.rows[1].gain
    assert found.rows[1].gain.outcome is Outcome.SAME
    assert str(found.verdict.use) == "plain"
    assert found.verdict.reason.startswith("Nothing is faster than plain")


def test_answers_that_differ_are_counted() -> None:
    other = answer(1, 0, 0, 0.1, text="abxde")
    found = report(measured("plain,mtp", [*passes(0, 0.1, 0.1), other, answer(1, 0, 1, 0.1)]))
    assert (found.rows[1].same_text, found.rows[1].of) == (1, 2)


def test_where_answers_part_is_shown_with_both_ways_on() -> None:
    other = answer(1, 0, 1, 0.1, text="abXY")
    alike = answer(1, 0, 0, 0.1)
    (plain, mtp) = report(measured("plain,mtp", [*passes(0, 0.1, 0.1), alike, other])).rows
    assert plain.difference is None
    assert mtp.difference == Difference(STORY, 2, "ab", "cde", "XY")
    shorter = answer(1, 0, 0, 0.1, text="abc")
    (_, mtp) = report(measured("plain,mtp", [*passes(0, 0.1, 0.1), shorter])).rows
    assert mtp.difference == Difference(CODE, 3, "abc", "de", "")


def test_a_mode_that_failed_is_named_and_the_others_count() -> None:
    found = measured("plain,dflash,mtp", [*passes(0, 0.1, 0.1), *passes(2, 0.05, 0.05)])
    error = SlipstreamError("mode_failed", "dflash cannot be run here.", action="Leave it out.")
    found.take(Failed(1, error))
    told = report(found)
    assert told.rows[1].error is error
    assert told.rows[1].gain is None
    assert str(told.verdict.use) == "mtp"


def test_a_computer_that_became_slower_meanwhile_is_told() -> None:
    found = measured("plain,mtp", passes(0, 0.1, 0.1))
    assert report(found).drift is None
    for slot in range(2):
        found.take(Again(answer(0, 0, slot, 0.11)))
    assert report(found).drift == pytest.approx(0.1)


def test_nothing_measured_is_a_report_all_the_same() -> None:
    found = report(measured("plain,mtp", [answer(0, 0, 0, 0.1, text="a")]))
    assert [row.gain for row in found.rows] == [None, None]
    assert str(found.verdict.use) == "plain"
