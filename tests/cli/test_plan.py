"""``slipstream plan``: what each quantization needs, how it fits, and which to take."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_line import COMMAND, Ended
from gguf_files import DEMO, DEMO_DFLASH, DEMO_SMALL, write_dflash, write_target
from header_only import write_model

Verb = Callable[..., Ended]
GIB = 1 << 30
# What docs promise to programs, and what was added to it.
CONTRACT = {"model", "revision", "context", "machine", "quants"}
OF_QUANT = {
    *("quant", "files", "download", "drafter", "memory", "method", "fit", "gpu_layers", "layers"),
    *("recommended", "why"),
}
OF_MEMORY = {
    *(
        "weights",
        "context",
        "compute",
        "drafter",
        "projector",
        "margin",
        "total",
        "host",
        "devices",
    ),
}
ADDED = {"problems"}
ADDED_TO_QUANT = {"name", "context", "estimated", "host_experts", "drafters"}
PARTS = OF_MEMORY - {"total", "host", "devices"}
TWO_CARDS = ("--ram", "32GiB", "--device", "CUDA0=24GiB", "--device", "CUDA1=8GiB:1GiB")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Quantizations of Qwen3.6-27B and of one more model, all header."""
    models = tmp_path / "models"
    for label in ("Q8_0", "Q4_K_M", "Q2_K"):
        write_model(models, "qwen3.6-27b", label)
    write_model(models, "gemma-3-4b", "Q4_K_M")
    return models


def only(ended: Ended) -> Any:
    """The one quantization that was planned."""
    assert ended.code == 0, ended.err
    (quant,) = ended.document["quants"]
    return quant


def test_the_demo_as_the_engine_lays_it_out(verb: Verb) -> None:
    ended = verb("plan", "demo", "--json")
    quant, document = only(ended), ended.document
    assert document.keys() == CONTRACT | ADDED
    assert quant.keys() == OF_QUANT | ADDED_TO_QUANT
    memory = quant["memory"]
    assert memory.keys() == OF_MEMORY
    assert (document["model"], document["revision"], document["problems"]) == ("demo", None, [])
    assert document["machine"].keys() == {"ram", "devices"}
    assert quant["files"] == [str(DEMO)]
    assert (quant["quant"], quant["download"], quant["recommended"]) == ("Q8_0", 0, True)
    assert quant["method"] == "dry-run"
    assert quant["estimated"] == ["host_buffers", "margin"]
    assert quant["drafter"]["kind"] == "mtp"
    assert quant["drafter"]["file"] is None
    assert quant["drafter"]["bytes"] > 0
    assert memory["total"] == sum(memory[part] for part in PARTS)
    on_devices = sum(device["bytes"] for device in memory["devices"])
    assert memory["total"] == memory["host"] + on_devices
    assert memory["weights"] + quant["drafter"]["bytes"] < DEMO.stat().st_size


def test_a_folder_has_each_model_s_quantizations_the_smallest_first(
    verb: Verb, folder: Path
) -> None:
    document = verb("plan", str(folder), "--json", "--device", "CUDA0=24GiB").document
    planned = [(quant["name"], quant["quant"]) for quant in document["quants"]]
    assert planned == [
        ("gemma-3-4b", "Q4_K_M"),
        *(("qwen3.6-27b", label) for label in ("Q2_K", "Q4_K_M", "Q8_0")),
    ]
    recommended = [quant["quant"] for quant in document["quants"] if quant["recommended"]]
    assert recommended == ["Q4_K_M", "Q4_K_M"]
    assert {quant["method"] for quant in document["quants"]} == {"formula"}
    assert document["machine"]["devices"][0]["total"] == 24 * GIB


def test_a_context_beyond_the_trained_one_is_cut_to_it(verb: Verb) -> None:
    trained = only(verb("plan", "demo", "--context", "1000000", "--json"))
    assert trained["context"] == 4096
    fewer = only(verb("plan", "demo", "--context", "1024", "--json"))
    assert fewer["context"] == 1024
    assert fewer["memory"]["context"] < trained["memory"]["context"]
    assert fewer["memory"]["weights"] == trained["memory"]["weights"]


def test_a_quantized_kv_cache_is_smaller(verb: Verb) -> None:
    plain, smaller = (
        only(verb("plan", "demo", "--kv", kind, "--spec", "off", "--json"))["memory"]
        for kind in ("f16", "q8_0")
    )
    assert smaller["context"] < plain["context"]
    assert smaller["weights"] == plain["weights"]


