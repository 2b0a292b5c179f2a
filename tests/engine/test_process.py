"""An engine process from its start to its end, with the real engine and with bad ones."""

import http.server
import os
import signal
import socket
import threading
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import psutil
import pytest

from bad_engines import Posing
from running_engine import guardians
from slipstream.cancel import Cancelled, CancelToken
from slipstream.drafters.kinds import DrafterKind, SpecConfig
from slipstream.engine import process as process_module
from slipstream.engine import readiness
from slipstream.engine.config import LaunchConfig
from slipstream.engine.events import EngineState, StateChanged
from slipstream.engine.failures import DRAFTER_TROUBLE
from slipstream.engine.process import EngineProcess, Patience, free_port
from slipstream.engine.spec import EngineSpec
from slipstream.errors import SlipstreamError
from slipstream.paths import log_folder

HASTY = Patience(silence=0.5, most=2.0)


@pytest.fixture
def launch(demo: Path) -> LaunchConfig:
    # Two spinning threads crawl on a machine that has other things to do.
    return LaunchConfig(demo, 1024, threads=1)


@pytest.fixture(autouse=True)
def no_engine_is_left() -> Iterator[None]:
    yield
    # A moment for processes that the system is still taking down.
    _, left = psutil.wait_procs(guardians(), timeout=10.0)
    for guardian in left:
        guardian.kill()
    assert not left


def start(process: EngineProcess, cancel: CancelToken | None = None) -> list[StateChanged]:
    return list(process.start(cancel or CancelToken()))


def failure_of(process: EngineProcess) -> SlipstreamError:
    with pytest.raises(SlipstreamError) as raised:
        start(process)
    assert process.state is EngineState.FAILED
    return raised.value


def children_of(process: EngineProcess) -> list[psutil.Process]:
    assert process._child
    return psutil.Process(process._child.pid).children()


def test_a_life_from_start_to_stop(embedded: EngineSpec, launch: LaunchConfig) -> None:
    process = EngineProcess(embedded, launch)
    states = list(dict.fromkeys(change.state for change in start(process)))
    assert states == [EngineState.STARTING, EngineState.LOADING, EngineState.READY]
    with httpx2.Client(base_url=process.address, trust_env=False) as client:
        assert client.get("/slots").status_code == 401
        key = {"Authorization": f"Bearer {process.key}"}
        assert client.get("/slots", headers=key).json()[0]["n_ctx"] == 1024
        assert client.get("/metrics", headers=key).status_code == 200
    with process.busy():
        during = process.state
    assert [during, process.state] == [EngineState.BUSY, EngineState.READY]
    (engine,) = children_of(process)
    assert process.key not in " ".join(engine.cmdline())
    assert process.failure() is None
    process.stop()
    assert not engine.is_running()
    assert process.state is EngineState.STOPPED
    assert process.failure() is None
    process.stop()
    assert "listening on" in (log_folder() / "engine.log").read_text()


@pytest.mark.parametrize("kind", [DrafterKind.MTP, DrafterKind.DFLASH, DrafterKind.NGRAM])
def test_drafters_run(
    embedded: EngineSpec, launch: LaunchConfig, dflash: Path, kind: DrafterKind
) -> None:
    drafter = dflash if kind is DrafterKind.DFLASH else None
    process = EngineProcess(embedded, replace(launch, spec=SpecConfig(kind, drafter, 3)))
    start(process)
    slots = httpx2.get(
        f"{process.address}/slots",
        headers={"Authorization": f"Bearer {process.key}"},
        trust_env=False,
    )
    process.stop()
    assert slots.json()[0]["speculative"] is True


def test_a_drafter_that_the_engine_refuses_is_a_failure(
    embedded: EngineSpec, launch: LaunchConfig, dflash: Path
) -> None:
    wrong = replace(launch, spec=SpecConfig(DrafterKind.EAGLE3, dflash, 3))
    failure = failure_of(EngineProcess(embedded, wrong))
    assert failure.code == "drafter_mismatch"
    assert failure.code in DRAFTER_TROUBLE


def test_a_damaged_model_is_told(
    embedded: EngineSpec, launch: LaunchConfig, half_a_model: Path
) -> None:
    process = EngineProcess(embedded, replace(launch, model=half_a_model))
    failure = failure_of(process)
    assert failure.code == "damaged_file"
    assert "exiting due to model loading error" in str(failure.facts["log"])
    assert process.failure() is failure


