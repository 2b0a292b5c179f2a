"""A quantization whose header was not read is planned from its size and another one's header."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headers import any_header, known
from slipstream.planning.model import model_of
from slipstream.weights.header import Header
from slipstream.weights.resized import Resizer, named_by, resized

FOUR_BITS = Path("model-Q4_K_M.gguf")


@pytest.mark.parametrize("name", ["llama-3.1-8b", "qwen3-30b-a3b", "qwen3.6-27b"])
def test_a_resized_header_is_close_to_the_true_one(name: str) -> None:
    eight, four = known(name, "Q8_0"), known(name, "Q4_K_M")
    guess = model_of(resized(eight, FOUR_BITS, four.file_bytes, "Q4_K_M")).sizes
    true = model_of(four).sizes
    assert guess.total == pytest.approx(true.total, rel=0.002)
    for mine, theirs in zip(guess.blocks, true.blocks, strict=True):
        assert mine == pytest.approx(theirs, rel=0.25)


def test_to_its_own_size_a_header_stays_as_it_is() -> None:
    header = known("llama-3.1-8b", "Q8_0")
    same = resized(header, header.path, header.file_bytes, "Q8_0")
    assert model_of(same).sizes.total == pytest.approx(model_of(header).sizes.total, rel=1e-4)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("Q4_K_M", "Q4_K"), ("UD-Q4_K_XL", "Q4_K"), ("Q8_0", "Q8_0"), ("IQ4_XS", "IQ4_XS"),
        ("IQ2_XXS", "IQ2_XXS"), ("BF16", "BF16"), ("MXFP4_MOE", "MXFP4"), ("Q3_K_S", "Q3_K"),
    ],
)  # fmt: skip
def test_the_type_that_a_label_names(label: str, name: str) -> None:
    kind = named_by(label)
    assert kind
    assert kind.name == name


def test_a_label_that_names_no_type() -> None:
    assert named_by(None) is named_by("smol-IQ3_KT") is named_by("my-own") is None


@given(any_header(), st.integers(0, 2**50), st.sampled_from([None, "Q4_K_M", "F16", "what"]))
def test_any_header_can_be_resized(header: Header, size: int, label: str | None) -> None:
    made = resized(header, FOUR_BITS, size, label)
    assert made.file_bytes == size
    assert made.path == FOUR_BITS
    assert all(tensor.bytes >= 0 for tensor in made.tensors)


@pytest.mark.parametrize("name", ["llama-3.1-8b", "qwen3-30b-a3b", "qwen3.6-27b", "gemma-3-27b"])
@pytest.mark.parametrize("label", ["Q8_0", "Q4_K_M", "IQ2_M", None])
def test_sizes_without_a_table_are_those_of_a_resized_header(name: str, label: str | None) -> None:
    header = known(name, "Q5_K_M")
    wanted = header.file_bytes * 3 // 4
    sizes = Resizer(header).sizes(wanted, label)
    same = model_of(resized(header, FOUR_BITS, wanted, label)).sizes
    assert sizes.total == pytest.approx(same.total, rel=1e-6)
    assert (sizes.tied, sizes.embedding_type) == (same.tied, same.embedding_type)
    for mine, theirs in (
        (sizes.blocks, same.blocks),
        (sizes.experts, same.experts),
        (sizes.largest, same.largest),
        (sizes.largest_experts, same.largest_experts),
        ((sizes.looked_up, sizes.output), (same.looked_up, same.output)),
    ):
        assert list(mine) == pytest.approx(list(theirs), rel=0.03, abs=100_000)