@pytest.mark.parametrize(
    ("kind", "file", "estimated"),
    [
        ("off", None, ["host_buffers", "margin"]),
        ("mtp", None, ["host_buffers", "margin"]),
        ("dflash", str(DEMO_DFLASH), ["drafter", "host_buffers", "margin"]),
        ("ngram", None, ["host_buffers", "margin"]),
    ],
)
def test_every_kind_of_speculation(
    verb: Verb, kind: str, file: str | None, estimated: list[str]
) -> None:
    quant = only(verb("plan", "demo", "--spec", kind, "--json"))
    assert (quant["method"], quant["estimated"]) == ("dry-run", estimated)
    if kind == "off":
        assert quant["drafter"] is None
    else:
        assert (quant["drafter"]["kind"], quant["drafter"]["file"]) == (kind, file)
    assert (quant["memory"]["drafter"] > 0) is (kind in ("mtp", "dflash"))


def test_a_drafter_that_is_not_there(verb: Verb) -> None:
    ended = verb("plan", "demo", "--spec", "eagle3", "--json")
    assert (ended.code, ended.error["code"]) == (1, "no_drafter")


def test_another_amount_of_memory(verb: Verb, folder: Path) -> None:
    document = verb("plan", str(folder), "--ram", "32GiB:2GiB", "--json").document
    assert document["machine"] == {"ram": {"total": 32 * GIB, "free": 2 * GIB}, "devices": []}
    gemma, *qwen = document["quants"]
    assert {quant["fit"] for quant in qwen} == {"none"}
    assert "It may fit when other programs are closed" in qwen[0]["why"]
    assert gemma["fit"] == "none"
    plenty = verb("plan", str(folder), "--ram", "40GiB", "--json").document
    assert {quant["fit"] for quant in plenty["quants"]} == {"cpu"}


def test_other_graphics_cards(verb: Verb, folder: Path) -> None:
    document = verb("plan", str(folder), *TWO_CARDS, "--json").document
    assert [device["id"] for device in document["machine"]["devices"]] == ["CUDA0", "CUDA1"]
    by_label = {quant["quant"]: quant for quant in document["quants"][1:]}
    assert by_label["Q4_K_M"]["fit"] == "gpu"
    assert by_label["Q4_K_M"]["gpu_layers"] == by_label["Q4_K_M"]["layers"] == 66
    assert by_label["Q8_0"]["fit"] == "partial"
    for quant in by_label.values():
        free = {"CUDA0": 24 * GIB, "CUDA1": GIB}
        for device in quant["memory"]["devices"]:
            assert device["bytes"] <= free[device["id"]]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--ram", "much"),
        ("--ram", "8GiB:9GiB"),
        ("--device", "CUDA0"),
        ("--device", "CUDA0=8GiB", "--device", "=8GiB"),
        ("--kv", "q9"),
        ("--spec", "fast"),
        ("--context", "0"),
        ("--context", "many"),
        ("--context", str(2**31)),
    ],
)
def test_wrong_usage_ends_with_2(verb: Verb, arguments: tuple[str, ...]) -> None:
    ended = verb("plan", "demo", *arguments)
    assert ended.code == 2
    assert arguments[0] in ended.err
    assert ended.out == ""


def test_no_such_file(verb: Verb) -> None:
    ended = verb("plan", "nothing.gguf", "--json")
    assert (ended.code, ended.error["code"]) == (1, "not_found")


def test_an_empty_folder_and_one_with_only_a_drafter_have_no_model(
    verb: Verb, tmp_path: Path
) -> None:
    (tmp_path / "models").mkdir()
    for _ in range(2):
        ended = verb("plan", "models", "--json")
        assert (ended.code, ended.error["code"]) == (1, "no_model")
        write_dflash(tmp_path / "models" / "dflash.gguf")


def test_a_damaged_file_among_good_ones_is_told_beside_their_plans(
    verb: Verb, tmp_path: Path
) -> None:
    (tmp_path / "models").mkdir()
    shutil.copy(DEMO_SMALL, tmp_path / "models")
    (tmp_path / "models" / "half.gguf").write_bytes(DEMO.read_bytes()[:1000])
    ended = verb("plan", "models", "--json")
    assert only(ended)["files"] == [str(Path("models") / DEMO_SMALL.name)]
    (problem,) = ended.document["problems"]
    assert problem["code"] == "damaged_file"
    text = verb("plan", "models")
    assert text.code == 0
    assert "half.gguf is damaged" in text.err
    assert "half.gguf" not in text.out
    (tmp_path / "models" / DEMO_SMALL.name).unlink()
    nothing = verb("plan", "models", "--json")
    assert (nothing.code, nothing.error["code"]) == (1, "damaged_file")


