"""Models that lie in folders of the user's are found where they are."""

import os
from pathlib import Path

import pytest

from gguf_files import write_dflash, write_projector, write_target
from slipstream.hub.folders import files_in, models_in


def test_models_are_found_in_folders_below_by_name(tmp_path: Path) -> None:
    deep = tmp_path / "publisher" / "model" / "Q4_K_M"
    deep.mkdir(parents=True)
    one = write_target(tmp_path / "b.gguf")
    other = write_target(deep / "a.gguf")
    assert list(models_in(tmp_path)) == [one, other]
    assert list(models_in(tmp_path, deepest=0)) == [one]


def test_what_is_not_a_model_is_left_out(tmp_path: Path) -> None:
    write_dflash(tmp_path / "dflash.gguf")
    write_projector(tmp_path / "mmproj.gguf")
    (tmp_path / "notes.gguf").write_text("not a model")
    (tmp_path / "folder.gguf").mkdir()
    hidden = tmp_path / ".trash"
    hidden.mkdir()
    write_target(hidden / "old.gguf")
    assert list(models_in(tmp_path)) == []


@pytest.mark.skipif(os.name != "posix", reason="links")
def test_a_folder_that_leads_back_to_itself_ends(tmp_path: Path) -> None:
    model = write_target(tmp_path / "a.gguf")
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    assert list(models_in(tmp_path)) == [model]


def test_a_folder_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert list(models_in(tmp_path / "gone")) == []


def test_files_of_every_kind_can_be_asked_for(tmp_path: Path) -> None:
    drafter = write_dflash(tmp_path / "a.gguf")
    damaged = tmp_path / "b.gguf"
    damaged.write_text("not a model")
    first = write_target(tmp_path / "c-00001-of-00002.gguf")
    write_target(tmp_path / "c-00002-of-00002.gguf")
    assert list(files_in(tmp_path)) == [drafter, damaged, first]
