"""Answers are kept in memory and in a small file, and lost without harm."""

from pathlib import Path

import pytest

from slipstream.engine.keep import Keep
from slipstream.paths import cache_folder


def test_what_is_kept_is_there_for_the_next_start() -> None:
    Keep("a.json", 3).write("one", {"x": 1})
    assert Keep("a.json", 3).read("one") == {"x": 1}
    assert Keep("b.json", 3).read("one") is None


def test_the_newest_ones_are_kept() -> None:
    keep = Keep("a.json", 3)
    for key in "abcab":
        keep.write(key, {"is": key})
    keep.write("d", {})
    assert keep.read("c") is None
    assert [Keep("a.json", 3).read(key) for key in "abd"] == [{"is": "a"}, {"is": "b"}, {}]


def test_what_another_process_keeps_is_seen() -> None:
    mine = Keep("a.json", 9)
    mine.write("mine", {})
    Keep("a.json", 9).write("theirs", {"x": "longer"})
    mine.write("mine too", {})
    assert [mine.read(key) for key in ("mine", "theirs", "mine too")] == [{}, {"x": "longer"}, {}]


@pytest.mark.parametrize(
    "content", ["", "{", "[" * 100_000, "null", '{"one": 7}', "\0", '{"one": ' + "[" * 9]
)
def test_a_damaged_file_keeps_nothing(content: str) -> None:
    (cache_folder() / "a.json").write_text(content)
    keep = Keep("a.json", 3)
    assert keep.read("one") is None
    keep.write("one", {"x": 1})
    assert Keep("a.json", 3).read("one") == {"x": 1}


def test_a_file_that_is_too_large_is_not_read() -> None:
    (cache_folder() / "a.json").write_text('{"one": {}, "x": "' + "y" * 5_000_000 + '"}')
    assert Keep("a.json", 3).read("one") is None


def test_without_a_folder_it_is_kept_in_memory(own_home: Path) -> None:
    own_home.touch()  # in the place of the folder
    keep = Keep("a.json", 3)
    keep.write("one", {"x": 1})
    assert keep.read("one") == {"x": 1}


def test_another_home_is_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep = Keep("a.json", 3)
    keep.write("one", {"x": 1})
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "other"))
    assert keep.read("one") is None
    assert list(cache_folder().iterdir()) == []
