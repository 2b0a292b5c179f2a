"""``slipstream doctor``: true numbers, every engine, and problems with what to do about them."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from command_line import Ended
from slipstream.cli.doctor import _general_problems, examine, to_json
from slipstream.engine.answers import Hardware
from slipstream.engine.spec import learn
from slipstream.machine.memory import Memory


@pytest.fixture
def home(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLIPSTREAM_HOME", environment["SLIPSTREAM_HOME"])
    return Path(environment["SLIPSTREAM_HOME"])


def test_the_document_tells_about_this_computer(
    slipstream: Callable[..., Ended], environment: dict[str, str]
) -> None:
    shutil.rmtree(Path(environment["SLIPSTREAM_HOME"]) / "cache")  # engines have to be asked
    ended = slipstream("doctor", "--json")
    assert ended.code == 0
    document = ended.document
    assert {"os", "cpu", "ram", "devices", "engines", "problems"} <= set(document)
    assert 1 <= document["cpu"]["cores"] <= (psutil.cpu_count() or 1)
    assert 0 < document["ram"]["free"] <= document["ram"]["total"]
    assert document["ram"]["total"] <= psutil.virtual_memory().total
    embedded = document["engines"][0]
    assert (embedded["id"], embedded["ok"], embedded["problem"]) == ("embedded", True, None)
    assert "CPU" in embedded["backends"]
    assert Path(embedded["path"]).is_file()
    assert any("mtp" in kind for kind in embedded["spec_types"])


def test_people_read_it_as_a_table(verb: Callable[..., Ended]) -> None:
    ended = verb("doctor")
    assert ended.code == 0
    words = [line.split()[0] for line in ended.out.splitlines() if line.strip()]
    assert words[:3] == ["System", "Processor", "Memory"]
    assert "xllamacpp" in ended.out
    assert "{" not in ended.out


def test_an_engine_of_the_users_that_is_not_there_is_a_problem_with_an_action(
    verb: Callable[..., Ended], home: Path, tmp_path: Path
) -> None:
    missing = str(tmp_path / "llama-server")
    (home / "config" / "settings.json").write_text(json.dumps({"engine": missing}))
    document = verb("doctor", "--json").document
    own = next(engine for engine in document["engines"] if engine["path"] == missing)
    assert own["ok"] is False
    assert own["problem"] in document["problems"]
    assert own["problem"]["action"]
    assert "does not work" in verb("doctor").out


def test_no_usable_engine_and_little_memory_are_problems(home: Path, tmp_path: Path) -> None:
    broken = learn("llama-server", tmp_path / "nothing")
    memory = Memory(total=8_000_000_000, free=1_000_000_000)
    problems = _general_problems([broken], memory)
    assert [problem.code for problem in problems] == ["no_usable_engine", "little_memory"]
    assert "1.0 GB" in problems[1].message
    assert _general_problems([learn("embedded")], Memory(8 * 2**30, 4 * 2**30)) == []


def test_unknown_memory_is_not_little_memory(home: Path) -> None:
    assert _general_problems([learn("embedded")], Memory(0, 0)) == []


def test_the_document_can_be_printed_whatever_was_found(home: Path, tmp_path: Path) -> None:
    report = examine()
    broken = learn("llama-server", tmp_path / "nothing")
    report = replace(report, engines=(*report.engines, (broken, Hardware())))
    assert json.loads(json.dumps(to_json(report)))["engines"][-1]["ok"] is False


def test_a_home_that_cannot_be_made_is_a_problem(
    verb: Callable[..., Ended], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(home / "config" / "settings.json"))  # a file
    ended = verb("doctor", "--json")
    assert ended.code == 0
    assert ended.document["engines"][0]["ok"]
    assert "home_not_writable" in {problem["code"] for problem in ended.document["problems"]}


def test_what_engines_print_cannot_drive_the_terminal(
    verb: Callable[..., Ended], home: Path, tmp_path: Path
) -> None:
    program = tmp_path / "llama-server"
    answers = {
        "--help": "-m, --model F\\n--port N\\n--list-devices",
        "--version": "version: \\33[2J[red]7[/red]",
        "--list-devices": "Available devices:\\n  X0: \\33[2J[/b]Card (20 MiB, 10 MiB free)",
    }
    cases = "".join(f"{asked}) printf -- '{said}\\n';;\n" for asked, said in answers.items())
    program.write_text(f'#!/bin/sh\ncase "$1" in\n{cases}esac\n')
    program.chmod(0o755)
    (home / "config" / "settings.json").write_text(json.dumps({"engine": str(program)}))
    ended = verb("doctor")
    assert ended.code == 0, ended.err
    assert "[2J[red]7[/red]" in ended.out
    assert "[2J[/b]Card, 10 MB free of 21 MB" in ended.out
    assert "\x1b" not in ended.out
