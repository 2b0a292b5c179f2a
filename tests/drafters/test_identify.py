from collections.abc import Callable
from pathlib import Path

import pytest

from gguf_files import (
    DEMO,
    DEMO_DFLASH,
    DEMO_MTP,
    DEMO_SMALL,
    write_adapter,
    write_dflash,
    write_dspark,
    write_eagle3,
    write_gemma4_assistant,
    write_gguf,
    write_imatrix,
    write_mtp,
    write_projector,
    write_target,
    write_vocabulary,
)
from slipstream.drafters.identify import FileRole, mtp_layers, role_by_name, role_of, trunk_layers
from slipstream.weights.header import read_header


@pytest.mark.parametrize(
    ("path", "role"),
    [
        (DEMO, FileRole.TARGET),
        (DEMO_SMALL, FileRole.TARGET),
        (DEMO_DFLASH, FileRole.DFLASH),
        (DEMO_MTP, FileRole.MTP),
    ],
)
def test_the_demo_files(path: Path, role: FileRole) -> None:
    assert role_of(read_header(path)) is role


@pytest.mark.parametrize(
    ("write", "role"),
    [
        (write_target, FileRole.TARGET),
        (write_mtp, FileRole.MTP),
        (write_dflash, FileRole.DFLASH),
        (write_dspark, FileRole.DSPARK),
        (write_eagle3, FileRole.EAGLE3),
        (write_gemma4_assistant, FileRole.GEMMA4_ASSISTANT),
        (write_projector, FileRole.PROJECTOR),
        (write_imatrix, FileRole.IMATRIX),
        (write_adapter, FileRole.ADAPTER),
        (write_vocabulary, FileRole.VOCABULARY),
    ],
)
def test_every_role_is_told_whatever_the_file_is_called(
    tmp_path: Path, write: Callable[[Path], Path], role: FileRole
) -> None:
    assert role_of(read_header(write(tmp_path / "misleading-mtp-mmproj.gguf"))) is role


def test_dflash2_is_known_by_its_selector(tmp_path: Path) -> None:
    keys = {"dflash.selector_top_k": 4}
    assert role_of(read_header(write_dflash(tmp_path / "a", keys=keys))) is FileRole.DFLASH2


@pytest.mark.parametrize("architecture", ["dflash-draft", "gemma4_mtp", "gemma4_assistant"])
def test_drafters_of_forks_are_told_apart(tmp_path: Path, architecture: str) -> None:
    path = write_gguf(tmp_path / "a.gguf", architecture, {}, {"fc.weight": (8, 8)})
    assert role_of(read_header(path)) is FileRole.FORK_DRAFTER


def test_a_head_inside_the_model_needs_its_key_and_its_tensor(tmp_path: Path) -> None:
    whole = read_header(write_target(tmp_path / "whole.gguf", "qwen35", mtp=1))
    assert mtp_layers(whole) == 1
    assert trunk_layers(whole) == 4
    assert role_of(whole) is FileRole.TARGET

    stripped = write_target(
        tmp_path / "stripped.gguf", "qwen35", keys={"qwen35.nextn_predict_layers": 1}
    )
    assert mtp_layers(read_header(stripped)) == 0
    assert role_of(read_header(stripped)) is FileRole.TARGET


def test_the_demo_has_its_head_inside() -> None:
    assert mtp_layers(read_header(DEMO)) == 1
    assert trunk_layers(read_header(DEMO)) == 24


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("mtp-Model-Q8_0.gguf", FileRole.MTP),
        ("MTP/Model.gguf", FileRole.MTP),
        ("Model-27B-DFlash-BF16.gguf", FileRole.DFLASH),
        ("dspark/a.gguf", FileRole.DSPARK),
        ("Model-eagle3.gguf", FileRole.EAGLE3),
        ("Model-27B-MTP-Q4_K_M.gguf", FileRole.TARGET),
        ("helpful-assistant-7B.gguf", FileRole.TARGET),
    ],
)
def test_a_name_is_a_guess_for_files_that_cannot_be_read(path: str, role: FileRole) -> None:
    assert role_by_name(Path(path)) is role
