"""What is dropped onto the app is opened, shown, or answered with a sentence."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gguf_files import write_target
from slipstream.cancel import Cancelled, CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub.library.dropped import Dropped, OpenModel, ShowFolders, dropped


def drop(*paths: Path, known: tuple[Path, ...] = ()) -> Dropped:
    return dropped(paths, known, CancelToken())


def refused(*paths: Path) -> tuple[str, str]:
    with pytest.raises(SlipstreamError) as failure:
        drop(*paths)
    return failure.value.code, failure.value.message


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_target(tmp_path / "models" / "publisher" / "a.gguf")
    return tmp_path / "models"


def test_a_model_is_opened(folder: Path) -> None:
    model = folder / "publisher" / "a.gguf"
    assert drop(model) == OpenModel(model)
    assert drop(folder, model) == OpenModel(model)


def test_any_file_of_a_set_opens_the_set(tmp_path: Path) -> None:
    first, second = (write_target(tmp_path / f"a-0000{n}-of-00002.gguf") for n in (1, 2))
    assert drop(second) == OpenModel(first)


def test_a_folder_with_models_is_shown(folder: Path, tmp_path: Path) -> None:
    assert drop(folder) == ShowFolders((folder,), new=(folder,))
    empty = tmp_path / "empty"
    empty.mkdir()
    assert drop(empty, folder) == ShowFolders((folder,), new=(folder,))


def test_a_folder_that_is_known_is_not_new(folder: Path) -> None:
    inner = folder / "publisher"
    assert drop(folder, known=(folder,)) == ShowFolders((folder,), new=())
    assert drop(inner, known=(folder,)) == ShowFolders((inner,), new=())
    assert drop(folder, known=(inner,)) == ShowFolders((folder,), new=(folder,))


def test_anything_else_is_answered_with_a_sentence(tmp_path: Path) -> None:
    letter, other, part = (tmp_path / name for name in ("a.txt", "a.safetensors", "a.gguf.part"))
    for path in (letter, other, part):
        path.touch()
    assert refused(letter) == ("not_a_model", "a.txt is not a GGUF model.")
    assert "another format" in refused(other)[1]
    assert refused(part) == ("not_finished", "a.gguf.part has not arrived in full.")
    assert refused() == ("nothing_to_open", "What was dropped is no file on this computer.")
    assert refused(tmp_path / "gone.gguf") == ("not_found", "gone.gguf is not there any more.")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert refused(empty, letter) == ("no_models_here", "There are no GGUF models in empty.")


def test_looking_through_a_folder_can_be_stopped(folder: Path) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        dropped([folder], [], cancel)


@settings(max_examples=10)
@given(st.lists(st.text(st.characters(exclude_characters="\0/"), min_size=3), max_size=3))
def test_no_name_is_too_strange(names: list[str]) -> None:
    paths = [Path("/nowhere", name) for name in names]
    with pytest.raises(SlipstreamError) as failure:
        drop(*paths)
    assert failure.value.action
