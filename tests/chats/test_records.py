"""A chat's title comes from its first message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipstream.chats.records import title_of


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Hello", "Hello"),
        ("  two\n lines\t here ", "two lines here"),
        ("", ""),
        ("a" * 60, "a" * 60),
        ("a" * 61, "a" * 59 + "…"),
        (
            "Explain how speculative decoding works, with an example for a beginner, please",
            "Explain how speculative decoding works, with an example for…",
        ),
    ],
)
def test_a_title_is_one_line_cut_between_words(text: str, title: str) -> None:
    assert title_of(text) == title


@given(st.text())
def test_a_title_always_fits(text: str) -> None:
    title = title_of(text)
    assert len(title) <= 60
    assert len(title.splitlines()) <= 1
    assert bool(title) == bool(text.strip())
