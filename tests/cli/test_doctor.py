"""``slipstream doctor``: true numbers, every engine, and problems with what to do about them."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from command_line import Ended
from slipstream import paths
from slipstream.cli.doctor import Report, _general_problems, _show, examine, to_json
from slipstream.engine.answers import Hardware
from slipstream.engine.computer import Survey
from slipstream.engine.spec import learn
from slipstream.machine.cpu import Cpu
from slipstream.machine.devices import Device, Holder
from slipstream.machine.memory import Memory
from slipstream.planning.parts import HOST, Breakdown, Share
from slipstream.planning.truth import Outcome, Prediction, record


@pytest.fixture
def home(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLIPSTREAM_HOME", environment["SLIPSTREAM_HOME"])
    return Path(environment["SLIPSTREAM_HOME"])


def headings(text: str) -> list[str]:
    """The words that lines begin with, at the left edge."""
    lines = text.splitlines()
    return [line.split()[0] for line in lines if line.strip() and not line.startswith(" ")]


CARD = Device(
    "CUDA0",
    "NVIDIA GeForce RTX 4090",
    "CUDA",
    total=24 << 30,
    free=20 << 30,
    unified=False,
    note="The driver says that less is free than the engine does.",
    holders=tuple(Holder(f"game{number}", number, 10**9) for number in range(5)),
    pci="0000:01:00.0",
)
GRAPHICS = Device(
    "card1", "Radeon 780M", "amdgpu", 16 << 30, 8 << 30, unified=True, usable=False,
    note="No engine here can use it.",
)  # fmt: skip


def outcome(**changes: Any) -> Outcome:
    """A launch that took 20 MB more than was predicted."""
    usual: dict[str, Any] = {
        "model": "Qwen3.6-27B",
        "quantization": "Q4_K_M",
        "engine": "embedded",
        "build": "1",
        "backends": {HOST: "CPU"},
        "context": 16_384,
        "kv_type": "f16",
        "spec": "mtp",
        "draft_tokens": 3,
        "predicted": Prediction(Breakdown({HOST: Share(16 * 10**9)}), "dry-run"),
        "loaded": Breakdown({HOST: Share(16 * 10**9, 10**7)}, {HOST: Share(10**7)}),
    }
    return Outcome(**{**usual, **changes})


def test_the_document_tells_about_this_computer(
    slipstream: Callable[..., Ended], environment: dict[str, str]
) -> None:
    shutil.rmtree(Path(environment["SLIPSTREAM_HOME"]) / "cache")  # engines have to be asked
    ended = slipstream("doctor", "--json")
    assert ended.code == 0
    document = ended.document
    contract = {"os", "cpu", "ram", "devices", "engines", "problems"}
    assert set(document) == contract | {"predictions"}
    assert document["cpu"].keys() >= {"name", "cores", "features"}
    assert document["predictions"] == []
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
    assert headings(ended.out)[:4] == ["System", "Processor", "Memory", "GPU"]
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


def test_every_device_is_one_row_with_what_is_to_be_known_of_it(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = Survey(Memory(64 << 30, 32 << 30), (CARD, GRAPHICS), ())
    report = Report("Linux", Cpu("A processor", 8, 16), here, (), ())
    devices = json.loads(json.dumps(to_json(report)))["devices"]
    assert [device["id"] for device in devices] == ["CUDA0", "card1"]
    contract = {"id", "name", "backend", "total", "free", "unified"}
    assert devices[0].keys() >= contract | {"usable", "note", "holders"}
    assert devices[0]["holders"][0] == {"name": "game0", "pid": 0, "bytes": 10**9}
    _show(report)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[:9] == [
        "System Linux",
        "Processor A processor, 8 cores",
        "Memory 34.4 GB free of 68.7 GB",
        "CUDA0 NVIDIA GeForce RTX 4090, 21.5 GB free of 25.8 GB",
        "The driver says that less is free than the engine does.",
        *(f"game{number} holds 1.0 GB" for number in range(3)),
        "card1 Radeon 780M, 8.6 GB free of 17.2 GB, shares main memory",
    ]
    assert "No engine here can use it." in lines
    assert "GPU none" not in lines


def test_predictions_are_shown_beside_what_was_taken_the_newest_first(
    verb: Callable[..., Ended], home: Path
) -> None:
    record(outcome(model="Older"))
    formula = Prediction(Breakdown({HOST: Share(15 * 10**9)}), "formula")
    record(outcome(predicted=formula, spec=None))
    newest, older = verb("doctor", "--json").document["predictions"]
    assert older["model"] == "Older"
    assert {key: newest[key] for key in newest if key != "time"} == {
        "model": "Qwen3.6-27B",
        "quant": "Q4_K_M",
        "engine": "embedded",
        "context": 16_384,
        "spec": None,
        "method": "formula",
        "predicted": 15 * 10**9,
        "loaded": 16_020_000_000,
    }
    text = " ".join(verb("doctor").out.split())
    assert (
        "Launches Qwen3.6-27B Q4_K_M: 15.0 GB planned by formula, 16.0 GB taken "
        "Older Q4_K_M: 16.0 GB planned by the engine, 16.0 GB taken"
    ) in text


def test_only_the_last_predictions_are_shown(verb: Callable[..., Ended], home: Path) -> None:
    for number in range(9):
        record(outcome(model=f"model {number}"))
    shown = verb("doctor", "--json").document["predictions"]
    assert [one["model"] for one in shown] == [f"model {number}" for number in (8, 7, 6, 5, 4)]


def test_a_damaged_record_of_predictions_is_no_obstacle(
    verb: Callable[..., Ended], home: Path
) -> None:
    record(outcome())
    with paths.predictions_file().open("ab") as file:
        file.write(b'\n{"model": 3}\n\xff[[[')
    assert len(verb("doctor", "--json").document["predictions"]) == 1


def test_unknown_memory_is_not_little_memory(home: Path) -> None:
    assert _general_problems([learn("embedded")], Memory(0, 0)) == []


def test_the_document_can_be_printed_whatever_was_found(home: Path, tmp_path: Path) -> None:
    report = examine()
    broken = learn("llama-server", tmp_path / "nothing")
    here = replace(report.here, engines=(*report.here.engines, (broken, Hardware())))
    report = replace(report, here=here)
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
