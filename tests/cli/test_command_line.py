"""Every verb ends with the right exit code and says what went wrong in the right place."""

from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import Ended
from slipstream.cli import app as command_line


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
    verb: Callable[..., Ended], arguments: list[str], told: str
) -> None:
    ended = verb(*arguments, "--json")
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


def test_a_missing_file(verb: Callable[..., Ended]) -> None:
    ended = verb("chat", "missing.gguf", "-p", "hi", "--json")
    assert ended.code == 1
    assert ended.error["code"] == "not_found"
    people = verb("chat", "missing.gguf", "-p", "hi")
    assert (people.code, people.out) == (1, "")
    assert ended.error["message"] in people.err
    assert ended.error["action"] in people.err


def _broken() -> None:
    raise ZeroDivisionError("seven by nothing")


def test_a_bug_is_one_sentence_with_the_details_in_the_log(
    verb: Callable[..., Ended], environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = command_line.app.registered_commands
    monkeypatch.setattr(command_line.app, "registered_commands", list(commands))
    command_line.app.command("broken")(_broken)
    ended = verb("broken")
    assert (ended.code, ended.out) == (1, "")
    assert "bug in Slipstream (ZeroDivisionError: seven by nothing)" in ended.err
    assert "Traceback" not in ended.err
    log = next((Path(environment["SLIPSTREAM_HOME"]) / "logs").iterdir()).read_text()
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


def test_settings_that_had_to_be_reset_are_told_once(
    verb: Callable[..., Ended], environment: dict[str, str]
) -> None:
    file = Path(environment["SLIPSTREAM_HOME"]) / "config" / "settings.json"
    file.write_text('{"engine": "/a\\u0000b", "threads": 1}')
    first, second = verb("chat", "no.gguf", "-p", "hi"), verb("chat", "no.gguf", "-p", "hi")
    reset, *rest = first.err.splitlines()
    assert reset.startswith("“Engine” had a value that is not allowed")
    assert second.err.splitlines() == rest


def test_a_damaged_file_of_settings_is_told_and_the_chat_goes_on(
    slipstream: Callable[..., Ended], environment: dict[str, str]
) -> None:
    file = Path(environment["SLIPSTREAM_HOME"]) / "config" / "settings.json"
    file.write_text("{oops")
    ended = slipstream("chat", "demo-small", "-p", "Hi", "--max-tokens", "2", "--json")
    assert (ended.code, ended.document["tokens"]) == (0, 2)
    reset, *_ = ended.err.splitlines()
    assert "settings.json.bak" in reset
