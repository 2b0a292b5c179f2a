"""Logs stay small, are the user's alone, and never stop what writes to them."""

import logging
import os
from pathlib import Path

import pytest

from slipstream.logs import log_file


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def write(handler: logging.Handler, lines: int) -> None:
    for _ in range(lines):
        handler.handle(logging.makeLogRecord({"msg": "0123456789"}))
    handler.close()


def test_a_log_stays_small_and_private(home: Path) -> None:
    write(log_file("engine.log", 5_000), 5_000)
    found = {path.name: path.stat() for path in (home / "logs").iterdir()}
    assert set(found) == {"engine.log", "engine.log.1"}
    assert max(stat.st_size for stat in found.values()) <= 5_000
    assert (home / "logs" / "engine.log").read_text().endswith("0123456789\n")
    if os.name == "posix":
        assert {stat.st_mode & 0o777 for stat in found.values()} == {0o600}


def test_a_file_that_cannot_be_written_stops_nothing(home: Path) -> None:
    (home / "logs" / "engine.log").mkdir(parents=True)
    write(log_file("engine.log", 5_000), 3)


@pytest.mark.skipif(os.name != "posix", reason="pipes have names there")
def test_a_pipe_in_its_place_is_not_waited_for(home: Path) -> None:
    (home / "logs").mkdir(parents=True)
    os.mkfifo(home / "logs" / "engine.log")
    write(log_file("engine.log", 5_000), 3)


def test_a_folder_that_cannot_be_made_stops_nothing(home: Path) -> None:
    home.touch()
    write(log_file("engine.log", 5_000), 3)
