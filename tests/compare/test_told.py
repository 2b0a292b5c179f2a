"""What a comparison came to, in words."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from slipstream.compare.modes import PLAIN_MODE, Mode
from slipstream.compare.prompts import Prompt
from slipstream.compare.report import Difference, Gain, Report, Row, Verdict
from slipstream.compare.sentences import costs, headline, may_help, mode_name, where_it_helps
from slipstream.compare.statistics import Outcome
from slipstream.drafters.kinds import DrafterKind

FASTER, SAME, SLOWER = Outcome.FASTER, Outcome.SAME, Outcome.SLOWER
PLAIN = Row(
    mode=PLAIN_MODE,
    draft_tokens=0,
    tokens_per_second=30.0,
    first_token=0.29,
    prompt_per_second=100.0,
    gain=Gain(1.0, (1.0, 1.0), SAME),
    by_kind={},
    speed_by_kind={},
    acceptance=None,
    tokens_per_step=1.0,
    by_position=(),
    extra_memory=0,
    same_text=8,
    of=8,
    difference=None,
    error=None,
)
MTP = replace(
    PLAIN,
    mode=Mode(DrafterKind.MTP, 3),
    draft_tokens=3,
    gain=Gain(1.87, (1.8, 1.9), FASTER),
    extra_memory=580_000_000,
    first_token=0.31,
)


def gains(**by_kind: tuple[float, Outcome]) -> Mapping[str, Gain]:
    return {
        kind: Gain(speedup, (speedup, speedup), told) for kind, (speedup, told) in by_kind.items()
    }


def test_what_to_do() -> None:
    found = Report((PLAIN, MTP), Verdict(MTP.mode, 3, ""), None)
    assert headline(found) == "Use MTP with 3 draft tokens."
    slow = replace(MTP, gain=Gain(1.01, (0.9, 1.1), SAME))
    assert headline(replace(found, rows=(PLAIN, slow))).startswith("Nothing is faster")
    assert may_help(replace(found, rows=(PLAIN, slow))) == ""
    unsure = replace(MTP, gain=Gain(1.21, (0.93, 1.49), SAME))
    assert may_help(replace(found, rows=(PLAIN, unsure))).startswith("MTP, 3 tokens was 1.21 times")
    assert (mode_name(PLAIN), mode_name(MTP)) == ("Plain", "MTP, 3 tokens")


@pytest.mark.parametrize(
    ("by_kind", "words"),
    [
        (
            gains(code=(2.1, FASTER), rewrite=(2.2, FASTER), story=(1.2, FASTER)),
            "It is faster for all 3 kinds of prompt, most for rewriting, least for stories.",
        ),
        (
            gains(code=(2.1, FASTER), story=(0.8, SLOWER), chat=(1.0, SAME)),
            "It helps for code; it is slower for stories; no sure difference for 1 of 3 kinds.",
        ),
        (
            gains(code=(1.3, FASTER), json=(1.4, FASTER), chat=(0.9, SLOWER)),
            "It helps for code and JSON and tools; it is slower for chat.",
        ),
        (gains(own=(1.3, FASTER)), ""),
    ],
)
def test_for_which_kinds_of_prompt(by_kind: Mapping[str, Gain], words: str) -> None:
    assert where_it_helps(by_kind) == words


def test_what_it_costs() -> None:
    assert costs(MTP, PLAIN) == (
        "The same text in 8 of 8 answers. It needs 580 MB more memory."
        " The first token comes 0.02 s later."
    )
    parted = Difference(Prompt("code", "Write."), 142, "a", "b", "c")
    other = replace(MTP, same_text=7, difference=parted, extra_memory=0, first_token=0.29)
    assert costs(other, PLAIN) == (
        "The same text in 7 of 8 answers; one goes another way from token 143 on."
    )