def test_a_model_without_layers_and_one_with_absurd_ones(verb: Verb, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    write_target(tmp_path / "models" / "none.gguf", layers=0)
    absurd = {"qwen3.block_count": 4_000_000_000}
    write_target(tmp_path / "models" / "absurd.gguf", keys=absurd)
    ended = verb("plan", "models", "--device", "CUDA0=1GiB", "--json")
    assert only(ended)["layers"] == 1
    assert [problem["code"] for problem in ended.document["problems"]] == ["impossible_shape"]


def test_an_architecture_that_the_engine_does_not_know_is_estimated(
    verb: Verb, tmp_path: Path
) -> None:
    keys = {"newest.context_length": 8192, "newest.attention.head_count": 4}
    write_target(tmp_path / "new-Q8_0.gguf", "newest", keys=keys)
    ended = verb("plan", "new-Q8_0.gguf", "--json")
    quant = only(ended)
    assert quant["method"] == "formula"
    assert quant["estimated"] == ["context", "compute", "host_buffers", "margin"]
    (problem,) = ended.document["problems"]
    assert problem["code"] == "dry_run_failed"
    assert "new-Q8_0.gguf" in problem["message"]


def test_an_engine_that_does_not_work_is_told_and_the_formula_serves(
    verb: Verb, environment: dict[str, str], tmp_path: Path
) -> None:
    settings = Path(environment["SLIPSTREAM_HOME"]) / "config" / "settings.json"
    missing = str(tmp_path / "llama-server")
    settings.write_text(json.dumps({"engine": missing, "default_context": 2048}))
    ended = verb("plan", "demo", "--json")
    quant = only(ended)
    assert (quant["method"], quant["context"]) == ("formula", 2048)
    assert quant["drafter"]["kind"] == "mtp"
    (problem,) = ended.document["problems"]
    assert problem["code"] == "engine_missing"
    assert "llama-server" in verb("plan", "demo").err


def test_people_read_it_as_a_table(
    verb: Verb, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ended = verb("plan", str(folder), "--device", "CUDA0=24GiB", "--ram", "64GiB")
    assert ended.code == 0
    lines = [line.rstrip() for line in ended.out.splitlines()]
    assert max(map(len, lines)) <= 80
    start = lines.index("qwen3.6-27b, 16,384 tokens of context")
    heading, small, middle, large = lines[start + 1 : start + 5]
    assert heading.split() == [
        *("Quantization", "Weights", "Needs", "On", "GPU", "Fits", "Drafter")
    ]
    assert small.split()[:3] == ["Q2_K", "9.8", "GB"]
    assert middle.split()[:2] == ["→", "Q4_K_M"]
    assert middle.split()[-3:] == ["MTP", "by", "formula"]
    assert "GPU in part" in large
    assert lines[start + 5].startswith("Q4_K_M: The largest of up to 6 bits that the GPU holds")
    assert ended.err == f"Planning {folder} ...\n"


def test_where_nothing_fits_it_says_why(verb: Verb) -> None:
    ended = verb("plan", "demo", "--ram", "8MiB")
    assert "too large" in ended.out
    assert "Too large: it needs" in ended.out
    assert "→" not in ended.out


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_ends_it_with_130(environment: dict[str, str], tmp_path: Path) -> None:
    """While an engine that does not answer is asked."""
    engine = tmp_path / "llama-server"
    asked = tmp_path / "asked"
    answers = f"exec '{sys.executable}' -m slipstream.engine.embedded \"$1\""
    engine.write_text(f"#!/bin/sh\n[ $# = 1 ] && {answers}\ntouch '{asked}'\nexec sleep 60\n")
    engine.chmod(0o755)
    settings = Path(environment["SLIPSTREAM_HOME"]) / "config" / "settings.json"
    settings.write_text(json.dumps({"engine": str(engine)}))
    with subprocess.Popen(
        [COMMAND, "plan", "demo-small", "--json"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        deadline = time.monotonic() + 20
        while not asked.exists() and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.02)
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert asked.exists(), out + err
    assert process.returncode == 130
    assert json.loads(out)["error"]["code"] == "cancelled"
    assert "Traceback" not in err