def test_a_damaged_drafter_is_told(
    embedded: EngineSpec, launch: LaunchConfig, half_a_model: Path
) -> None:
    wrong = replace(launch, spec=SpecConfig(DrafterKind.DFLASH, half_a_model, 3))
    assert failure_of(EngineProcess(embedded, wrong)).code == "drafter_damaged"


@pytest.mark.skipif(os.name != "posix", reason="limits of a process")
def test_too_little_memory_is_told_with_numbers(embedded: EngineSpec, launch: LaunchConfig) -> None:
    limited = ("sh", "-c", 'ulimit -v 3000000; exec "$@"', "sh", *embedded.command)
    process = EngineProcess(replace(embedded, command=limited), replace(launch, context=4_000_000))
    failure = failure_of(process)
    assert failure.code == "not_enough_memory"
    assert int(str(failure.facts["needed"])) > 3_000_000_000
    assert int(str(failure.facts["free"])) > 0


@pytest.mark.parametrize(
    ("which", "ending", "code"),
    [
        ("engine", "SIGKILL", "engine_killed"),
        ("engine", "SIGSEGV", "engine_crashed"),
        ("guardian", "SIGKILL", "guardian_ended"),
    ],
)
def test_an_engine_that_dies_at_work_is_noticed(
    embedded: EngineSpec, launch: LaunchConfig, which: str, ending: str, code: str
) -> None:
    process = EngineProcess(embedded, launch)
    start(process)
    (engine,) = children_of(process)
    victim = engine if which == "engine" else engine.parent()
    assert victim
    victim.send_signal(getattr(signal, ending))
    deadline = time.monotonic() + 30
    while process.state is not EngineState.FAILED and time.monotonic() < deadline:
        time.sleep(0.02)
    failure = process.failure()
    states = [process.state]
    process.stop()
    assert [*states, process.state] == [EngineState.FAILED, EngineState.STOPPED]
    assert failure
    assert failure.code == code


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("os.kill(os.getpid(), signal.SIGILL)", "illegal_instruction"),
        ("os.abort()", "engine_crashed"),
        ("sys.exit(7)", "engine_exited"),
        ("time.sleep(60)", "engine_hung"),
        ("while True: print('busy ' * 50, flush=True)", "engine_hung"),
        ("while True: os.write(1, os.urandom(60000))", "engine_hung"),
    ],
)
def test_bad_engines_have_names_and_are_gone(
    posing_as: Posing, launch: LaunchConfig, body: str, code: str
) -> None:
    process = EngineProcess(posing_as(body), launch, patience=HASTY)
    tracemalloc.start()
    try:
        assert failure_of(process).code == code
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8_000_000


def test_a_binary_that_cannot_run_is_told(embedded: EngineSpec, launch: LaunchConfig) -> None:
    missing = replace(embedded, command=("/nothing/llama-server",))
    assert failure_of(EngineProcess(missing, launch)).code == "not_executable"


def test_a_start_can_be_cancelled(posing_as: Posing, launch: LaunchConfig) -> None:
    process = EngineProcess(posing_as("time.sleep(60)"), launch)
    cancel = CancelToken()
    timer = threading.Timer(0.5, cancel.cancel)
    timer.start()
    started = time.monotonic()
    with pytest.raises(Cancelled):
        start(process, cancel)
    assert time.monotonic() - started < 30
    assert process.state is EngineState.STOPPED
    timer.join()


@pytest.mark.parametrize("moment", [EngineState.LOADING, EngineState.READY])
def test_a_start_can_be_cancelled_to_its_last_moment(
    embedded: EngineSpec, launch: LaunchConfig, moment: EngineState
) -> None:
    process = EngineProcess(embedded, launch)
    cancel = CancelToken()
    with pytest.raises(Cancelled):
        for change in process.start(cancel):
            if change.state is moment:
                cancel.cancel()
    assert process.state is EngineState.STOPPED


SERVES = """
import http.server, json
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        ours = self.headers["Authorization"] == "Bearer " + os.environ["LLAMA_API_KEY"]
        self.send_response(200 if ours or self.path == "/health" else 401)
        self.end_headers()
        self.wfile.write(%r)
    def log_message(self, *_):
        pass
port = int(sys.argv[sys.argv.index("--port") + 1])
http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


@pytest.mark.parametrize("answer", [b"", b"{oops", b"\xff", b"7", b"null", b"[7]"])
def test_an_engine_that_answers_garbage_is_named(
    posing_as: Posing, launch: LaunchConfig, answer: bytes
) -> None:
    drafting = replace(launch, spec=SpecConfig(DrafterKind.MTP, None, 3))
    assert failure_of(EngineProcess(posing_as(SERVES % answer), drafting)).code == "not_an_engine"


NO_HTTP = """
import socket
port = int(sys.argv[sys.argv.index("--port") + 1])
with socket.create_server(("127.0.0.1", port)) as server:
    while True:
        connection, _ = server.accept()
        connection.recv(65536)
        %s
        connection.close()
