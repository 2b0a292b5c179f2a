"""A second start of the app hands its file to the first window."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from slipstream.ui.single_instance import SingleInstance

_SECOND = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from slipstream.ui.single_instance import SingleInstance
app = QCoreApplication([])
instance = SingleInstance(Path(sys.argv[1]))
first = instance.claim()
print("first" if first else instance.hand_over(sys.argv[2]), flush=True)
if first and sys.argv[2] == "stay":
    app.exec()
"""


@pytest.fixture
def first(qapp: QApplication, tmp_path: Path) -> Iterator[SingleInstance]:
    instance = SingleInstance(tmp_path)
    yield instance
    instance.release()


def second(folder: Path, path: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", _SECOND, str(folder), path], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize(
    "name", ["/models/ä b.gguf", "/models/two\nlines.gguf", os.fsdecode(b"/models/\xff.gguf"), ""]
)
def test_the_second_hands_over_its_file(
    first: SingleInstance, tmp_path: Path, until: Callable[..., None], name: str
) -> None:
    assert first.claim()
    asked: list[str] = []
    first.asked.connect(asked.append)
    with second(tmp_path, name) as other:
        until(lambda: other.poll() is not None)
        assert other.communicate()[0].strip() == "True"
    assert asked == [name]


def test_another_folder_is_another_app(first: SingleInstance, tmp_path: Path) -> None:
    assert first.claim()
    other = tmp_path / "other"
    other.mkdir()
    with second(other, "") as process:
        assert process.communicate(timeout=30)[0].strip() == "first"


def test_a_killed_first_does_not_block_the_next(first: SingleInstance, tmp_path: Path) -> None:
    with second(tmp_path, "stay") as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "first"
        process.kill()
    assert first.claim()


@pytest.mark.skipif(os.name != "posix", reason="pipes have names there")
def test_a_pipe_in_place_of_the_lock_is_not_waited_for(qapp: QApplication, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "window.lock")
    instance = SingleInstance(tmp_path)
    assert instance.claim()
    instance.release()


def test_a_folder_that_takes_no_lock_does_not_keep_the_window_shut(
    qapp: QApplication, tmp_path: Path
) -> None:
    instance = SingleInstance(tmp_path / "not there")
    assert instance.claim()
    instance.release()
