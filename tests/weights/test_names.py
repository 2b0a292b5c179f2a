from pathlib import Path

import pytest

from gguf_files import DEMO, GgufValue, write_gguf
from slipstream.weights.header import read_header
from slipstream.weights.names import Shard, display_name, model_stem, quantization, shard_of

LABELS = """F32 F16 BF16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q2_K_S Q3_K_S Q3_K_M Q3_K_L Q4_K_S Q4_K_M
Q5_K_S Q5_K_M Q6_K IQ1_S IQ1_M IQ2_XXS IQ2_XS IQ2_S IQ2_M IQ3_XXS IQ3_XS IQ3_S IQ3_M IQ4_NL IQ4_XS
TQ1_0 TQ2_0 MXFP4_MOE MXFP4 NVFP4 Q1_0 Q2_0 Q4_0_4_4 Q4_0_4_8 Q4_0_8_8 UD-Q4_K_XL UD-IQ2_M UD-Q6_K_S
UD-IQ4_NL_XL Q4_K_L Q2_K_L Q6_K_L Q8_K_XL i1-Q4_K_M i1-IQ3_XXS IQ2_K IQ6_K IQ4_KS IQ4_KSS IQ2_KT
Q4_K_R4 IQ4_NL_R4 smol-IQ4_K Q4_X PTQ1_0 ROCMFP4"""


@pytest.mark.parametrize("label", LABELS.split())
@pytest.mark.parametrize(
    "name",
    ["Model-27B-{}.gguf", "Model.{}.gguf", "model_{}-it.gguf", "{}", "a-{}-00001-of-00003.gguf"],
)
def test_finds_every_label_wherever_it_stands(label: str, name: str) -> None:
    assert quantization(name.format(label)) == label
    assert quantization(name.format(label.lower())) == label


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("gpt-oss-20b-MXFP4_MOE-BF16.gguf", "MXFP4_MOE"),
        ("DeepSeek-V4-Q2_K-Q8_0-dflash.gguf", "Q8_0"),
        ("gemma-qat-q4_0-unquantized-BF16.gguf", "BF16"),
        ("Model-BF16-Q4_K_M.gguf", "Q4_K_M"),
        ("Jan-v2-VL-high.gguf", None),
        ("muse-glimmer-30B-kquant-17gb.gguf", None),
        ("DeepSeek-V4-Flash-IQ2XXS-w2Q2K-0731.gguf", None),
        ("Qwen3.8-27B.gguf", None),
        ("", None),
    ],
)
def test_of_several_labels_the_last_counts(name: str, label: str | None) -> None:
    assert quantization(name) == label


@pytest.mark.parametrize(
    ("name", "shard"),
    [
        ("Kimi-Q4_K_M-00002-of-00171.gguf", Shard("Kimi-Q4_K_M", 2, 171)),
        ("grok-1-split-00001-of-00009.gguf", Shard("grok-1-split", 1, 9)),
        ("a-00000-of-00002.gguf", None),
        ("a-00003-of-00002.gguf", None),
        ("a-1-of-2.gguf", None),
        ("a.gguf", None),
    ],
)
def test_reads_the_place_in_a_set(name: str, shard: Shard | None) -> None:
    assert shard_of(name) == shard


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("Qwen3.8-27B-UD-Q4_K_XL-00001-of-00003.gguf", "Qwen3.8-27B"),
        ("gemma-4-31B_q4_0-it.gguf", "gemma-4-31B-it"),
        ("name.i1-Q4_K_M.gguf", "name"),
        ("grok-1-split-00001-of-00009.gguf", "grok-1"),
        ("mtp-Qwen3.8-27B-Q8_0.gguf", "mtp-Qwen3.8-27B"),
        ("Q4_K_M.gguf", ""),
    ],
)
def test_the_stem_is_the_name_without_the_rest(name: str, stem: str) -> None:
    assert model_stem(name) == stem


def test_a_name_for_people_comes_from_the_file_name() -> None:
    assert display_name(DEMO, read_header(DEMO)) == "Slipstream Demo Deep 3M Q8_0"


def test_a_file_without_a_name_of_its_own_takes_the_header_s(tmp_path: Path) -> None:
    keys: dict[str, GgufValue] = {"general.name": "Qwen3.8 27B", "general.file_type": 15}
    for name in ("sha256-0123456789abcdef0123", "model.gguf", "ggml-model-Q4_K_M.gguf"):
        path = write_gguf(tmp_path / name, "qwen35", keys)
        assert display_name(path, read_header(path)) == "Qwen3.8 27B Q4_K_M"


def test_the_folder_may_name_the_quantization(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "UD-Q2_K_XL" / "Kimi-K3.gguf", "deepseek4")
    assert display_name(path, read_header(path)) == "Kimi K3 UD-Q2_K_XL"
    path = write_gguf(tmp_path / "plain" / "Kimi-K3.gguf", "deepseek4")
    assert display_name(path, read_header(path)) == "Kimi K3"
