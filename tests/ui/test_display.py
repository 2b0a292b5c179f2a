"""A display that is named but not there is found out before Qt ends the process."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import COMMAND
from slipstream.ui.display import unreachable

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="displays of Linux")


def test_a_display_that_is_gone_means_the_terminal(home: Path) -> None:
    environment = {**os.environ, "DISPLAY": ":4097", "SLIPSTREAM_HOME": str(home)}
    for name in ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY"):
        environment.pop(name, None)
    ended = subprocess.run(
        [COMMAND], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert ended.stderr.splitlines()[0] == (
        "The display :4097 does not answer. Chatting in the terminal instead."
    )
    assert ended.returncode == 2


@pytest.mark.parametrize(
    "environment",
    [
        {"DISPLAY": "127.0.0.1:4097.0"},
        {"DISPLAY": "not.a.host.invalid:0"},
        {"DISPLAY": "nonsense"},
        {"DISPLAY": ":4097", "QT_QPA_PLATFORM": "xcb"},
        {"WAYLAND_DISPLAY": "wayland-gone", "XDG_RUNTIME_DIR": "/tmp"},
        {"WAYLAND_DISPLAY": "/tmp/gone", "DISPLAY": ":4097"},
    ],
)
def test_displays_that_do_not_answer(environment: dict[str, str]) -> None:
    assert unreachable(environment) is not None


def test_any_display_that_answers_will_do(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 6000 + 4096)), socket.socket(socket.AF_UNIX) as wayland:
        wayland.bind(str(tmp_path / "wayland-0"))
        wayland.listen()
        assert unreachable({"DISPLAY": "localhost:4096"}) is None
        assert unreachable({"DISPLAY": "localhost:4096", "WAYLAND_DISPLAY": "/tmp/gone"}) is None
        assert unreachable({"WAYLAND_DISPLAY": str(tmp_path / "wayland-0")}) is None
        there = {"WAYLAND_DISPLAY": "wayland-0", "XDG_RUNTIME_DIR": str(tmp_path)}
        assert unreachable({**there, "DISPLAY": ":4097"}) is None
        assert unreachable({"DISPLAY": ":4097", "QT_QPA_PLATFORM": "offscreen"}) is None
