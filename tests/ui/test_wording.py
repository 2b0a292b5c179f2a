"""Numbers and states in words."""

from pathlib import Path

import pytest

from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecConfig
from slipstream.engine.events import FellBack, ReplyNumbers
from slipstream.engine.requests import Loaded, LoadRequest
from slipstream.ui import wording

MTP = SpecConfig(DrafterKind.MTP, draft_tokens=3)
DFLASH = SpecConfig(DrafterKind.DFLASH, drafter=Path("/m/dflash-x.gguf"), draft_tokens=5)


def loaded(spec: SpecConfig, fallback: str | None = None) -> Loaded:
    return Loaded(LoadRequest(Path("m.gguf")), "M", 4096, spec, (), fallback, "engine 1")


def plain_spaces(text: str) -> str:
    return text.replace("\u202f", " ")


def test_the_line_under_a_reply_with_a_drafter() -> None:
    numbers = ReplyNumbers(
        tokens=38, tokens_per_second=63.4, first_token=0.31, drafted=50, accepted=39, steps=12
    )
    line = wording.speed_line(numbers, MTP, "stop")
    assert plain_spaces(line) == (
        "63.4 tok/s · 38 tokens · first token 0.31 s · 78 % accepted · MTP, 3 draft tokens"
    )


def test_the_line_under_a_plain_reply() -> None:
    numbers = ReplyNumbers(tokens=1, tokens_per_second=33.2, first_token=0.3)
    line = wording.speed_line(numbers, PLAIN, "cancelled")
    assert line == "33.2 tok/s · 1 token · first token 0.30 s · no drafter · stopped"


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (MTP, "MTP head inside the model, 3 draft tokens."),
        (DFLASH, "DFlash drafter dflash-x.gguf, 5 draft tokens."),
        (PLAIN, "Plain decoding, no drafter."),
    ],
)
def test_how_a_model_speculates(spec: SpecConfig, sentence: str) -> None:
    assert wording.speculation(loaded(spec)) == sentence


def test_a_fallback_is_what_the_sentence_says() -> None:
    assert wording.speculation(loaded(PLAIN, "The drafter does not fit.")) == (
        "The drafter does not fit."
    )


def test_large_numbers_have_their_thousands_apart() -> None:
    assert wording.speed(1840.2) == "1,840"
    assert wording.speed(63.44) == "63.4"


ONE = SpecConfig(DrafterKind.MTP, draft_tokens=1)
MIXED = SpecConfig(DrafterKind.MTP, draft_tokens=3, with_ngram=True)
REASON = "The engine ended by itself."


@pytest.mark.parametrize(
    ("wanted", "now", "tried", "runs"),
    [
        (
            MTP,
            ONE,
            "It did not work with 3 draft tokens (The engine ended by itself). "
            "Trying with 1 draft token.",
            "Running with 1 draft token: The engine ended by itself.",
        ),
        (
            ONE,
            PLAIN,
            "It did not work with 1 draft token (The engine ended by itself). "
            "Trying without a drafter.",
            "Running without a drafter: The engine ended by itself.",
        ),
        (
            MIXED,
            MTP,
            "It did not work with n-grams (The engine ended by itself). Trying without n-grams.",
            "Running without n-grams: The engine ended by itself.",
        ),
        (
            PLAIN,
            PLAIN,
            "It did not work with this much context (The engine ended by itself). "
            "Trying with 8,192 tokens of context.",
            "Running without a drafter and with 8,192 tokens of context: "
            "The engine ended by itself.",
        ),
    ],
)
def test_each_rung_of_the_ladder_has_its_words(
    wanted: SpecConfig, now: SpecConfig, tried: str, runs: str
) -> None:
    fall = FellBack(wanted, now, 8192, "engine_exited", REASON)
    assert wording.next_attempt(fall) == tried
    assert wording.attempt_that_works(fall) == runs


def test_a_reply_without_a_token_has_no_numbers() -> None:
    assert wording.speed_line(ReplyNumbers(), MTP, "stop") == ""
    assert wording.speed_line(ReplyNumbers(), MTP, "failed") == "interrupted"


def test_a_restart_says_what_runs_now() -> None:
    assert wording.restarted(DFLASH) == "Restarted with DFlash, 5 draft tokens."
    assert wording.restarted(PLAIN) == "Restarted without a drafter."


def test_a_reply_whose_way_is_not_known_has_a_line_all_the_same() -> None:
    line = wording.speed_line(ReplyNumbers(tokens=2, tokens_per_second=3.0), None, "stop")
    assert line == "3.0 tok/s · 2 tokens · first token 0.00 s"
