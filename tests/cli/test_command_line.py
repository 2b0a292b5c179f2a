"""Every verb ends with the right exit code and says what went wrong in the right place."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import pytest
import typer

from command_line import Ended
from slipstream.cli import interrupt, verbs


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
    commands = verbs.app.registered_commands
    monkeypatch.setattr(verbs.app, "registered_commands", list(commands))
    verbs.app.command("broken")(_broken)
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
    error = verbs._bug(ZeroDivisionError("seven by nothing"))
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


_INTERRUPTED_AT_IMPORT = """
import os, signal, sys
from slipstream.__main__ import main

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == %r:
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except BaseException:
                pass  # as careless modules do
        return None

sys.meta_path.insert(0, Finder())
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("module", ["typer", "rich.text", "slipstream.engine.session"])
@pytest.mark.parametrize("as_json", [True, False])
def test_ctrl_c_is_heeded_while_the_command_line_is_still_imported(
    environment: dict[str, str], module: str, as_json: bool
) -> None:
    arguments = ["chat", "demo", "-p", "hi", *(["--json"] if as_json else [])]
    done = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED_AT_IMPORT % module, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (interrupt.EXIT_CODE, "")
    if as_json:
        assert json.loads(done.stdout) == {"error": interrupt.stopped().to_json()}
    else:
        assert done.stdout == ""


def test_after_the_start_ctrl_c_lets_a_verb_end_well(
    verb: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    ended_well = []

    def pressed(as_json: Annotated[bool, typer.Option("--json")] = False) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            ended_well.append(True)

    monkeypatch.setattr(verbs.app, "registered_commands", list(verbs.app.registered_commands))
    verbs.app.command("pressed")(pressed)
    ended = verb("pressed")
    assert (ended.code, ended.out, ended_well) == (interrupt.EXIT_CODE, "", [True])
    ended = verb("pressed", "--json")
    assert (ended.code, ended.error) == (interrupt.EXIT_CODE, interrupt.stopped().to_json())
