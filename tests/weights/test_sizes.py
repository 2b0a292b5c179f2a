"""The bytes of a model's tensors go to the place that llama.cpp puts them in."""

import pytest

from gguf_files import DEMO
from headers import header, known
from slipstream.errors import SlipstreamError
from slipstream.weights.shards import read_model
from slipstream.weights.sizes import tensor_bytes

HALF = 2
"""Bytes of a value in F16."""


def test_every_tensor_counts_once() -> None:
    for one in (read_model(DEMO), known("qwen3.6-27b"), known("qwen3-30b-a3b"), known("gemma3n")):
        assert tensor_bytes(one).total == sum(tensor.bytes for tensor in one.tensors)


def test_each_tensor_has_its_place() -> None:
    sizes = tensor_bytes(
        header(
            "llama",
            {"block_count": 2},
            {
                "token_embd.weight": (8, 100),
                "per_layer_token_embd.weight": (3, 100),
                "rope_freqs.weight": (4,),
                "blk.0.attn_q.weight": (8, 8),
                "blk.1.attn_q.weight": (8, 16),
                "blk.1.ffn_up_exps.weight": (8, 8, 4),
                "output_norm.weight": (8,),
                "output.weight": (8, 100),
            },
        )
    )
    assert sizes.looked_up == (800 + 300) * HALF
    assert sizes.blocks == ((64 + 4) * HALF, (128 + 256) * HALF)
    assert sizes.experts == (0, 256 * HALF)
    assert sizes.output == (8 + 800) * HALF
    assert (sizes.embedding, sizes.tied) == (800 * HALF, False)


def test_embeddings_serve_as_the_output_where_there_is_none() -> None:
    assert tensor_bytes(header("llama", tensors={"token_embd.weight": (8, 10)})).tied
    assert not tensor_bytes(header("llama")).tied


def test_experts_are_most_of_a_mixture() -> None:
    sizes = tensor_bytes(known("qwen3-30b-a3b"))
    assert 0.9 < sum(sizes.experts) / sizes.total < 1
    assert not any(tensor_bytes(known("llama-3.1-8b")).experts)


@pytest.mark.parametrize("name", ["blk.7.x", "blk.-1.x", f"blk.{'9' * 5000}.x", "blk.x", "blk"])
def test_a_tensor_of_no_block_comes_after_the_last(name: str) -> None:
    sizes = tensor_bytes(header("llama", {"block_count": 2}, {name: (8,)}))
    assert (sizes.blocks, sizes.output) == ((0, 0), 8 * HALF)


def test_more_layers_than_any_model_has_are_refused() -> None:
    with pytest.raises(SlipstreamError, match=r"says that it has 1,000,000,000,000 layers"):
        tensor_bytes(header("llama", {"block_count": 10**12}))
