"""What a context takes, by the figures that llama.cpp itself has told of well-known models."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headers import known
from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecConfig
from slipstream.planning.context import cell_count, layer_bytes
from slipstream.planning.formula import predict
from slipstream.planning.model import model_of
from slipstream.planning.parts import Setup
from slipstream.weights.layers import Layer

MIB = 1 << 20
MTP = SpecConfig(DrafterKind.MTP, None, 3)
WINDOW = Layer(64, 64, window=512)


def context_of(name: str, setup: Setup) -> float:
    """MiB of the target's context."""
    target = predict(model_of(known(name)), setup).target
    return sum(share.context for share in target.values()) / MIB


@pytest.mark.parametrize(
    ("name", "setup", "mib"),
    [
        # Full attention: 32 layers x 2 x 1024 values x 2 bytes x 16,384 cells.
        ("llama-3.1-8b", Setup(16_384), 2048),
        ("llama-3.1-8b", Setup(16_384, kv_type="q8_0"), 2048 / 2 * 34 / 32),
        ("llama-3.1-8b", Setup(16_384, kv_type="q4_0"), 2048 / 2 * 18 / 32),
        ("llama-3.1-8b", Setup(16_384, kv_type="f32"), 4096),
        # A state of 149.62 MiB per sequence (github.com/ggml-org/llama.cpp issue 23792) beside 64
        # kB per token, and one more for each draft token of each slot.
        ("qwen3.6-27b", Setup(16_384), 1024 + 149.625),
        ("qwen3.6-27b", Setup(16_384, kv_type="q8_0"), 544 + 149.625),
        ("qwen3.6-27b", Setup(16_384, MTP), 1024 + 598.5),
        ("qwen3.6-27b", Setup(16_384, slots=4), 1024 + 598.5),
        ("qwen3.6-27b", Setup(16_384, MTP, slots=4), 1024 + 2394),
        ("qwen3.6-27b", Setup(16_384, SpecConfig(DrafterKind.NGRAM, None, 12)), 1024 + 149.625),
        # Windows of 512 beside full blocks: a public log has 64 + 60 MiB at a micro-batch of 1024.
        ("gemma-4-e4b", Setup(4096, micro_batch=1024), 64 + 60),
        ("gemma-4-e4b", Setup(4096), 64 + 40),
        # Each slot has windows of its own.
        ("gemma-4-31b", Setup(16_384), 1280 + 1200),
        ("gemma-4-31b", Setup(16_384, slots=4), 1280 + 4800),
        # Compressed keys, and the same model converted before they were kept compressed.
        ("deepseek2-lite", Setup(16_384), 486),
        ("deepseek2-before-mla", Setup(16_384), 4320),
        ("deepseek-v3", Setup(16_384), 61 * 576 * 2 * 16_384 / MIB),
        ("deepseek-v3.2", Setup(16_384), 61 * (576 + 128) * 2 * 16_384 / MIB),
    ],
)
def test_known_figures(name: str, setup: Setup, mib: float) -> None:
    assert context_of(name, setup) == pytest.approx(mib, abs=0.01)


@pytest.mark.parametrize(
    ("context", "cells"), [(1, 256), (256, 256), (257, 512), (4096, 4096), (5000, 5120)]
)
def test_cells_come_in_steps_of_256(context: int, cells: int) -> None:
    assert cell_count(Layer(64, 64), Setup(context)) == cells


def test_a_window_is_no_larger_than_itself_and_a_micro_batch() -> None:
    assert cell_count(WINDOW, Setup(256)) == 256
    assert cell_count(WINDOW, Setup(100_000)) == 512 + 512
    assert cell_count(WINDOW, Setup(100_000, micro_batch=2048)) == 512 + 2048


def test_each_slot_has_its_part_of_the_context() -> None:
    assert cell_count(Layer(64, 64), Setup(8192, slots=4)) == 8192
    assert cell_count(Layer(64, 64), Setup(1000, slots=4)) == 4 * 256
    assert cell_count(WINDOW, Setup(100_000, slots=4)) == 4 * (512 + 512)


def test_a_row_takes_whole_blocks_of_its_type() -> None:
    cells = 256
    assert layer_bytes(Layer(33, 0), Setup(cells), "f16") == cells * 66
    assert layer_bytes(Layer(33, 0), Setup(cells), "q8_0") == cells * 2 * 34


def test_a_state_does_not_grow_with_the_context() -> None:
    state = Layer(state=1000)
    assert layer_bytes(state, Setup(256), "q4_0") == 4000
    assert layer_bytes(state, Setup(1 << 20), "f16") == 4000
    assert layer_bytes(state, Setup(256, slots=2), "f16", rollback=3) == 4000 * 2 * 4


layers = st.builds(
    Layer,
    key=st.integers(0, 4096),
    value=st.integers(0, 4096),
    index=st.sampled_from([0, 128]),
    window=st.sampled_from([0, 128, 4096]),
    state=st.integers(0, 10**6),
)


@given(layers, st.integers(1, 1 << 20), st.integers(1, 1 << 20), st.integers(1, 8))
def test_more_context_never_takes_less(layer: Layer, one: int, other: int, slots: int) -> None:
    small, large = (
        layer_bytes(layer, Setup(context, PLAIN, slots), "f16") for context in sorted((one, other))
    )
    assert small <= large
