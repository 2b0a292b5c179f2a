"""A quantization whose header was not read is planned from its size and another one's header."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headers import any_header, known
from slipstream.planning.model import model_of
from slipstream.weights.header import Header
from slipstream.weights.resized import resized

FOUR_BITS = Path("model-Q4_K_M.gguf")


@pytest.mark.parametrize("name", ["llama-3.1-8b", "qwen3-30b-a3b", "qwen3.6-27b"])
def test_a_resized_header_is_close_to_the_true_one(name: str) -> None:
    eight, four = known(name, "Q8_0"), known(name, "Q4_K_M")
    guess = model_of(resized(eight, FOUR_BITS, four.file_bytes)).sizes
    true = model_of(four).sizes
    assert guess.total == pytest.approx(true.total, rel=0.002)
    for mine, theirs in zip(guess.blocks, true.blocks, strict=True):
        assert mine == pytest.approx(theirs, rel=0.25)


def test_to_its_own_size_a_header_stays_as_it_is() -> None:
    header = known("llama-3.1-8b", "Q8_0")
    same = resized(header, header.path, header.file_bytes)
    assert model_of(same).sizes.total == pytest.approx(model_of(header).sizes.total, rel=1e-4)


@given(any_header(), st.integers(0, 2**50))
def test_any_header_can_be_resized(header: Header, size: int) -> None:
    made = resized(header, FOUR_BITS, size)
    assert made.file_bytes == size
    assert made.path == FOUR_BITS
    assert all(tensor.bytes >= 0 for tensor in made.tensors)
