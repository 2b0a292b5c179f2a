"""Small files: whatever is in their place, reading ends; a file is written whole or not at all."""

import os
from pathlib import Path

import pytest

from slipstream.drafters.entries import read_entries
from slipstream.small_files import in_place_of, read_json, read_text, write_text


def test_what_was_written_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    write_text(file, '{"a": "ä"}')
    assert read_json(file) == {"a": "ä"}
    write_text(file, "other")
    assert read_text(file) == "other"
    assert list(tmp_path.iterdir()) == [file]
    assert file.stat().st_mode & 0o077 == 0


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ValueError, match="no file"):
        read_text(pipe)
    assert read_entries(lambda: pipe) == {}


def test_what_is_too_long_or_too_deep_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("x" * 20)
    with pytest.raises(ValueError, match="too long"):
        read_text(file, 10)
    file.write_text("[" * 100_000)
    with pytest.raises(ValueError, match="nested"):
        read_json(file)


def test_what_could_not_be_written_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    write_text(file, "old")
    with pytest.raises(OSError, match="full"), in_place_of(file) as stream:
        stream.write(b"half of the n")
        raise OSError("the disk is full")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]
