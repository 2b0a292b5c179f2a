"""What is worth confirming, from answers whose acceptance and step times are known."""

from collections.abc import Sequence

from hypothesis import assume, given
from hypothesis import strategies as st

from made_up_answers import answer, answers
from slipstream.compare.candidates import Outlook, best_of, outlook_sentence, to_confirm, unknown
from slipstream.compare.modes import Mode
from slipstream.compare.probe import Probe, curves
from slipstream.drafters.kinds import DrafterKind

PLAIN = answers((), 0.10)
MTP, DFLASH, NGRAM = DrafterKind.MTP, DrafterKind.DFLASH, DrafterKind.NGRAM


def outlook(kind: DrafterKind, accepted: Sequence[float], seconds: float, **more: float) -> Outlook:
    """Of a drafter that was launched with as many draft tokens as ``accepted`` has."""
    probe = Probe(len(accepted), answers(accepted, seconds))
    return Outlook(kind, curves(PLAIN, [probe]), max(8, len(accepted)), **more)


GOOD = outlook(MTP, (0.8, 0.6, 0.4, 0.2), 0.16)
USELESS = outlook(NGRAM, (0.02,), 0.11)


def test_the_best_number_of_draft_tokens_is_where_one_more_costs_more_than_it_brings() -> None:
    speedups = [(1 + sum((0.8, 0.6, 0.4, 0.2)[:n])) / (1 + 0.15 * n) for n in range(1, 5)]
    best = best_of([GOOD])
    assert best is not None
    assert best.draft_tokens == 1 + speedups.index(max(speedups)) == 3


def test_neighbours_that_should_be_about_as_fast_are_confirmed_too() -> None:
    assert to_confirm([GOOD, USELESS]) == (Mode(MTP, 3), Mode(MTP, 4), Mode(MTP, 2))
    steep = outlook(MTP, (1.0, 1.0, 0.0, 0.0), 0.18)
    assert to_confirm([steep]) == (Mode(MTP, 2),)


def test_another_kind_that_should_be_about_as_fast_is_confirmed_too() -> None:
    other = outlook(DFLASH, (1.0, 1.0, 0.0, 0.0), 0.21)
    modes = to_confirm([outlook(MTP, (1.0, 1.0, 0.0, 0.0), 0.20), other])
    assert modes == (Mode(MTP, 2), Mode(DFLASH, 2))


def test_where_draft_tokens_are_expensive_only_likely_ones_are_tried_too() -> None:
    dear = outlook(MTP, (1.0, 1.0, 0.5, 0.5), 0.24)
    assert to_confirm([dear])[-1] == Mode(MTP, 4, p_min=0.6)
    stopping = outlook(MTP, (1.0, 1.0, 0.5, 0.5), 0.24, p_min=0.5)
    grams = outlook(NGRAM, (1.0, 1.0, 0.5, 0.5), 0.24)
    assert all(mode.p_min is None for mode in (*to_confirm([stopping]), *to_confirm([grams])))


def test_what_does_not_gain_is_dropped_with_a_sentence() -> None:
    assert to_confirm([USELESS]) == ()
    assert outlook_sentence(USELESS).startswith("N-gram should not be faster than plain decoding")
    assert "at best 0.93 times as fast, with 1 draft token" in outlook_sentence(USELESS)
    idle = outlook(NGRAM, (0.0,), 0.10)
    assert outlook_sentence(idle) == "Nothing that N-gram proposed was accepted."
    assert outlook_sentence(GOOD) == (
        "MTP with 3 draft tokens should be 1.93 times as fast as plain decoding."
    )


def test_what_is_much_slower_for_a_kind_of_prompt_is_not_confirmed() -> None:
    probe = Probe(2, (answer(0, (1.0, 1.0), 0.18), answer(1, (0.2, 0.0), 0.18)))
    uneven = Outlook(MTP, curves(PLAIN, [probe]), 2)
    assert to_confirm([uneven]) == ()
    told = outlook_sentence(uneven)
    assert told.startswith("MTP with 2 draft tokens should be faster on the whole, but slower for")
    assert "stories (0.67 times as fast)" in told


def test_what_is_only_guessed_is_launched_again() -> None:
    """Launched with 8 draft tokens, 1 seems best; the time of such a step is only a guess."""
    accepted = (0.6, 0.1, 0, 0, 0, 0, 0, 0)
    first, second = Probe(8, answers(accepted, 0.18)), Probe(1, answers((0.6,), 0.12))
    far = Outlook(DFLASH, curves(PLAIN, [first]), 8)
    assert unknown([far]) == Mode(DFLASH, 1)
    assert unknown([far, GOOD]) == Mode(MTP, 3)  # what seems best of all
    assert unknown([Outlook(DFLASH, curves(PLAIN, [first, second]), 8)]) is None
    assert unknown([USELESS]) is None


def test_what_seems_best_with_as_much_as_was_drafted_is_launched_with_more() -> None:
    probe = Probe(4, answers((1.0, 0.9, 0.9, 0.9), 0.16))
    assert unknown([Outlook(MTP, curves(PLAIN, [probe]), 8)]) == Mode(MTP, 8)
    assert unknown([Outlook(MTP, curves(PLAIN, [probe]), 4)]) is None


@given(
    st.sampled_from((4, 8)),
    st.floats(0.3, 0.98),
    st.floats(0.0, 0.1),
    st.floats(0.002, 0.04),
)
def test_what_is_confirmed_holds_one_of_the_best(
    begin: int, acceptance: float, first: float, each: float
) -> None:
    """Of a drafter whose tokens are accepted one like the other, and cost the same except for the
    first one; without noise, and with three launches more at most."""

    def launched(number: int) -> Probe:
        accepted = [round(acceptance**at, 2) for at in range(1, number + 1)]
        return Probe(number, answers(accepted, 0.10 + first + each * number))

    def speedup(number: int) -> float:
        return curves(PLAIN, [launched(number)]).all.speedup(number)

    there = {number: speedup(number) for number in range(1, 9)}
    best = max(there.values())
    assume(best >= 1.06)
    probes = [launched(begin)]
    for _ in range(3):
        again = unknown([Outlook(MTP, curves(PLAIN, probes), 8)])
        if again is not None and again.draft_tokens is not None:
            probes.append(launched(again.draft_tokens))
    modes = to_confirm([Outlook(MTP, curves(PLAIN, probes), 8)])
    reached = [there[mode.draft_tokens] for mode in modes if mode.draft_tokens and not mode.p_min]
    assert max(reached, default=0.0) >= 0.97 * best
