"""The app's own folders: the user's alone, and a clear error where they cannot be made."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from slipstream import paths
from slipstream.errors import SlipstreamError

FOLDERS: list[Callable[[], Path]] = [
    paths.settings_file,
    paths.window_file,
    paths.chats_file,
    paths.predictions_file,
    paths.downloads_folder,
    paths.comparisons_folder,
    paths.cache_folder,
    paths.log_folder,
]


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
def test_only_the_user_can_look_into_the_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path))
    for where in FOLDERS:
        where()
    for folder in tmp_path.iterdir():
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("where", FOLDERS, ids=lambda where: where.__name__)
def test_a_folder_that_cannot_be_made_is_named(
    where: Callable[[], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(SlipstreamError) as caught:
        where()
    assert caught.value.code == "home_not_writable"
    assert str(tmp_path / "file") in str(caught.value.facts["path"])
    assert "SLIPSTREAM_HOME" in caught.value.action


def test_a_file_in_place_of_the_downloads_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "downloads").touch()
    with pytest.raises(SlipstreamError) as caught:
        paths.downloads_folder()
    assert caught.value.code == "home_not_writable"
    assert caught.value.facts["path"] == str(tmp_path / "data" / "downloads")


def test_a_home_that_nobody_has_stays_in_the_path() -> None:
    assert paths.expanded(Path("~/x")) == Path.home() / "x"
    assert paths.expanded(Path("~nobody-of-this-name/x")) == Path("~nobody-of-this-name/x")


@pytest.mark.parametrize("text", ["", " ", "a\0b", "\ud83d.gguf"])
def test_no_file_can_have_this_name(text: str) -> None:
    assert not paths.is_path(text)


@pytest.mark.parametrize("text", ["a", "/b c/ü", "\udcff.gguf"])
def test_a_file_could_have_this_name(text: str) -> None:
    assert paths.is_path(text)


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_path_leads_somewhere_or_stays_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "circle").symlink_to("circle")
    assert paths.real(tmp_path / "link") == paths.real(tmp_path / "file")
    assert paths.real(tmp_path / "circle").name == "circle"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Qwen ä 日本 👍.gguf", "Qwen ä 日本 👍.gguf"),
        ("two\nlines\t.gguf", "two\\nlines\\t.gguf"),
        ("model\u202efgug.exe", "model\\u202efgug.exe"),
        ("a\u2066b\u2029c", "a\\u2066b\\u2029c"),
        ("a\u200fb\u200ec\u061cd", "a\\u200fb\\u200ec\\u061cd"),
        (os.fsdecode(b"m\xff.gguf"), "m\\udcff.gguf"),
    ],
)
def test_any_name_can_be_shown_in_a_line(name: str, shown: str) -> None:
    assert paths.printable(name) == shown
    assert paths.printable(Path("/models", name)) == f"/models/{shown}"
