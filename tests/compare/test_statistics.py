"""Differences are only told where they are large and sure."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipstream.compare.statistics import Outcome, Pair, interval, outcome, speedup

_SECONDS = st.floats(1e-4, 1.0)
_GROUPS = st.lists(st.lists(st.tuples(_SECONDS, _SECONDS), min_size=1, max_size=4), min_size=1)


def noisy(gain: float, noise: float, seed: int, kinds: int = 8) -> list[list[Pair]]:
    """Three passes of some kinds in which a mode is so many times as fast."""
    chance = random.Random(seed)

    def pair() -> Pair:
        return chance.gauss(0.01, 0.01 * noise), chance.gauss(0.01, 0.01 * noise) / gain

    return [[pair() for _ in range(3)] for _ in range(kinds)]


def test_one_disturbed_pass_changes_nothing() -> None:
    calm = [[(0.02, 0.01)] * 3] * 8
    disturbed = [[(0.02, 0.01), (0.02, 0.5), (0.02, 0.01)], *calm[1:]]
    assert speedup(disturbed) == speedup(calm) == 2.0


@given(_GROUPS)
def test_a_mode_compared_with_itself_is_as_fast(groups: list[list[Pair]]) -> None:
    alike = [[(one, one) for one, _ in group] for group in groups]
    assert speedup(alike) == pytest.approx(1.0)
    assert interval(alike) == pytest.approx((1.0, 1.0))


def test_the_interval_is_the_same_each_time_and_holds_the_speedup() -> None:
    groups = noisy(1.4, 0.03, seed=1)
    low, high = interval(groups)
    assert (low, high) == interval(groups)
    assert low < speedup(groups) < high


def test_noise_alone_is_no_difference() -> None:
    told = [noisy(1.0, 0.04, seed) for seed in range(40)]
    found = [outcome(speedup(groups), interval(groups)) for groups in told]
    assert found.count(Outcome.SAME) >= 38


@pytest.mark.parametrize(
    ("gain", "told"), [(1.2, Outcome.FASTER), (1.02, Outcome.SAME), (0.8, Outcome.SLOWER)]
)
def test_what_is_large_and_sure_is_told(gain: float, told: Outcome) -> None:
    groups = noisy(gain, 0.02, seed=3)
    assert outcome(speedup(groups), interval(groups)) is told


@pytest.mark.parametrize("between", [(0.9, 1.6), (1.0, 1.3)])
def test_what_is_not_sure_is_no_difference(between: tuple[float, float]) -> None:
    assert outcome(1.2, between) is Outcome.SAME
