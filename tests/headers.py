"""Headers for tests, without a file, or of well-known models by their true dimensions."""

import dataclasses
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from math import prod
from pathlib import Path

from hypothesis import strategies as st

from header_only import write_model
from slipstream.weights import layers
from slipstream.weights.header import Header, read_header
from slipstream.weights.parser import ArrayInfo, Tensor, Value
from slipstream.weights.tensor_types import TENSOR_TYPES, TensorType

_F32, _F16 = TENSOR_TYPES[0], TENSOR_TYPES[1]
_UINT32, _FLOAT32, _BOOL, _STRING = 4, 6, 7, 8
_HUGE = 2**64 - 1

_ARCHITECTURES = sorted(
    {
        *(
            "llama",
            "qwen35",
            "gemma4",
            "deepseek2",
            "falcon-h1",
            "phi3",
            "clip",
            "what-is-this",
            "",
        ),
        *layers.PERIODS,
        *layers.INTERVALS,
        *layers.RECURRENT,
        *layers.BY_KV_HEADS,
        *layers.ONE_PART_EACH,
    }
)
_KEYS = (
    *("block_count", "nextn_predict_layers", "context_length", "embedding_length", "vocab_size"),
    *("feed_forward_length", "expert_feed_forward_length", "expert_count", "expert_used_count"),
    *("attention.head_count", "attention.head_count_kv", "attention.key_length"),
    *("attention.value_length", "attention.key_length_swa", "attention.value_length_swa"),
    *("attention.sliding_window", "attention.sliding_window_pattern", "attention.key_length_mla"),
    *("attention.kv_lora_rank", "attention.shared_kv_layers", "attention.recurrent_layers"),
    *("attention.indexer.head_count", "attention.indexer.key_length", "full_attention_interval"),
    *("ssm.conv_kernel", "ssm.inner_size", "ssm.state_size", "ssm.group_count", "kda.head_dim"),
    *("wkv.head_size", "token_shift_count", "shortconv.l_cache", "target_layers"),
    *("embedding_length_per_layer_input", "vision.image_size", "vision.patch_size"),
    *("vision.embedding_length", "vision.feed_forward_length"),
)
_TENSORS = (
    *("token_embd.weight", "output.weight", "output_norm.weight", "rope_freqs.weight"),
    *("blk.0.attn_q.weight", "blk.1.ffn_up.weight", "blk.1.ffn_up_exps.weight"),
    *("blk.2.nextn.eh_proj.weight", f"blk.{'9' * 5000}.x", "blk.-1.x", "blk.١.x", "blk", ""),
)


def header(
    architecture: str = "llama",
    keys: Mapping[str, Value] | None = None,
    tensors: Mapping[str, Sequence[int]] | None = None,
    *,
    kind: TensorType = _F16,
    path: Path = Path("model.gguf"),
) -> Header:
    """A header with these keys of its architecture and tensors of these shapes."""
    full = {f"{architecture}.{name}": value for name, value in (keys or {}).items()}
    table = [
        Tensor(name, tuple(shape), kind.name, 0, prod(shape) // kind.block * kind.bytes)
        for name, shape in (tensors or {}).items()
    ]
    return Header(
        path=path,
        version=3,
        architecture=architecture,
        keys=full,
        types={key: _type(value) for key, value in full.items()},
        tensors=tuple(table),
        data_start=0,
        data_end=0,
        file_bytes=sum(tensor.bytes for tensor in table),
        missing_bytes=0,
    )


def replaced(given: Header, keys: Mapping[str, Value]) -> Header:
    """A header with further keys, by their full names."""
    return dataclasses.replace(given, keys={**given.keys, **keys})


@cache
def known(name: str, quantization: str = "Q8_0") -> Header:
    """The header of a well-known model (``benchmarks/architectures.json``)."""
    with tempfile.TemporaryDirectory(prefix="slipstream-headers-") as folder:
        return read_header(write_model(Path(folder), name, quantization))


def _type(value: Value) -> int:
    match value:
        case ArrayInfo():
            return value.type
        case bool():
            return _BOOL
        case int():
            return _UINT32
        case float():
            return _FLOAT32
        case str():
            return _STRING
        case _:
            return _type(value[0]) if value else _UINT32


_numbers = st.one_of(
    st.integers(0, 8),
    st.integers(-(2**63), _HUGE),
    st.sampled_from([-1, 0, 64, 511, 512, 513, 4096, 131_072, 2**32 - 1, _HUGE]),
)
_values: st.SearchStrategy[Value] = st.one_of(
    _numbers,
    _numbers,
    st.floats(),
    st.booleans(),
    st.text(max_size=5),
    st.lists(_numbers, max_size=9).map(tuple),
    st.lists(st.booleans(), max_size=9).map(tuple),
    st.lists(st.floats(), max_size=3).map(tuple),
    st.builds(ArrayInfo, st.sampled_from([4, 8]), st.integers(0, _HUGE), st.just(0), st.just(0)),
)


@st.composite
def any_header(draw: st.DrawFn) -> Header:
    """Whatever the parser accepts: keys of any type and size, or none; tensors of any shape."""
    architecture = draw(st.sampled_from(_ARCHITECTURES))
    keys = draw(st.dictionaries(st.sampled_from(_KEYS), _values, max_size=16))
    if draw(st.booleans()):
        keys["block_count"] = draw(st.integers(0, 5))
    shapes = st.lists(st.sampled_from([0, 1, 32, 4096, 2**30]), max_size=4)
    tensors = draw(st.dictionaries(st.sampled_from(_TENSORS), shapes, max_size=8))
    return header(architecture, keys, tensors, kind=draw(st.sampled_from([_F16, _F32])))
