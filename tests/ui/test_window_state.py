"""The window remembers its state; nothing in the file can keep it from opening."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipstream.ui import window_state
from slipstream.ui.window_state import WindowState

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def test_state_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    file = tmp_path / "window.json"
    state = WindowState(geometry="AAA=", sidebar=False, recent=("/models/a.gguf",))
    window_state.save(file, state)
    assert window_state.load(file) == state


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"sidebar": fal',
        b"\xff\xfe",
        b'["sidebar"]',
        b"[" * 100_000,
        b'{"recent": "/models/a.gguf", "looked_at": ["\\ud800"], "welcomed": 1}',
    ],
)
def test_a_missing_or_damaged_file_is_a_fresh_start(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "window.json"
    assert window_state.load(file) == WindowState()
    file.write_bytes(content)
    assert window_state.load(file) == WindowState()


def test_a_pipe_in_its_place_is_a_fresh_start(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "window.json")
    assert window_state.load(tmp_path / "window.json") == WindowState()


@given(
    st.dictionaries(
        st.sampled_from(["geometry", "sidebar", "speed_panel", "recent", "looked_at", "other"]),
        _JSON,
    )
)
def test_values_of_the_wrong_kind_are_as_at_first(values: dict[str, object]) -> None:
    state = window_state.from_values(values)
    assert isinstance(state.geometry, str)
    assert isinstance(state.sidebar, bool)
    assert all(isinstance(path, str) for path in state.recent)


def test_opened_files_are_listed_newest_first_without_repeats() -> None:
    state = WindowState()
    for name in ("a", "b", "a"):
        state = state.with_opened(Path(f"/{name}.gguf"))
    assert state.recent == ("/a.gguf", "/b.gguf")
