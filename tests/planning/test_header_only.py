"""The benchmarks' generator of model files that are all header."""

from pathlib import Path

import pytest

from architectures import Letters, evaluate, facts_of, models, relatives
from header_only import MIXES, write_model
from slipstream.weights.header import Header, read_header
from slipstream.weights.names import quantization
from slipstream.weights.skeleton import shape_key


def header_of(folder: Path, name: str, quant: str = "Q8_0") -> Header:
    return read_header(write_model(folder, name, quant))


def test_a_file_describes_a_whole_model_and_takes_no_space(tmp_path: Path) -> None:
    path = write_model(tmp_path, "llama-3.1-8b")
    header = read_header(path)
    assert header.architecture == "llama"
    assert header.layers == 32
    assert header.by_name["blk.31.ffn_down.weight"].shape == (14336, 4096)
    assert sum(tensor.bytes for tensor in header.tensors) == 8_532_934_912
    assert path.stat().st_size > 8_000_000_000
    assert path.stat().st_blocks * 512 < 1_000_000


@pytest.mark.parametrize("name", [name for name in models() if facts_of(name).published_tensors])
def test_a_model_has_as_many_tensors_as_its_published_file(name: str) -> None:
    facts = facts_of(name)
    assert len(list(facts.tensors())) == facts.published_tensors


@pytest.mark.parametrize("name", [*models(), *relatives()])
def test_no_tensor_comes_twice_or_has_no_size(name: str) -> None:
    tensors = list(facts_of(name).tensors())
    assert len({tensor.name for tensor in tensors}) == len(tensors)
    assert all(size > 0 for tensor in tensors for size in tensor.shape)


def test_every_kind_of_block_is_told_apart() -> None:
    names = {tensor.name for tensor in facts_of("qwen3.6-27b").tensors()}
    assert "blk.0.ssm_conv1d.weight" in names
    assert "blk.0.attn_k.weight" not in names
    assert "blk.3.attn_k.weight" in names
    assert "blk.64.nextn.eh_proj.weight" in names


def test_quantizations_of_a_model_differ_in_size_alone(tmp_path: Path) -> None:
    headers = {quant: header_of(tmp_path, "qwen3-0.6b", quant) for quant in MIXES}
    assert len({shape_key(header) for header in headers.values()}) == 1
    sizes = {
        quant: sum(tensor.bytes for tensor in header.tensors) for quant, header in headers.items()
    }
    order = ("F16", "Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q4_K_S", "Q3_K_M", "Q2_K", "IQ1_S")
    assert sorted(order, key=sizes.__getitem__, reverse=True) == list(order)


def test_the_label_of_a_file_can_be_read_from_its_name(tmp_path: Path) -> None:
    for quant in MIXES:
        assert quantization(write_model(tmp_path, "gemma-3-270m", quant).name) == quant


def test_a_mix_gives_more_bits_to_what_needs_them(tmp_path: Path) -> None:
    header = header_of(tmp_path, "qwen3-8b", "Q4_K_M")
    types = {tensor.name: tensor.type for tensor in header.tensors}
    assert types["output.weight"] == "Q6_K"
    assert types["blk.0.ffn_down.weight"] == "Q6_K"
    assert types["blk.5.ffn_down.weight"] == "Q4_K"
    assert types["blk.0.ffn_up.weight"] == "Q4_K"
    assert types["blk.0.attn_norm.weight"] == "F32"


def test_experts_have_a_type_of_their_own(tmp_path: Path) -> None:
    header = header_of(tmp_path, "gpt-oss-20b", "MXFP4_MOE")
    assert header.by_name["blk.0.ffn_up_exps.weight"].type == "MXFP4"
    assert header.by_name["blk.0.attn_q.weight"].type == "Q8_0"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2*H*K,D", (4096, 512)),
        ("rot//2", 32),
        ("(i+1) % 4 != 0", True),
        ("8 if i in (2, 5) else 0", 8),
        ("H == 0 and D == 0", False),
        ("not moe", True),
    ],
)
def test_expressions(text: str, value: object) -> None:
    letters: Letters = {"H": 16, "K": 128, "D": 512, "i": 2, "rot": 64, "moe": 0}
    assert evaluate(text, letters) == value


@pytest.mark.parametrize("text", ["open('x')", "D.real", "[D]", "'text'", "lambda: 1", "unknown"])
def test_an_expression_can_do_nothing_but_count(text: str) -> None:
    with pytest.raises(ValueError, match="the table cannot say"):
        evaluate(text, {"D": 512})
