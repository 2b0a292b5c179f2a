"""The bytes of a model's tensors, by the place that llama.cpp puts them in.

Source: ``llm_tensor_info`` in llama.cpp's ``src/llama-arch.cpp``.
"""

import re
from dataclasses import dataclass

from slipstream.weights.header import Header
from slipstream.weights.layers import blocks_of
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


def tensor_bytes(header: Header) -> TensorBytes:
    """Add up a tensor table.

    Raises: SlipstreamError ``impossible_shape``.
    """
    layers = blocks_of(header)
    blocks, experts = [0] * layers, [0] * layers
    largest, largest_experts = [0] * (layers + 1), [0] * layers
    looked_up = output = 0
    for tensor in header.tensors:
        match = _BLOCK.match(tensor.name)
        block = int(match[1]) if match else -1
        if tensor.name.startswith(_OF_FIRST_BLOCK):
            block = 0
        if 0 <= block < layers:
            blocks[block] += tensor.bytes
            if _EXPERTS.search(tensor.name):
                experts[block] += tensor.bytes
                largest_experts[block] = max(largest_experts[block], tensor.bytes)
            else:
                largest[block] = max(largest[block], tensor.bytes)
        elif tensor.name.startswith(_LOOKED_UP):
            looked_up += tensor.bytes
        else:
            output += tensor.bytes
            largest[-1] = max(largest[-1], tensor.bytes)
    embedding = header.by_name.get("token_embd.weight")
    tied = embedding is not None and "output.weight" not in header.by_name
    if embedding is not None and tied:
        largest[-1] = max(largest[-1], embedding.bytes)
    return TensorBytes(
        looked_up=looked_up,
        blocks=tuple(blocks),
        experts=tuple(experts),
        output=output,
        embedding=embedding.bytes if embedding else 0,
        tied=tied,
        exact=all(tensor.type in TYPE_NUMBERS for tensor in header.tensors),
        embedding_type=embedding.type if embedding else "",
        largest=tuple(largest),
        largest_experts=tuple(largest_experts),
    )
