from collections.abc import Callable
from pathlib import Path, PurePosixPath

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
from slipstream.drafters.identify import (
    Doubt,
    FileRole,
    drafter_kind,
    guess_by_name,
    mtp_layers,
    role_by_name,
    role_of,
    trunk_layers,
)
from slipstream.drafters.kinds import DrafterKind
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


def test_how_a_drafter_drafts_is_in_its_header(tmp_path: Path) -> None:
    def kind(path: Path) -> DrafterKind | None:
        return drafter_kind(read_header(path))

    assert kind(write_gemma4_assistant(tmp_path / "a")) is DrafterKind.MTP
    assert kind(write_dspark(tmp_path / "b")) is DrafterKind.DSPARK
    assert kind(write_gguf(tmp_path / "c", "dflash-draft")) is DrafterKind.DFLASH
    assert kind(write_gguf(tmp_path / "d", "gemma4_mtp")) is DrafterKind.MTP
    assert kind(write_target(tmp_path / "e", "qwen35", mtp=1)) is None


# What a file is by its name, and the paths that say so.
BY_NAME = {
    FileRole.TARGET: """
        Model-27B-Q4_K_M.gguf Model-27B-MTP-Q4_K_M.gguf Qwen3.6-27B-UDT-Q6_K_MTP.gguf
        model-mtp-q4_k_m.gguf helpful-assistant-7B.gguf gemma-4-12B-poet-assistant-Q4_K_M.gguf
        LFM2.5-VL-450M-imatrix-Q4_0-pure.gguf DeepSeek-V4-IQ2XXS-w2Q2K-chat-v2-imatrix-0731.gguf
        Model-IQ2_M-imatrix.gguf Model-LoRA-merged-Q8_0.gguf Model-LoRA-Q4_K_M.gguf Eagle2-9B.gguf
        Q4_K_M.gguf UD-Q4_K_XL/Model.gguf exporter-7B.gguf smtp-helper-Q8_0.gguf .gguf
        MTP/Model-extra/Model-Q4_K_M.gguf""",
    FileRole.MTP: """
        mtp-Model-Q8_0.gguf mtp-gemma-4-26B-A4B-it.gguf MTP/Model.gguf MTP-Model-Q8_0.gguf
        MTP/gemma-4-E4B-it-Q8_0-MTP.gguf MTP/gemma-4-12B-it-MTP-F16.gguf mtp/Model-Q4_0.gguf
        MTP/Q8_0/Model-00001-of-00002.gguf MTP-Q8_0/Model.gguf nextn-Model-Q8_0.gguf mtp.GGUF
        MTP/DFlash-Model-Q8_0.gguf MTP.gguf mtp/Q4/Model.gguf MTP/8-bit/Model.gguf""",
    FileRole.GEMMA4_ASSISTANT: """
        gemma-4-12B-it-assistant-BF16.gguf gemma-4-12B-it-assistant.Q8_0.gguf
        gemma-4-26b-A4B-it-assistant-Q4_0-q4emb.gguf gemma-4-26B-A4B-it-qat-assistant-q4_0.gguf
        google_gemma-4-E2B-it-assistant-IQ4_NL.gguf gemma-4-31B-it-heretic-assistant-Q8_0.gguf""",
    FileRole.DFLASH: """
        dflash-Model-27B-BF16.gguf Model-27B-DFlash-BF16.gguf dflash-kquant.gguf
        dflash-draft-3.6-q8_0.gguf dflash/Model-Q8_0.gguf Model-Q2_K-Q8_0-dflash.gguf
        DFlash-Model-27B-Uncensored.Q4_K_M.gguf Model-27B-drafter-Q8_0.gguf drafter.gguf""",
    FileRole.DFLASH2: "Qwen3.8-27B-DFlash2-Q4_K_M.gguf dflash2-Model-Q8_0.gguf",
    FileRole.DSPARK: """
        dspark/a.gguf dspark/dspark-Model-BF16.gguf dspark-Model-MXFP4.gguf
        Kimi-K3-DSpark-Q8_0.gguf DeepSeek-V4-Flash-0731-DSpark.gguf""",
    FileRole.EAGLE3: """
        Model-eagle3.gguf eagle3.gguf eagle3-gpt-oss-120b-Q8_0.gguf EAGLE3-LLaMA3.1-8B-BF16.gguf
        gemma-4-31B-EAGLE-3-Q8_0.gguf speculator-Model-Q8_0.gguf Model-8B-speculator.gguf
        speculators/Model-Q8_0.gguf""",
    FileRole.PROJECTOR: """
        mmproj-F16.gguf mmproj-Model-Q8_0.gguf mmproj-model-f16.gguf Model-mmproj.gguf
        Model.mmproj-f16.gguf Model-BF16-mmproj.gguf mmproj.gguf MTP/mmproj-F16.gguf
        mm-proj-Model-F16.gguf Model-vision-projector.gguf vision_projector.gguf
        DFlash-Model-27B.mmproj-f16.gguf mmproj/Model-F16.gguf Model-MMPROJ-F16.GGUF""",
    FileRole.IMATRIX: """
        imatrix_unsloth.gguf Model-imatrix.gguf Model.imatrix.gguf imatrix.gguf
        Model-BF16-imatrix.gguf imatrix-Model-Q8_0.gguf
        DFlash-Model-27B.imatrix.gguf""",
    FileRole.VOCABULARY: """
        tokenizer-LFM2.5-Audio-1.5B-Q8_0.gguf vocoder-LFM2.5-Audio-1.5B-f16.gguf
        audiodecoder-LFM2-Audio-F16.gguf ggml-vocab-llama-bpe.gguf""",
    FileRole.ADAPTER: "Model-lora.gguf lora-Model-F16.gguf Model-8B-LoRA-F16.gguf lora/a.gguf",
}


@pytest.mark.parametrize(
    ("path", "role"), [(path, role) for role in BY_NAME for path in BY_NAME[role].split()]
)
def test_a_name_is_a_guess_for_files_whose_header_is_not_known(path: str, role: FileRole) -> None:
    assert role_by_name(Path(path)) is role
    assert role_by_name(PurePosixPath(path)) is role


def test_folders_further_up_say_nothing_about_files_on_this_computer() -> None:
    assert role_by_name(Path("/home/mtp/models/Model-Q4_K_M.gguf")) is FileRole.TARGET


@pytest.mark.parametrize(
    ("path", "doubt"),
    [
        ("mtp-Model-Q8_0.gguf", Doubt.NONE),
        ("MTP/Model-MTP-Q8_0.gguf", Doubt.NONE),
        ("Model-DFlash-Q8_0.gguf", Doubt.NONE),
        ("DFlash-Model-Q4_K_M.gguf", Doubt.ALONE),
        ("Model-drafter-Q4_K_M.gguf", Doubt.ALONE),
        ("speculator-Model-Q4_K_M.gguf", Doubt.ALONE),
        ("Model-MTP-Q4_K_M.gguf", Doubt.BESIDE),
        ("Model-Q4_K_M.gguf", Doubt.NONE),
    ],
)
def test_some_names_of_drafters_are_those_of_models_too(path: str, doubt: Doubt) -> None:
    assert guess_by_name(PurePosixPath(path)).doubt is doubt
