from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gguf_files import DEMO, GgufValue, write_gguf
from slipstream.weights.header import read_header
from slipstream.weights.names import (
    Shard,
    bits,
    display_name,
    is_float,
    meant,
    model_stem,
    parameters,
    quantization,
    quantization_at,
    refusal,
    shard_of,
)

LABELS = """F32 F16 BF16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q2_K_S Q3_K_S Q3_K_M Q3_K_L Q4_K_S Q4_K_M
Q5_K_S Q5_K_M Q6_K IQ1_S IQ1_M IQ2_XXS IQ2_XS IQ2_S IQ2_M IQ3_XXS IQ3_XS IQ3_S IQ3_M IQ4_NL IQ4_XS
TQ1_0 TQ2_0 MXFP4_MOE MXFP4 NVFP4 Q1_0 Q2_0 Q4_0_4_4 Q4_0_4_8 Q4_0_8_8 UD-Q4_K_XL UD-IQ2_M UD-Q6_K_S
UD-IQ4_NL_XL Q4_K_L Q2_K_L Q6_K_L Q8_K_XL IQ2_K IQ6_K IQ4_KS IQ4_KSS IQ2_KT
Q4_K_R4 IQ4_NL_R4 smol-IQ4_K Q4_X PTQ1_0 ROCMFP4 IQ3_K IQ4_K IQ5_K IQ2_KS IQ3_KS IQ5_KS
IQ1_KT IQ3_KT IQ4_KT IQ2_KL IQ1_S_R4 IQ1_M_R4 Q8_0_R8 Q8_K_R8 smol-IQ2_KS smol-IQ1_KT UD-TQ1_0
UD-IQ1_S UD-Q8_K_XL UD-Q3_K_XL UD-IQ3_XXS Q3_K_XL Q5_K_L Q4_K Q4_K_P
Q8_KV IQ1_BN IQ2_BN_R4 BF16_R16 I2_S Q6_0"""


