"""What is printed is harmless and readable."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from slipstream.cli import output
from slipstream.errors import SlipstreamError


@given(st.text())
def test_a_model_cannot_drive_the_terminal(text: str) -> None:
    shown = output.harmless(text)
    assert not any(ord(char) < 32 and char not in "\n\t" for char in shown)
    assert "\x7f" not in shown
    assert "\x9b" not in shown
    assert "\u202e" not in shown


def test_a_name_cannot_turn_round_what_follows_it() -> None:
    assert output.harmless("a\u202efugg.exe") == "afugg.exe"
    assert output.harmless("\u200fשלום") == "\u200fשלום"


ERROR = SlipstreamError(
    "not_enough_memory",
    "This model needs more memory than is free.",
    facts={"needed": 2_000_000_000, "held_by": None, "layers": 3},
    action="Choose a smaller one.",
)


def test_an_error_is_told_with_its_facts_and_the_action(capsys: pytest.CaptureFixture[str]) -> None:
    output.show_error(ERROR, as_json=False)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "This model needs more memory than is free.",
        "  Needed: 2.0 GB",
        "  Layers: 3",
        "Choose a smaller one.",
    ]


def test_an_error_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    output.show_error(ERROR, as_json=True)
    printed = capsys.readouterr()
    assert printed.err == ""
    assert json.loads(printed.out) == {"error": ERROR.to_json()}


EVIL = SlipstreamError(
    "x",
    "\x1b[2J[red]evil[/red]\x07.gguf [/nonsense]",
    facts={"path": "\x1b]0;title\x07[bold]file[/bold]"},
    action="\x9b2JDo it.",
)


def test_files_and_engines_can_neither_drive_the_terminal_nor_style_the_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output.show_error(EVIL, as_json=False)
    assert capsys.readouterr().err.splitlines() == [
        "[2J[red]evil[/red].gguf [/nonsense]",
        r"  File: \x1b]0;title\x07[bold]file[/bold]",
        "2JDo it.",
    ]


def test_nor_can_they_in_a_document(capsys: pytest.CaptureFixture[str]) -> None:
    output.show_error(EVIL, as_json=True)
    printed = capsys.readouterr().out
    assert not {"\x1b", "\x07", "\x9b"} & set(printed)
    assert json.loads(printed) == {"error": EVIL.to_json()}


def test_nor_while_something_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal = Console(file=io.StringIO(), force_terminal=True, width=80)
    monkeypatch.setattr(output, "errors", terminal)
    with output.progress("Loading [red]\x1b[2Jevil[/red] [/x] ...") as update:
        update("Loading [blue]\x1b[2Jevil[/blue] ...")
    shown = terminal.file.getvalue()  # type: ignore[attr-defined]
    assert "[blue]" in shown
    assert "\x1b[2J" not in shown
