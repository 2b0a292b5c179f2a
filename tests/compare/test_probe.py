"""What one launch tells about other numbers of draft tokens, from answers whose acceptance and step
times are known."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_up_answers import KINDS, answer, answers
from slipstream.compare.probe import Probe, curves, measurable

PLAIN = answers((), 0.10)
ACCEPTED = (0.8, 0.6, 0.5, 0.4)


def test_the_speed_is_what_a_step_yields_over_what_it_takes() -> None:
    found = curves(PLAIN, [Probe(4, answers(ACCEPTED, 0.18))]).all
    assert found.accepted == pytest.approx(ACCEPTED)
    assert found.step(0) == pytest.approx(0.10)
    assert found.step(4) == pytest.approx(0.18)
    assert found.step(1) == pytest.approx(0.12)
    assert found.speed(0) == pytest.approx(10)
    assert found.speed(2) == pytest.approx((1 + 0.8 + 0.6) / 0.14)
    assert found.speedup(4) == pytest.approx(3.3 / 1.8)


@given(
    st.lists(st.integers(0, 100), min_size=1, max_size=12).map(lambda n: sorted(n, reverse=True)),
    st.floats(0.001, 0.2),
    st.floats(0.0, 0.1),
    st.data(),
)
def test_acceptance_and_step_times_are_found_again(
    counts: list[int], alone: float, each: float, data: st.DataObject
) -> None:
    accepted = [count / 100 for count in counts]
    most = len(accepted)
    probe = Probe(most, answers(accepted, alone + each * most))
    found = curves(answers((), alone), [probe]).all
    number = data.draw(st.integers(0, most))
    speed = (1 + sum(accepted[:number])) / (alone + each * number)
    assert found.speed(number) == pytest.approx(speed)


def test_beyond_what_was_drafted_acceptance_falls_on_as_it_fell() -> None:
    found = curves(PLAIN, [Probe(2, answers((0.8, 0.4), 0.14))]).all
    assert found.tokens_per_step(4) == pytest.approx(1 + 0.8 + 0.4 + 0.2 + 0.1)
    assert found.step(4) == pytest.approx(0.18)


def test_a_second_launch_corrects_the_step_times_between() -> None:
    """The first draft token costs more than the others."""
    probes = [Probe(4, answers(ACCEPTED, 0.18)), Probe(1, answers((0.8,), 0.16))]
    found = curves(PLAIN, probes).all
    assert found.step(1) == pytest.approx(0.16)
    assert found.step(2) == pytest.approx(0.16 + 0.02 / 3)
    assert found.accepted == pytest.approx(ACCEPTED)


def test_one_disturbed_answer_changes_no_step_time() -> None:
    calm, disturbed = answers(ACCEPTED, 0.18), answer(1, ACCEPTED, 3.0)
    found = curves(PLAIN, [Probe(4, (calm[0], disturbed, calm[2]))])
    assert found.all.step(4) == pytest.approx(0.18)
    assert found.by_kind["story"].step(4) == pytest.approx(0.18)


def test_what_is_drafted_for_one_kind_of_prompt_only_costs_the_others_nothing() -> None:
    """As n-grams do: nothing is proposed where nothing repeats."""
    code = answer(0, (0.9, 0.9), 0.2)
    idle = (answer(1, (), 0.1), answer(2, (), 0.1))
    found = curves(PLAIN, [Probe(2, (code, *idle))])
    assert found.by_kind["code"].speedup(2) == pytest.approx(2.8 / 2)
    assert found.by_kind["story"].speedup(2) == pytest.approx(1.0)
    assert found.all.tokens_per_step(2) == pytest.approx(1 + 2 * 0.3)
    assert found.slowest(2)[0] in KINDS[1:]


def test_a_drafter_that_never_drafted_so_far_is_not_expected_to() -> None:
    found = curves(PLAIN, [Probe(4, answers((0.5, 0.5), 0.14))]).all
    assert found.accepted == pytest.approx((0.5, 0.5, 0, 0))
    assert found.tokens_per_step(6) == pytest.approx(2.0)


def test_expensive_is_what_costs_a_quarter_of_a_plain_step_or_more() -> None:
    assert not curves(PLAIN, [Probe(4, answers(ACCEPTED, 0.19))]).all.expensive
    assert curves(PLAIN, [Probe(4, answers(ACCEPTED, 0.21))]).all.expensive


def test_an_engine_that_counts_nothing_tells_no_step_time() -> None:
    silent = replace(PLAIN[0], numbers=replace(PLAIN[0].numbers, steps=0))
    assert measurable(PLAIN[0])
    assert not measurable(silent)
    assert not measurable(replace(PLAIN[0], tokens=PLAIN[0].tokens[:1]))