# Files of public repositories, each with its label; "-" for none.
REAL = """
UD-TQ1_0 UD-TQ1_0/Kimi-K2-Instruct-UD-TQ1_0-00001-of-00005.gguf
Q8_0 Qwen3.8-27B-DFlash2-Q8_0.gguf
Q4_K_M GLM-4.7-Flash-Q4_K_M.gguf
- DeepSeek-V4-Flash-IQ2XXS-w2Q2K-AProjQ8-SExpQ8-OutQ8-chat-v2-imatrix-0731.gguf
Q8_0 MTP/gemma-4-E4B-it-Q8_0-MTP.gguf
- Qwen_Qwen3.6-35B-A3B-imatrix.gguf
Q5_K_M Hermes-3-Llama-3.1-70B-Q5_K_M/Hermes-3-Llama-3.1-70B-Q5_K_M-00001-of-00002.gguf
UD-Q4_K_M Qwen3.8-27B-UD-Q4_K_M.gguf
UD-Q4_K_XL Qwen3.8-27B-UD-Q4_K_XL.gguf
UD-Q3_K_XL Qwen3.8-27B-UD-Q3_K_XL.gguf
Q4_0 Qwen3.8-27B-Q4_0.gguf
BF16 BF16/Qwen3.8-27B-BF16-00001-of-00002.gguf
Q4_0 MTP/mtp-Qwen3.8-27B-Q4_0.gguf
BF16 mmproj-BF16.gguf
F16 mmproj-F16.gguf
- imatrix_unsloth.gguf
BF16 gemma-4-12B-it-assistant-BF16.gguf
IQ4_XS SmolLM2-1.7B-Instruct.IQ4_XS.gguf
Q2_K SmolLM2-1.7B-Instruct.Q2_K.gguf
Q4_0_4_4 SmolLM2-1.7B-Instruct.Q4_0_4_4.gguf
Q4_K_S SmolLM2-1.7B-Instruct.Q4_K_S.gguf
Q4_0 gemma-4-26b-A4B-it-assistant-Q4_0-q4emb.gguf
Q8_0 dflash-draft-3.6-q8_0.gguf
IQ3_XXS gemma-7b.i1-IQ3_XXS.gguf
F16 Qwen2.5-VL-7B-Instruct-f16.gguf
Q6_K_L Qwen_Qwen3.6-27B-Q6_K_L.gguf
BF16 mmproj-Qwen3.6-27B-BF16.gguf
IQ4_NL gemma-4-E2B-it-assistant-IQ4_NL.gguf
MXFP4_MOE DeepSeek-V4-Flash-0731-MXFP4_MOE-BF16.gguf
- DeepSeek-V4-Flash-0731-DSpark.gguf
F16 DFlash-Qwen3.5-27B-Uncensored.mmproj-f16.gguf
IQ4_NL google_gemma-4-31B-it-IQ4_NL.gguf
Q2_K_L google_gemma-4-31B-it-Q2_K_L.gguf
Q3_K_XL google_gemma-4-31B-it-Q3_K_XL.gguf
Q4_1 google_gemma-4-31B-it-Q4_1.gguf
Q4_K_L google_gemma-4-31B-it-Q4_K_L.gguf
Q4_0 mtp-google_gemma-4-31B-it-Q4_0.gguf
- google_gemma-4-31B-it-imatrix.gguf
F16 mmproj-MiMo-V2.5-F16.gguf
IQ4_KS Qwen3.6-27B-MTP-IQ4_KS.gguf
BF16 dflash-Qwen3.6-27B-BF16.gguf
Q8_0 mtp-Qwen3.6-27B-Q8_0.gguf
UD-Q8_K_XL UD-Q8_K_XL/DeepSeek-V4-Flash-0731-UD-Q8_K_XL-00001-of-00005.gguf
UD-Q2_K_XL UD-Q2_K_XL/DeepSeek-V4-Flash-0731-UD-Q2_K_XL-00001-of-00003.gguf
BF16 dspark/dspark-DeepSeek-V4-Flash-0731-BF16.gguf
UD-IQ1_M Qwen3.5-122B-A10B-UD-IQ1_M.gguf
F32 mmproj-F32.gguf
F16 mmproj-GLM-4.6V-Flash-F16.gguf
- mtp-gemma-4-12b-it.gguf
Q8_0 tokenizer-LFM2.5-Audio-1.5B-Q8_0.gguf
Q8_0 MTP/gemma-4-31B-it-MTP-Q8_0.gguf
Q4_0 mtp-gemma-4-26B-A4B-it-Q4_0.gguf
Q8_0 dflash-gemma-4-26B-A4B-it-Q8_0.gguf
Q2_K_S DeepSeek-V4-Flash-0731-Q2_K_S-00001-of-00002.gguf
MXFP4 dspark-DeepSeek-V4-Flash-0731-MXFP4.gguf
UD-IQ4_NL gemma-4-26B-A4B-it-UD-IQ4_NL.gguf
MXFP4 gpt-oss-120b-MXFP4.gguf
Q8_0 eagle3-gpt-oss-120b-Q8_0.gguf
NVFP4 gemma-4-31B-it-NVFP4-turbo-NVFP4.gguf
Q4_0_4_8 granite-3.0-2b-instruct-Q4_0_4_8.gguf
Q4_0_8_8 granite-3.0-2b-instruct-Q4_0_8_8.gguf
- dflash-kquant.gguf
IQ3_S Huihui-Qwen3-VL-4B-Instruct-abliterated-IQ3_S.gguf
IQ2_K_R4 DeepSeek-V3-0324-IQ2_K_R4/DeepSeek-V3-0324-IQ2_K_R4-00001-of-00005.gguf
- gemma-4-31B-it-mmproj.gguf
- eagle3.gguf
F16 mmproj-SmolVLM2-256M-Video-Instruct-f16.gguf
IQ4_KSS GLM-4.5-Air-IQ4_KSS-00001-of-00002.gguf
BF16 Ministral-3-8B-Instruct-2512-BF16-mmproj.gguf
BF16 Step3.7-flash-mtp-BF16.gguf
- Step-3.7.imatrix.gguf
Q8_0 Kimi-K3-DSpark-Q8_0.gguf
"""


@pytest.mark.parametrize("line", REAL.split("\n")[1:-1])
def test_real_files(line: str) -> None:
    label, name = line.split(" ", 1)
    path = PurePosixPath(name)
    assert (quantization_at(path) or "-") == label


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
        ("Qwen3.6-27B-UDT-Q6_K_MTP.gguf", "Q6_K"),
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
    ("name", "label"),
    [
        ("gemma-7b.i1-Q4_K_M.gguf", "Q4_K_M"),
        ("gemma-7b.I1-q4_k_m.gguf", "Q4_K_M"),
        ("qwen2.5-7b-instruct-fp16-00001-of-00004.gguf", "F16"),
        ("mmproj-FP32.gguf", "F32"),
        ("gpt-oss-20b-mxfp4.gguf", "MXFP4"),
        ("Qwen3.8-27B_UD_Q4_K_XL.gguf", "UD-Q4_K_XL"),
    ],
)
def test_one_quantization_has_one_label_however_it_is_written(name: str, label: str) -> None:
    assert quantization(name) == label


