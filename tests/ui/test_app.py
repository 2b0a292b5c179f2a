"""The app as a process: it starts, ends cleanly, and never dies silently."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from running_engine import guardians
from slipstream.ui import window_state
from slipstream.ui.app import Running
from slipstream.ui.mishaps import catch_exceptions

Until = Callable[..., None]
Launch = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def launch(home: Path, tmp_path: Path) -> Iterator[Launch]:
    """Start the real app without a screen, in the test's own home."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(*arguments: str, data: Path = home) -> "subprocess.Popen[bytes]":
        environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "SLIPSTREAM_HOME": str(data)}
        command = [sys.executable, "-m", "slipstream", *arguments]
        with said(tmp_path).open("ab") as errors:
            started.append(subprocess.Popen(command, env=environment, stderr=errors))
        return started[-1]

    yield begin
    for app in started:
        app.kill()
        app.wait(10)


def said(folder: Path) -> Path:
    """What the app wrote on its standard error."""
    return folder / "stderr.txt"


def log_of(home: Path) -> str:
    log = home / "logs" / "window.log"
    return log.read_text() if log.exists() else ""


def ready_times(home: Path) -> int:
    return log_of(home).count("window ready")


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


def test_a_file_given_at_the_start_is_loaded_and_remembered(
    launch: Launch, home: Path, own_model: Path
) -> None:
    app = launch(str(own_model))
    wait_for(lambda: f"loaded {own_model}" in log_of(home))
    app.send_signal(signal.SIGTERM)
    assert app.wait(20) == 0
    assert window_state.load(home / "config" / "window.json").recent == (str(own_model),)


def test_a_second_start_hands_its_file_to_the_window(
    launch: Launch, home: Path, own_model: Path
) -> None:
    launch()
    wait_for(lambda: ready_times(home) == 1)
    assert launch(str(own_model)).wait(20) == 0
    wait_for(lambda: f"loaded {own_model}" in log_of(home))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            os.fsdecode(b"odd-\xff.gguf"),
            marks=pytest.mark.skipif(sys.platform != "linux", reason="names are text elsewhere"),
        ),
        "two\nlines\u202e.gguf",
    ],
)
def test_a_file_of_an_odd_name_that_is_handed_over_is_answered(
    demo_alone: Running, until: Until, own_model: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    odd = own_model.rename(own_model.with_name(name))
    demo_alone.window.come_forward(str(odd))

    def answered() -> bool:
        loaded = demo_alone.control.loaded
        told = demo_alone.window.notices.notice
        return told is not None or (loaded is not None and loaded.request.model == odd)

    until(answered)
    assert "Traceback" not in caplog.text


def test_a_data_folder_that_cannot_be_made_is_told_in_a_sentence(
    launch: Launch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    launch(data=tmp_path / "file" / "home")
    wait_for(lambda: "could not be made" in said(tmp_path).read_text())
    assert "Traceback" not in said(tmp_path).read_text()


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


@pytest.mark.parametrize("seconds", [0.15, 0.25, 0.35, 0.5, 0.7])
def test_interrupted_while_it_starts_it_ends_quietly(
    launch: Launch, tmp_path: Path, seconds: float
) -> None:
    app = launch()
    time.sleep(seconds)
    app.send_signal(signal.SIGINT)
    # Shells show the first as 130; the last when the window was open already.
    assert app.wait(20) in (-signal.SIGINT, 130, 0)
    assert not re.search("Fatal|shiboken|terminal", said(tmp_path).read_text())


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


def test_what_is_kept_of_the_window_is_the_newest(
    start: Callable[..., Running], until: Until, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    running = start()
    running.window.remembered.connect(running._remember)
    for number in range(40):
        running.window.state = replace(running.window.state, recent=(f"/models/{number}.gguf",))
        running.window.remembered.emit()
    until(lambda: running.work.idle)
    file = home / "config" / "window.json"
    assert window_state.load(file).recent == ("/models/39.gguf",)
    assert "bug" not in caplog.text
    assert [each.name for each in file.parent.iterdir() if "window" in each.name] == [file.name]


def test_a_full_disk_at_the_end_does_not_keep_the_engine_or_the_chats_open(
    demo_alone: Running, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A folder in the place of the file stands for a disk that refuses it."""
    (home / "config" / "window.json").unlink()
    (home / "config" / "window.json").mkdir()
    demo_alone.window.close()
    demo_alone.end()
    assert "window.json" in caplog.text
    assert not guardians()
    with pytest.raises(sqlite3.ProgrammingError):
        demo_alone.store.list_chats()


_COPY = """
from slipstream.ui import app
from slipstream.ui.transcript import Transcript
from slipstream.ui.work import Work

qt = app.application()
transcript = Transcript(Work())
transcript.add_reply("Hello")
transcript.selectAll()
transcript.copy()
app.leave_clipboard()
"""


def test_what_was_copied_does_not_crash_the_end() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _COPY], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
