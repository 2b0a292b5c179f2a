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
