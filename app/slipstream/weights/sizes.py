"""The bytes of a model's tensors, by the place that llama.cpp puts them in.

Source: ``llm_tensor_info`` in llama.cpp's ``src/llama-arch.cpp``.
"""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate

from slipstream.weights.header import Header
from slipstream.weights.layers import blocks_of
from slipstream.weights.parser import Tensor
from slipstream.weights.tensor_types import TYPE_NUMBERS

_BLOCK = re.compile(r"blk\.(\d{1,4})\.")
_LOOKED_UP = (
    "masked_embd_",
    "per_layer_token_embd.",
    "position_embd.",
    "token_embd.",
    "token_types.",
)
_OF_FIRST_BLOCK = ("per_layer_model_proj.", "per_layer_proj_norm.", "rope_freqs.")
_EXPERTS = re.compile(r"_(?:ch)?exps\.")


@dataclass(frozen=True)
class TensorBytes:
    """Bytes of tensors, exact.

    Attributes:
        looked_up: tables that rows are taken from; they stay in main memory.
        blocks: of each block, those of an MTP head included.
        experts: the part of each block that only some tokens need.
        output: what follows the last block.
        embedding: the table of token embeddings, a part of ``looked_up``.
        tied: the token embeddings serve as the output as well.
        exact: the types of all tensors are known.
        embedding_type: name of the embeddings' element type.
        largest: the largest tensor of each block that is no expert, and the output's after them.
        largest_experts: the largest tensor of each block's experts.
    """

    looked_up: int
    blocks: tuple[int, ...]
    experts: tuple[int, ...]
    output: int
    embedding: int
    tied: bool
    exact: bool
    embedding_type: str
    largest: tuple[int, ...]
    largest_experts: tuple[int, ...]

    @property
    def total(self) -> int:
        """All tensors, each once."""
        return self.looked_up + sum(self.blocks) + self.output

    @cached_property
    def up_to(self) -> "UpTo":
        """What is asked for again and again in a search for the best place."""
        return UpTo(
            blocks=(0, *accumulate(self.blocks)),
            experts=(0, *accumulate(self.experts)),
            largest=(0, *accumulate(self.largest, max)),
            largest_experts=(0, *accumulate(self.largest_experts, max)),
        )


@dataclass(frozen=True)
class UpTo:
    """The same of the first blocks, for every number of them from none to all.

    Attributes:
        blocks, experts: sums.
        largest, largest_experts: the largest.
    """

    blocks: tuple[int, ...]
    experts: tuple[int, ...]
    largest: tuple[int, ...]
    largest_experts: tuple[int, ...]


def tensor_bytes(
    header: Header, bytes_of: Callable[[Tensor], int] = operator.attrgetter("bytes")
) -> TensorBytes:
    """Add up a tensor table.

    Args:
        header: with the table.
        bytes_of: what each tensor counts.

    Raises: SlipstreamError ``impossible_shape``.
    """
    layers = blocks_of(header)
    blocks, experts = [0] * layers, [0] * layers
    largest, largest_experts = [0] * (layers + 1), [0] * layers
    looked_up = output = 0
    for tensor in header.tensors:
        block, is_expert, is_looked_up = _place(tensor.name)
        size = bytes_of(tensor)
        if 0 <= block < layers:
            blocks[block] += size
            if is_expert:
                experts[block] += size
                largest_experts[block] = max(largest_experts[block], size)
            else:
                largest[block] = max(largest[block], size)
        elif is_looked_up:
            looked_up += size
        else:
            output += size
            largest[-1] = max(largest[-1], size)
    embedding = header.by_name.get("token_embd.weight")
    embedding_bytes = bytes_of(embedding) if embedding is not None else 0
    tied = embedding is not None and "output.weight" not in header.by_name
    if tied:
        largest[-1] = max(largest[-1], embedding_bytes)
    return TensorBytes(
        looked_up=looked_up,
        blocks=tuple(blocks),
        experts=tuple(experts),
        output=output,
        embedding=embedding_bytes,
        tied=tied,
        exact=all(tensor.type in TYPE_NUMBERS for tensor in header.tensors),
        embedding_type=embedding.type if embedding else "",
        largest=tuple(largest),
        largest_experts=tuple(largest_experts),
    )


@lru_cache(maxsize=4096)
def _place(name: str) -> tuple[int, bool, bool]:
    """Where a tensor belongs: its block, -1 for none; whether it is of experts, or looked up."""
    match = _BLOCK.match(name)
    block = int(match[1]) if match else -1
    if name.startswith(_OF_FIRST_BLOCK):
        block = 0
    return block, _EXPERTS.search(name) is not None, name.startswith(_LOOKED_UP)
