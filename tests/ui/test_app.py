"""The app as a process: it starts, ends cleanly, and never dies silently."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from slipstream.ui.mishaps import catch_exceptions

Until = Callable[..., None]
Launch = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def launch(home: Path) -> Iterator[Launch]:
    """Start the real app without a screen, in the test's own home."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(*arguments: str) -> "subprocess.Popen[bytes]":
        environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "SLIPSTREAM_HOME": str(home)}
        command = [sys.executable, "-m", "slipstream", *arguments]
        started.append(subprocess.Popen(command, env=environment))
        return started[-1]

    yield begin
    for app in started:
        app.kill()
        app.wait(10)


def ready_times(home: Path) -> int:
    log = home / "logs" / "window.log"
    return log.read_text().count("window ready") if log.exists() else 0


def wait_for(condition: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def test_it_ends_cleanly_when_asked_from_outside(launch: Launch, home: Path) -> None:
    app = launch()
    wait_for(lambda: ready_times(home) == 1)
    app.send_signal(signal.SIGTERM)
    assert app.wait(20) == 0
    assert (home / "config" / "window.json").exists()


def test_a_second_start_ends_and_leaves_one_window(launch: Launch, home: Path) -> None:
    first = launch()
    wait_for(lambda: ready_times(home) == 1)
    assert launch().wait(20) == 0
    assert first.poll() is None
    assert ready_times(home) == 1


def test_killing_it_leaves_no_engine_and_it_starts_again(launch: Launch, home: Path) -> None:
    app = launch()
    wait_for(lambda: bool(psutil.Process(app.pid).children(recursive=True)))
    engines = psutil.Process(app.pid).children(recursive=True)
    app.kill()
    app.wait(10)
    wait_for(lambda: not any(each.is_running() and each.status() != "zombie" for each in engines))
    before = ready_times(home)
    launch()
    wait_for(lambda: ready_times(home) == before + 1)


def test_an_exception_nobody_caught_is_reported_in_the_windows_thread(
    monkeypatch: pytest.MonkeyPatch, until: Until
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    reported: list[BaseException] = []
    catch_exceptions(reported.append)

    def fail() -> None:
        raise ValueError("a bug")

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    until(lambda: bool(reported))
    assert str(reported[0]) == "a bug"
