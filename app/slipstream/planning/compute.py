"""Bytes that the engine reserves for computing one micro-batch: a rule fitted to its own answers.

The engine plans the widest moment of a pass over the model. That moment is so many values of F32
per token of the micro-batch, which depend on the kind of block; and a mask of the context in F16.
The rule was fitted to 290 dry runs of 36 models; ``benchmarks/memory_accuracy.py`` checks it.
"""

from functools import lru_cache

from slipstream.planning.context import cell_count
from slipstream.planning.parts import Setup
from slipstream.weights.architecture import Architecture

_VALUE_BYTES = 4
_MASK_BYTES = 2
_INDEX_MASKS = 2
"""Sparse attention has a second mask."""
_INDEX_SORTING = 2
"""And it sorts all of the context, in as much room again."""
_OF_PAIRS = 5
"""Masks that attention needs without flash attention, converted and unconverted."""
_STATE_SPACE = ("mamba2", "nemotron_h")
_OF_HEAD = 10
"""Hidden states that an MTP head needs beside a long mask."""
PIPELINE_COPIES = 4
"""Inputs are kept so often when several devices work on different micro-batches at once
(``GGML_SCHED_MAX_COPIES``)."""


def of_blocks(shape: Architecture, setup: Setup) -> int:
    """Bytes for computing the blocks on one device."""
    sorting = _INDEX_SORTING if shape.index_width else 1
    return _working(shape, setup) + mask(shape, setup) * sorting


def of_pipeline(shape: Architecture, setup: Setup, *, first: bool) -> int:
    """Bytes that a device needs beside those of its blocks, when several work at once."""
    more = PIPELINE_COPIES * (mask(shape, setup) + hidden(shape, setup)) - mask(shape, setup)
    if first:
        return more
    states = 0 if any(layer.key for layer in shape.layers) else _working(shape, setup)
    return more + PIPELINE_COPIES * hidden(shape, setup) + states


def without_flash_attention(shape: Architecture, setup: Setup) -> int:
    """Bytes for computing the blocks when attention keeps the weight of every pair of tokens."""
    cells = max(cell_count(layer, setup) for layer in shape.layers if layer.key)
    pairs = shape.heads * cells * setup.micro_batch * _VALUE_BYTES
    return max(
        of_blocks(shape, setup), pairs + _OF_PAIRS * mask(shape, setup) + hidden(shape, setup)
    )


def of_head(shape: Architecture, setup: Setup) -> int:
    """Bytes for computing an MTP head, or a drafter, on one device."""
    beside_mask = _OF_HEAD * hidden(shape, setup) + mask(shape, setup)
    return max(_working(shape, setup), beside_mask)


def of_inputs(shape: Architecture, setup: Setup, copies: int = 1) -> int:
    """Bytes in main memory for what goes to the devices, where all blocks are on them."""
    each = mask(shape, setup) + hidden(shape, setup)
    return copies * each + hidden(shape, setup)


def hidden(shape: Architecture, setup: Setup) -> int:
    """Bytes of the hidden state of one micro-batch."""
    return shape.hidden * setup.micro_batch * _VALUE_BYTES


@lru_cache(maxsize=64)
def mask(shape: Architecture, setup: Setup) -> int:
    """Bytes of what tells which tokens of its slot's context each token may look at."""
    kinds = {layer.window: layer for layer in shape.layers if layer.key or layer.value}
    each = {window: cell_count(layer, setup) // setup.slots for window, layer in kinds.items()}
    full = each.pop(0, 0) * (_INDEX_MASKS if shape.index_width else 1)
    return (full + sum(each.values())) * setup.micro_batch * _MASK_BYTES


@lru_cache(maxsize=64)
def _working(shape: Architecture, setup: Setup) -> int:
    """Bytes at the widest moment of the blocks, without the mask."""
    state = 0
    if shape.name.startswith(_STATE_SPACE):  # one state in full
        state = max((layer.state for layer in shape.layers), default=0)
    return (_columns(shape) * setup.micro_batch + state) * _VALUE_BYTES


def _columns(shape: Architecture) -> int:
    """Values per token at the widest moment."""
    widest = max(
        3 * shape.feed_forward + 5 * shape.hidden,
        _of_experts(shape),
        11 * shape.hidden + 2 * shape.heads * shape.latent if shape.latent else 0,
        _of_recurrent(shape),
    )
    return widest + shape.layer_inputs + shape.index_width * 31 // 2


def _of_experts(shape: Architecture) -> int:
    if not shape.experts:
        return 0
    used, width = shape.experts_used, shape.expert_width
    return max(
        2 * used * shape.hidden + used * width + shape.hidden,
        3 * used * width + 5 * shape.hidden,
    )


def _of_recurrent(shape: Architecture) -> int:
    if shape.name.startswith(_STATE_SPACE):
        return round(5.4 * shape.recurrent_width + 3.3 * shape.hidden + 6 * shape.recurrent_groups)
    if shape.name.startswith(("mamba", "granite")):
        return shape.recurrent_width * 33 // 4
    if shape.name.startswith(("rwkv", "arwkv")):
        return 20 * shape.hidden
    return 0
