"""The guardian passes on how an engine ends, and never lets one outlive the app."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from slipstream.engine.child import Child

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")

APP = """
import sys, time
from pathlib import Path
from slipstream.cancel import CancelToken
from slipstream.engine.config import LaunchConfig
from slipstream.engine.process import EngineProcess
from slipstream.engine.spec import learn

process = EngineProcess(learn("embedded"), LaunchConfig(Path(sys.argv[1]), 512, threads=1))
list(process.start(CancelToken()))
print(process._child.pid, flush=True)
time.sleep(60)
"""


def python(code: str) -> Child:
    return Child([sys.executable, "-c", f"import os, signal, sys, time\n{code}"], os.environ)


def output_of(child: Child) -> bytes:
    with child.output as stream:
        return stream.read()


def engine_of(child: Child) -> psutil.Process:
    return child_of(psutil.Process(child.pid))


def child_of(process: psutil.Process) -> psutil.Process:
    for _ in range(500):
        if children := process.children():
            return children[0]
        time.sleep(0.01)
    pytest.fail("it started no process")


def gone_after(process: psutil.Process, limit: float) -> float:
    started = time.monotonic()
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() - started < limit, "the engine is still there"
        time.sleep(0.02)
    return time.monotonic() - started


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("sys.exit(0)", 0),
        ("sys.exit(3)", 3),
        ("os.kill(os.getpid(), signal.SIGSEGV)", 128 + signal.SIGSEGV),
        ("os.kill(os.getpid(), signal.SIGILL)", 128 + signal.SIGILL),
        ("os.kill(os.getpid(), signal.SIGKILL)", 128 + signal.SIGKILL),
    ],
)
def test_it_ends_with_the_status_of_the_engine_as_shells_tell_it(code: str, status: int) -> None:
    child = python(code)
    assert child.wait(10) == status
    child.ask_to_end()
    child.output.close()


def test_output_and_errors_pass_through_untouched() -> None:
    child = python("os.write(1, bytes(range(256))); os.write(2, b'error')")
    assert output_of(child) == bytes(range(256)) + b"error"
    assert child.wait(10) == 0
    child.ask_to_end()


def test_an_engine_that_cannot_be_started_is_told_by_its_status(tmp_path: Path) -> None:
    text = tmp_path / "engine"
    text.write_text("not a program")
    for program, status in ((tmp_path / "nothing", 127), (text, 126)):
        child = Child([str(program)], os.environ)
        assert b"cannot start the engine" in output_of(child)
        assert child.wait(10) == status
        child.ask_to_end()


def test_a_crash_writes_no_core_file(tmp_path: Path) -> None:
    child = python("import resource; print(resource.getrlimit(resource.RLIMIT_CORE))")
    assert output_of(child) == b"(0, 0)\n"
    child.wait(10)
    child.ask_to_end()


def test_an_engine_that_refuses_to_stop_is_killed() -> None:
    child = python(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    )
    engine = engine_of(child)
    assert child.output.readline() == b"up\n"
    child.ask_to_end()
    assert gone_after(engine, 3.0) < 3.0
    assert child.wait(3) == 128 + signal.SIGKILL
    child.output.close()


def test_what_a_wrapper_script_started_ends_too() -> None:
    child = Child(["sh", "-c", "sleep 60; true"], os.environ)
    wrapper = engine_of(child)
    sleeper = child_of(wrapper)
    child.ask_to_end()
    gone_after(sleeper, 3.0)
    child.wait(3)
    child.output.close()


def test_kill_ends_everything_at_once() -> None:
    child = python("signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)")
    engine = engine_of(child)
    child.kill()
    gone_after(engine, 1.0)
    child.output.close()


@pytest.mark.parametrize("stopped", [False, True])
def test_no_engine_survives_a_killed_app(demo: Path, stopped: bool) -> None:
    if stopped and sys.platform != "linux":
        pytest.skip("needs signals of pipes")
    with subprocess.Popen(
        [sys.executable, "-c", APP, str(demo)], stdout=subprocess.PIPE, text=True
    ) as app:
        assert app.stdout
        guardian = psutil.Process(int(app.stdout.readline()))
        (engine,) = guardian.children()
        assert "slipstream.engine.embedded" in engine.cmdline()
        if stopped:
            guardian.suspend()
        app.send_signal(signal.SIGKILL)
        app.wait(5)
        try:
            gone_after(engine, 2.0)
        finally:
            guardian.resume()
        gone_after(guardian, 2.0)


@pytest.mark.skipif(sys.platform != "linux", reason="needs signals of pipes")
def test_no_engine_survives_a_killed_app_whose_guardian_is_stopped() -> None:
    """The engine stands for any program: it knows nothing of us and watches nothing."""
    child = Child(["sh", "-c", "sleep 60; true"], os.environ)
    engine = engine_of(child)
    sleeper = child_of(engine)
    os.kill(child.pid, signal.SIGSTOP)
    try:
        child.ask_to_end()  # the same pipe closes when the app is killed
        gone_after(sleeper, 2.0)
        gone_after(engine, 2.0)
        os.kill(child.pid, signal.SIGCONT)
        assert child.wait(3) == 128 + signal.SIGTERM
    finally:
        child.kill()
        child.output.close()


@pytest.mark.skipif(sys.platform != "linux", reason="needs signals of pipes")
def test_the_engine_is_terminated_once_so_that_it_can_end_cleanly() -> None:
    child = python(
        "signal.signal(signal.SIGTERM, lambda *_: print('term', flush=True));"
        "print('up', flush=True); time.sleep(0.5); time.sleep(0.5)"
    )
    engine_of(child)
    assert child.output.readline() == b"up\n"
    child.ask_to_end()
    assert child.wait(5) == 0
    assert output_of(child) == b"term\n"


@pytest.mark.skipif(sys.platform != "linux", reason="needs the parent-death signal")
def test_no_engine_survives_a_killed_guardian() -> None:
    child = python("time.sleep(60)")
    engine = engine_of(child)
    os.kill(child.pid, signal.SIGKILL)
    gone_after(engine, 2.0)
    assert child.wait(2) == -signal.SIGKILL
    child.ask_to_end()
    child.output.close()
