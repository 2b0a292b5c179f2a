"""Sizes, facts and ways to speculate in the words people read."""

import pytest

from slipstream.drafters.kinds import DrafterKind
from slipstream.errors import SlipstreamError
from slipstream.words import SPECULATION, context_size, context_words, count, facts_lines, far, size


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1 kB"), (999_499, "999 kB"), (999_500, "1 MB"),
     (5_000_000, "5 MB"), (4_980_000_000, "5.0 GB"), (2_048_000_000_000, "2,048.0 GB")],
)  # fmt: skip
def test_sizes(number: int, words: str) -> None:
    assert size(number) == words


def test_facts_read_like_a_form() -> None:
    error = SlipstreamError(
        "x",
        "It does not fit.",
        facts={
            "needed": 5_000_000_000,
            "missing": "part two",
            "held_by": None,
            "log": "a\nb",
            "engine_message": "no\nreally",
            "context": 16384,
            "seconds": 60.0,
        },
        action="Go.",
    )
    assert facts_lines(error) == (
        "Needed: 5.0 GB",
        "Missing: part two",
        "The engine says: no really",
        "Context: 16,384",
        "Seconds: 60",
    )


def test_a_fact_stays_in_its_line_and_turns_nothing_round() -> None:
    error = SlipstreamError("x", "It failed.", facts={"reason": "a\r\n\tb\u202ec"}, action="Wait.")
    assert facts_lines(error) == ("Reason: a b\\u202ec",)


def test_every_way_to_speculate_has_a_name_and_is_explained() -> None:
    assert list(SPECULATION) == ["auto", "off", *DrafterKind]


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0"), (999.6, "1,000"), (16384, "16,384"), (1_048_576, "1,048,576")]
)
def test_numbers_have_their_thousands_apart(number: float, words: str) -> None:
    assert count(number) == words


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (512, "512 tokens of context"), (1024, "1k context"), (16_384, "16k context"),
        (40_960, "40k context"), (5000, "5,000 tokens of context"), (1 << 20, "1M context"),
        (3 << 19, "1536k context"),
    ],
)  # fmt: skip
def test_contexts_as_people_say_them(tokens: int, words: str) -> None:
    assert context_words(tokens) == words
    assert context_words(tokens).startswith(context_size(tokens))


@pytest.mark.parametrize(
    ("done", "total", "words"),
    [
        (3_100_000_000, 5_000_000_000, "3.1 of 5.0 GB"),
        (620_000_000, 5_000_000_000, "620 MB of 5.0 GB"),
        (0, 5_000_000_000, "0 of 5.0 GB"),
        (0, 0, "0 of 0 bytes"),
    ],
)
def test_how_far_it_is(done: int, total: int, words: str) -> None:
    assert far(done, total) == words
