"""Differences are only told where they are large and sure."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipstream.compare.runner import PASSES
from slipstream.compare.statistics import Outcome, Pair, interval, outcome, speedup

_SECONDS = st.floats(1e-4, 1.0)
_GROUP = st.dictionaries(st.integers(0, 5), st.tuples(_SECONDS, _SECONDS), min_size=1, max_size=4)
_GROUPS = st.lists(_GROUP, min_size=1)
_KINDS = 8


def noisy(gain: float, noise: float, seed: int, launches: float = 0.0) -> list[dict[int, Pair]]:
    """Four passes of some kinds in which a mode is so many times as fast.

    Args:
        gain: how many times.
        noise: by what share the answers of a launch differ.
        seed: of chance.
        launches: by what share launches differ, with all their answers.
    """
    chance = random.Random(seed)
    factors = [(chance.gauss(1, launches), chance.gauss(1, launches)) for _ in range(PASSES)]

    def pair(number: int) -> Pair:
        before, now = (chance.gauss(0.01, 0.01 * noise) * each for each in factors[number])
        return before, now / gain

    return [{number: pair(number) for number in range(PASSES)} for _ in range(_KINDS)]


def test_one_disturbed_pass_changes_nothing() -> None:
    calm = [dict.fromkeys(range(3), (0.02, 0.01))] * _KINDS
    disturbed = [calm[0] | {1: (0.02, 0.5)}, *calm[1:]]
    assert speedup(disturbed) == speedup(calm) == 2.0


@given(_GROUPS)
def test_a_mode_compared_with_itself_is_as_fast(groups: list[dict[int, Pair]]) -> None:
    alike = [{number: (one, one) for number, (one, _) in group.items()} for group in groups]
    assert speedup(alike) == pytest.approx(1.0)
    assert interval(alike) == pytest.approx((1.0, 1.0))


def test_the_interval_is_the_same_each_time_and_holds_the_speedup() -> None:
    groups = noisy(1.4, 0.03, seed=1)
    low, high = interval(groups)
    assert (low, high) == interval(groups)
    assert low < speedup(groups) < high


@pytest.mark.parametrize("launches", [0.0, 0.03, 0.06])
def test_noise_alone_is_no_difference(launches: float) -> None:
    told = [noisy(1.0, 0.04, seed, launches) for seed in range(40)]
    found = [outcome(speedup(groups), interval(groups)) for groups in told]
    assert found.count(Outcome.SAME) >= 38


def test_launches_that_differ_do_not_hide_a_large_gain() -> None:
    told = [noisy(1.3, 0.04, seed, launches=0.04) for seed in range(40)]
    found = [outcome(speedup(groups), interval(groups)) for groups in told]
    assert found.count(Outcome.FASTER) >= 38


@pytest.mark.parametrize(
    ("gain", "told"), [(1.2, Outcome.FASTER), (1.02, Outcome.SAME), (0.8, Outcome.SLOWER)]
)
def test_what_is_large_and_sure_is_told(gain: float, told: Outcome) -> None:
    groups = noisy(gain, 0.02, seed=3)
    assert outcome(speedup(groups), interval(groups)) is told


@pytest.mark.parametrize("between", [(0.9, 1.6), (1.0, 1.3)])
def test_what_is_not_sure_is_no_difference(between: tuple[float, float]) -> None:
    assert outcome(1.2, between) is Outcome.SAME