"""
NO_HEALTH = SERVES.replace('self.path == "/health"', "False")


@pytest.mark.parametrize(
    "body",
    [
        NO_HTTP % r"connection.sendall(b'\0garbage\r\n\r\n' * 3)",
        NO_HTTP % "pass",
        NO_HTTP % r"connection.sendall(b'HTTP/1.1 200 OK\r\n\r\n' + b'x' * (5 << 20))",
        NO_HEALTH % b"",
    ],
    ids=["garbage", "nothing", "endless", "refuses"],
)
def test_a_port_that_speaks_nonsense_is_named_soon(
    posing_as: Posing, launch: LaunchConfig, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    monkeypatch.setattr(readiness, "ODD_SECONDS", 0.3)
    failure = failure_of(EngineProcess(posing_as(body), launch))
    assert failure.code == "not_an_engine"
    assert failure.action == "Choose another engine in Settings."


def test_a_flood_of_lines_cannot_extend_the_start_of_a_small_model(demo: Path) -> None:
    limit = Patience()
    reading = demo.stat().st_size / limit.bytes_per_second
    assert limit.silence + limit.most * reading < 65


def test_a_flood_ends_when_the_time_for_the_file_is_over(
    posing_as: Posing, launch: LaunchConfig
) -> None:
    flood = posing_as("while True: print('busy ' * 50, flush=True)")
    patience = Patience(silence=1.0, most=2.0)
    started = time.monotonic()
    assert failure_of(EngineProcess(flood, launch, patience)).code == "engine_hung"
    # Not ten times the silence; ending the engine takes its time, too.
    assert time.monotonic() - started < 8


def test_without_a_folder_for_logs_it_starts_all_the_same(
    embedded: EngineSpec, launch: LaunchConfig, own_home: Path
) -> None:
    own_home.touch()  # in the place of the folder
    process = EngineProcess(embedded, launch)
    assert start(process)[-1].state is EngineState.READY
    process.stop()


def test_a_cancelled_start_starts_nothing(embedded: EngineSpec, launch: LaunchConfig) -> None:
    cancel = CancelToken()
    cancel.cancel()
    process = EngineProcess(embedded, launch)
    with pytest.raises(Cancelled):
        start(process, cancel)
    assert process.log is None


def test_stop_from_another_thread_ends_a_start(posing_as: Posing, launch: LaunchConfig) -> None:
    process = EngineProcess(posing_as("time.sleep(60)"), launch)
    stopper = threading.Timer(0.3, process.stop)
    stopper.start()
    with pytest.raises(Cancelled):
        start(process)
    stopper.join()
    assert process.state is EngineState.STOPPED


def test_a_taken_port_is_left_to_its_owner(
    embedded: EngineSpec, launch: LaunchConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as owner:
        owner.bind(("127.0.0.1", 0))
        owner.listen()
        taken = owner.getsockname()[1]
        ports = iter([taken, free_port()])
        monkeypatch.setattr(process_module, "free_port", lambda: next(ports))
        process = EngineProcess(embedded, launch)
        start(process)
        assert str(taken) not in process.address
        process.stop()


def test_a_stranger_that_answers_is_not_taken_for_the_engine(
    embedded: EngineSpec, launch: LaunchConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stranger(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"[]")

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as stranger:
        thread = threading.Thread(target=stranger.serve_forever)
        thread.start()
        monkeypatch.setattr(process_module, "free_port", lambda: stranger.server_port)
        assert failure_of(EngineProcess(embedded, launch)).code == "port_taken"
        stranger.shutdown()
        thread.join()


def test_two_engines_at_once_do_not_meet(embedded: EngineSpec, launch: LaunchConfig) -> None:
    first, second = EngineProcess(embedded, launch), EngineProcess(embedded, launch)
    start(first)
    start(second)
    assert first.address != second.address
    assert first.key != second.key
    first.stop()
    assert second.failure() is None
    second.stop()
