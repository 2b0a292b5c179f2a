"""What to use, from confirmations whose speeds are known."""

from pathlib import Path

import pytest

from made_up_answers import KINDS, answer
from slipstream.compare.modes import PLAIN_MODE, Mode
from slipstream.compare.prompts import PromptSet
from slipstream.compare.report import Measured
from slipstream.compare.runner import Failed, Launched, Plan
from slipstream.compare.settle import settled
from slipstream.compare.tuned import Best, Tried
from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecConfig
from slipstream.engine.requests import Loaded, LoadRequest
from slipstream.errors import SlipstreamError

MTP = DrafterKind.MTP
ALONE = Tried("plain", None, 0, 0.0, confirmed=False, tokens_per_second=9.5)


def confirmed(*ways: tuple[Mode, float, float]) -> Measured:
    """Plain decoding with 0.1 seconds per token, and modes with other times: in stories, and in
    everything else."""
    everything = ((PLAIN_MODE, 0.1, 0.1), *ways)
    modes = tuple(mode for mode, _, _ in everything)
    made = Measured(Plan(Path("m.gguf"), modes, PromptSet(()), passes=1))
    for place, (mode, stories, others) in enumerate(everything):
        spec = SpecConfig(mode.kind, None, mode.draft_tokens or 0, mode.p_min or 0.0)
        loaded = Loaded(
            LoadRequest(Path("m.gguf")), "M", 4096, spec if mode.kind else PLAIN, (), None, "b1"
        )
        made.take(Launched(place, loaded, 0))
        for slot, kind in enumerate(KINDS):
            made.take(answer(slot, (), stories if kind == "story" else others, place))
    return made


def test_the_fastest_that_was_confirmed_is_used() -> None:
    found = confirmed(
        (Mode(MTP, 2), 0.06, 0.06), (Mode(MTP, 3), 0.05, 0.05), (Mode(MTP, 4), 0.09, 0.06)
    )
    best, reason, tried = settled(ALONE, found)
    assert (best.kind, best.draft_tokens, best.p_min) == (MTP, 3, 0.0)
    assert (best.tokens_per_second, best.speedup) == pytest.approx((20, 2))
    assert best.interval == pytest.approx((2, 2))
    assert reason == (
        "MTP with 3 draft tokens is 2.00 times as fast as plain decoding (between 2.00 and 2.00)"
        " on this computer."
    )
    assert [one.mode for one in tried] == ["plain", "mtp=2", "mtp=3", "mtp=4"]
    assert all(one.confirmed for one in tried)


def test_stopping_early_is_told() -> None:
    best, reason, _ = settled(ALONE, confirmed((Mode(MTP, 4, 0.6), 0.05, 0.05)))
    assert (best.draft_tokens, best.p_min) == (4, 0.6)
    assert reason.startswith("MTP with 4 draft tokens and a p-min of 0.6 is 2.00 times")


def test_what_is_slower_for_a_kind_of_prompt_is_not_used() -> None:
    """By more than the dead band: 0.105 seconds instead of 0.1 are within it."""
    harmful, harmless = Mode(MTP, 4), Mode(MTP, 2)
    found = confirmed((harmful, 0.12, 0.04), (harmless, 0.105, 0.06))
    best, _, tried = settled(ALONE, found)
    assert best.draft_tokens == 2
    assert tried[1].reason.endswith("but slower for stories (0.83 times as fast).")


def test_nothing_is_better_than_something_that_harms() -> None:
    best, reason, _ = settled(ALONE, confirmed((Mode(MTP, 4), 0.12, 0.04)))
    assert (best.kind, best.draft_tokens, best.speedup, best.interval) == (None, 0, 1.0, (1.0, 1.0))
    assert best.tokens_per_second == pytest.approx(10)
    assert reason.startswith("Plain decoding is best here: MTP with 4 draft tokens is 1.88 times")
    assert reason.endswith("but slower for stories (0.83 times as fast).")


def test_a_gain_within_the_dead_band_is_none() -> None:
    best, reason, tried = settled(ALONE, confirmed((Mode(MTP, 2), 0.097, 0.097)))
    assert best.kind is None
    assert reason == "Plain decoding is best here: nothing is faster by 5 % or more."
    assert tried[1].reason == "No difference that is large and sure."


def test_a_mode_that_broke_meanwhile_says_why() -> None:
    found = confirmed((Mode(MTP, 2), 0.05, 0.05), (Mode(MTP, 3), 0.05, 0.05))
    found.take(Failed(2, SlipstreamError("engine_crashed", "The engine crashed.", action="Go on.")))
    best, _, tried = settled(ALONE, found)
    assert best.draft_tokens == 2
    assert (tried[2].reason, tried[2].tokens_per_second) == ("The engine crashed.", 0.0)


def test_without_anything_to_confirm_plain_decoding_is_used() -> None:
    best, reason, tried = settled(ALONE, None)
    assert best == Best(None, 0, 0.0, 9.5, 1.0, (1.0, 1.0))
    assert reason == "Plain decoding is best here: nothing is faster by 5 % or more."
    assert tried == ()
