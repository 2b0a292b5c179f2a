"""Numbers and states in words."""

from pathlib import Path

import pytest

from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecConfig
from slipstream.engine.events import ReplyNumbers
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
    assert plain_spaces(wording.count(1840)) == "1 840"
    assert plain_spaces(wording.speed(1840.2)) == "1 840"
    assert wording.speed(63.44) == "63.4"
    assert wording.context_pill(4096) == "4k context"
    assert plain_spaces(wording.context_pill(5000)) == "5 000 context"