@pytest.mark.parametrize(
    ("asked", "there", "label"),
    [
        ("Q4_K_M", "UD-Q4_K_M Q4_K_M", "Q4_K_M"),
        ("q4_k_m", "Q8_0 Q4_K_M", "Q4_K_M"),
        ("i1-Q4_K_M", "Q4_K_M", "Q4_K_M"),
        ("Q4_K_M", "UD-Q4_K_M Q8_0", "UD-Q4_K_M"),
        ("i1-Q4_K_M", "UD-Q4_K_M", "UD-Q4_K_M"),
        ("ud-q4_k_m", "Q4_K_M UD-Q4_K_M", "UD-Q4_K_M"),
        ("fp16", "BF16 F16", "F16"),
        ("UD-Q4_K_M", "Q4_K_M", None),
        ("F16", "BF16", None),
        ("Q4_K", "Q4_K_S Q4_K_M", "Q4_K_M"),
        ("Q4_K", "Q4_K Q4_K_M", "Q4_K"),
        ("q5_k", "UD-Q5_K_M", "UD-Q5_K_M"),
        ("Q4_K", "Q4_K_S", None),
        ("Q4_K_M", "Q4_K", None),
        ("Q2_K", "Q2_K_S", None),
        ("MXFP4", "MXFP4_MOE", "MXFP4_MOE"),
        ("mxfp4_moe", "MXFP4", "MXFP4"),
        ("UD_Q4_K_XL", "UD-Q4_K_XL", "UD-Q4_K_XL"),
        ("Q4_XS", "IQ4_XS", None),
        ("Qwen3-Q4_K_M", "Q4_K_M", None),
        ("", "Q4_K_M", None),
        ("Q4_K_M", "", None),
    ],
)
def test_the_label_that_a_person_means(asked: str, there: str, label: str | None) -> None:
    assert meant(asked, [None, *there.split()]) == label


@given(st.sampled_from(LABELS.split()), st.lists(st.sampled_from(LABELS.split())))
def test_a_label_that_is_there_is_always_found(label: str, others: list[str]) -> None:
    assert meant(label.lower(), [*others, label]) == label


@pytest.mark.parametrize(
    ("labels", "runs"),
    [
        ("Q4_0 Q4_K_M UD-Q4_K_XL IQ4_XS IQ4_NL MXFP4_MOE NVFP4 Q1_0 TQ1_0 UD-TQ1_0 BF16", True),
        ("Q4_0_4_4 Q4_0_4_8 Q4_0_8_8", False),
        ("IQ2_K IQ4_KS IQ4_KSS IQ2_KT IQ2_KL Q4_K_R4 IQ1_S_R4 Q8_K_R8 smol-IQ4_K Q4_X Q6_0", False),
        ("PTQ1_0 ROCMFP4 I2_S IQ2_BN BF16_R16", False),
    ],
)
def test_the_engine_refuses_removed_types_and_those_of_forks(labels: str, runs: bool) -> None:
    assert {label for label in labels.split() if not refusal(label)} == {
        label for label in labels.split() if runs
    }
    assert refusal(None) is None


@pytest.mark.parametrize(
    ("label", "number", "float_"),
    [
        ("Q4_K_M", 4, False), ("UD-IQ2_XXS", 2, False), ("BF16", 16, True), ("F32", 32, True),
        ("NVFP4", 4, False), ("MXFP4_MOE", 4, False), ("Qwen3-8B", None, False),
        (None, None, False),
    ],
)  # fmt: skip
def test_the_bits_of_a_label(label: str | None, number: int | None, float_: bool) -> None:
    assert bits(label) == number
    assert is_float(label) is float_


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("DFlash-Qwen3.5-27B-Uncensored.Q4_K_M.gguf", 27_000_000_000),
        ("gemma-4-26B-A4B-it-Q4_0.gguf", 26_000_000_000),
        ("Qwen3.5-0.8B-Q8_0.gguf", 800_000_000),
        ("SmolVLM2-256M-Video-Instruct-f16.gguf", 256_000_000),
        ("gemma-4-E4B-it.gguf", None),
        ("Mixtral-8x7B.gguf", None),
        ("dflash-draft-3.6-q8_0.gguf", None),
        ("0B.gguf", None),
    ],
)
def test_the_parameters_that_a_name_claims(name: str, number: int | None) -> None:
    assert parameters(name) == number


@pytest.mark.parametrize(
    ("name", "shard"),
    [
        ("Kimi-Q4_K_M-00002-of-00171.gguf", Shard("Kimi-Q4_K_M", 2, 171)),
        ("grok-1-split-00001-of-00009.gguf", Shard("grok-1-split", 1, 9)),
        ("R1-SPECIAL_TENSOR-01148-of-01148.GGUF", Shard("R1-SPECIAL_TENSOR", 1148, 1148)),
        ("a-00001-of-99999.gguf", None),
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
        ("Qwen3.8-27B_UD_Q4_K_XL.gguf", "Qwen3.8-27B"),
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


def test_a_name_that_turns_text_round_is_shown_as_an_escape(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "x\u202efugg-Q8_0.gguf", "qwen35")
    assert display_name(path, read_header(path)).startswith("x\\u202efugg")
