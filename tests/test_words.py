"""Sizes, facts and ways to speculate in the words people read."""

import pytest

from slipstream.drafters.kinds import DrafterKind
from slipstream.errors import SlipstreamError
from slipstream.words import SPECULATION, count, facts_lines, size


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


def test_every_way_to_speculate_has_a_name_and_is_explained() -> None:
    assert list(SPECULATION) == ["auto", "off", *DrafterKind]


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0"), (999.6, "1,000"), (16384, "16,384"), (1_048_576, "1,048,576")]
)
def test_numbers_have_their_thousands_apart(number: float, words: str) -> None:
    assert count(number) == words
