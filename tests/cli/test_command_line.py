"""Every verb ends with the right exit code and says what went wrong in the right place."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import COMMAND, Ended
from slipstream.cli import app as command_line
from slipstream.cli import output


def test_help_names_the_verbs(slipstream: Callable[..., Ended]) -> None:
    ended = slipstream("--help")
    assert ended.code == 0
    assert "chat" in ended.out
    assert "doctor" in ended.out


def test_version(slipstream: Callable[..., Ended]) -> None:
    ended = slipstream("--version")
    assert (ended.code, ended.out.split()[0]) == (0, "slipstream")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["chat", "demo", "-p", "hi", "--bogus"], "--bogus"),
        (["chat", "demo", "-p", "hi", "--draft-tokens", "many"], "--draft-tokens"),
        (["chat", "demo", "-p", "hi", "--spec", "magic"], "mtp"),
        (["chat", "demo", "-p", "hi", "--context", "7"], "--context"),
        (["chat", "demo", "-p", "hi", "--temperature", "inf"], "--temperature"),
        (["chat", "demo", "-p", "hi", "--max-tokens", "2147483648"], "--max-tokens"),
        (["chat", "demo"], "no text"),
        (["chat"], "MODEL"),
        (["chatt", "demo"], "chatt"),
    ],
)
def test_wrong_usage_is_explained_and_ends_with_2(
    slipstream: Callable[..., Ended], arguments: list[str], told: str
) -> None:
    ended = slipstream(*arguments, "--json")
    assert ended.code == 2
    assert ended.error["code"] == "wrong_usage"
    assert told in ended.error["message"]
    assert "--help" in ended.error["action"]
    assert set(ended.error) == {"code", "message", "facts", "action"}


def test_wrong_usage_for_people_is_on_stderr(slipstream: Callable[..., Ended]) -> None:
    ended = slipstream("chat", "demo", "--bogus")
    assert (ended.code, ended.out) == (2, "")
    assert "--bogus" in ended.err
    assert "slipstream chat --help" in ended.err


def test_a_missing_file(slipstream: Callable[..., Ended]) -> None:
    ended = slipstream("chat", "missing.gguf", "-p", "hi", "--json")
    assert ended.code == 1
    assert ended.error["code"] == "not_found"
    people = slipstream("chat", "missing.gguf", "-p", "hi")
    assert (people.code, people.out) == (1, "")
    assert ended.error["message"] in people.err
    assert ended.error["action"] in people.err


def _broken() -> None:
    raise ZeroDivisionError("seven by nothing")


def test_a_bug_is_one_sentence_with_the_details_in_the_log(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path))
    commands = command_line.app.registered_commands
    monkeypatch.setattr(command_line.app, "registered_commands", list(commands))
    command_line.app.command("broken")(_broken)
    monkeypatch.setattr(output, "use_utf8", lambda: None)  # pytest holds the streams
    assert command_line.main(["broken"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "bug in Slipstream (ZeroDivisionError: seven by nothing)" in printed.err
    assert "Traceback" not in printed.err
    log = next((tmp_path / "logs").iterdir()).read_text()
    assert "Traceback" in log
    assert "_broken" in log


def test_a_bug_is_told_also_where_there_can_be_no_log(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "file"))
    error = command_line._bug(ZeroDivisionError("seven by nothing"))
    assert error.code == "bug"
    assert error.facts == {"log_file": None}
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_reader_that_has_enough_is_no_bug(environment: dict[str, str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        done = subprocess.run(
            [COMMAND, "doctor", "--json"],
            stdout=closed,
            stderr=subprocess.PIPE,
            env=environment,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "bug" not in done.stderr
    assert "Exception" not in done.stderr
