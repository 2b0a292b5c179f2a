"""Bytes that a context takes, layer by layer.

Source: llama.cpp's ``src/llama-kv-cache*.cpp`` and ``src/llama-memory-recurrent.cpp``.
"""

from functools import lru_cache

from slipstream.planning.parts import Setup
from slipstream.weights.layers import Layer
from slipstream.weights.tensor_types import TENSOR_TYPES

_PAD = 256
"""Cells are kept in steps of so many."""
_STATE_BYTES = 4
"""A recurrent state is kept in F32 whatever the type of the KV cache."""
_TYPES = {kind.name.lower(): kind for kind in TENSOR_TYPES.values()}


def layer_bytes(layer: Layer, setup: Setup, kv_type: str, rollback: int = 0) -> int:
    """What one layer keeps.

    Args:
        layer: what it keeps of one token.
        setup: what is run.
        kv_type: element type of the cache: a drafter's is not the target's.
        rollback: how often a recurrent state is kept once more, to go back to.
    """
    cells = cell_count(layer, setup)
    values = (layer.key, layer.value, layer.index)
    cached = cells * sum(_row(value, kv_type) for value in values)
    return cached + layer.state * _STATE_BYTES * setup.slots * (1 + rollback)


def cell_count(layer: Layer, setup: Setup) -> int:
    """Tokens that one layer has room for; every slot has its own part of the context."""
    tokens = _padded(setup.context // setup.slots)
    if layer.window:
        tokens = min(tokens, layer.window + setup.micro_batch)
    return setup.slots * _padded(tokens)


@lru_cache(maxsize=64)
def per_layer(
    layers: tuple[Layer, ...], setup: Setup, kv_type: str, rollback: int = 0
) -> tuple[int, ...]:
    """What each of ``layers`` keeps; the quantizations of a model have it in common."""
    return tuple(layer_bytes(layer, setup, kv_type, rollback) for layer in layers)


def _padded(tokens: int) -> int:
    return -(-tokens // _PAD) * _PAD


def _row(values: int, kv_type: str) -> int:
    kind = _TYPES[kv_type]
    return -(-values // kind.block) * kind.bytes
