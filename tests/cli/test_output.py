"""What is printed is harmless and readable."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipstream.cli import output
from slipstream.errors import SlipstreamError


@given(st.text())
def test_a_model_cannot_drive_the_terminal(text: str) -> None:
    shown = output.harmless(text)
    assert not any(ord(char) < 32 and char not in "\n\t" for char in shown)
    assert "\x7f" not in shown
    assert "\x9b" not in shown


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1 KiB"), (5 * 2**20, "5 MiB"),
     (3 * 2**30 + 2**29, "3.5 GiB"), (2**41, "2048.0 GiB")],
)  # fmt: skip
def test_sizes(number: int, words: str) -> None:
    assert output.size(number) == words


ERROR = SlipstreamError(
    "not_enough_memory",
    "This model needs more memory than is free.",
    facts={"needed": 2 * 2**30, "held_by": None, "layers": 3},
    action="Choose a smaller one.",
)


def test_an_error_is_told_with_its_facts_and_the_action(capsys: pytest.CaptureFixture[str]) -> None:
    output.show_error(ERROR, as_json=False)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "This model needs more memory than is free.",
        "  needed: 2.0 GiB",
        "  layers: 3",
        "Choose a smaller one.",
    ]


def test_an_error_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    output.show_error(ERROR, as_json=True)
    printed = capsys.readouterr()
    assert printed.err == ""
    assert json.loads(printed.out) == {"error": ERROR.to_json()}
