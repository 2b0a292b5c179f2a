"""``slipstream`` alone opens the window, and says in one line why it cannot."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import Ended
from slipstream.__main__ import _explain, _is_for_window, _missing_packages, _obstacle


@pytest.mark.parametrize(
    ("arguments", "window"),
    [([], True), (["a b.gguf"], True), (["A.GGUF"], True), (["doctor"], False),
     (["chat", "a.gguf"], False), (["--help"], False)],
)  # fmt: skip
def test_no_argument_or_one_model_file_is_for_the_window(
    arguments: list[str], window: bool
) -> None:
    assert _is_for_window(arguments) == window


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a display")
def test_without_a_display_it_chats_in_the_terminal(slipstream: Callable[..., Ended]) -> None:
    ended = slipstream()
    first, *rest = ended.err.splitlines()
    assert first == "There is no display to open a window on. Chatting in the terminal instead."
    assert "There is no text to answer" in rest[0]
    assert ended.code == 2


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a display")
def test_without_a_display_a_model_file_is_the_model_to_chat_with(
    slipstream: Callable[..., Ended],
) -> None:
    ended = slipstream("missing.gguf", stdin="Hello")
    assert ended.code == 1
    assert "missing.gguf" in ended.err


@pytest.mark.parametrize("name", ["DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"])
def test_any_display_will_do(name: str) -> None:
    assert _obstacle({name: "offscreen"}) != "There is no display to open a window on."


@pytest.mark.skipif(sys.platform != "linux", reason="libraries of Linux")
def test_missing_libraries_are_told_as_the_packages_to_install() -> None:
    packages = _missing_packages({"libc.so.6": "libc6", "libnever.so.1": "libnever1"})
    assert packages == ["libnever1"]
    assert "lacks: libnever1." in _explain("libnever.so.1: cannot open", packages)
    assert "No module named PySide6" in _explain("No module named PySide6", [])


def test_the_window_starts_without_the_command_line_and_the_other_way_round(
    environment: dict[str, str], tmp_path: Path
) -> None:
    script = (
        "import sys; import slipstream.ui.app; "
        "print([m for m in ('typer', 'rich', 'slipstream.engine.session') if m in sys.modules])"
    )
    other = "import sys; import slipstream.cli.verbs; print('PySide6' in sys.modules)"
    for code, expected in ((script, "[]"), (other, "False")):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**environment, "QT_QPA_PLATFORM": "offscreen"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == expected
