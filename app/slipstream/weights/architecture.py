"""The shape of a model, as far as its memory depends on it.

The rules by which blocks differ are in ``layers.py``.
"""

from dataclasses import dataclass
from functools import cached_property, partial

from slipstream.weights.header import Header
from slipstream.weights.layers import ROLLS_BACK, Layer, Shape, blocks_of, number_of


@dataclass(frozen=True)
class Architecture:
    """A model's shape.

    Attributes:
        name: of the architecture.
        layers: the blocks of the trunk.
        nextn: the blocks of its MTP head.
        hidden: width of the hidden state.
        heads: the most query heads of a block.
        head_size: values of a key head.
        latent: width of the compressed keys and values of multi-head latent attention; 0 without.
        feed_forward: width of the widest dense feed forward; 0 where all are experts.
        experts, experts_used: of a block; 0 without experts.
        expert_width: width of one expert.
        recurrent_width: width inside a recurrent block; 0 without.
        recurrent_groups: values of all groups of a recurrent block's state; 0 without.
        index_width: width of the heads that sparse attention searches with; 0 without.
        layer_inputs: width of what every layer gets of each token beside the hidden state.
        vocabulary: tokens.
        trained_context: tokens; 0 if the header does not say.
        rolls_back: its recurrent state is kept once more for every draft token.
    """

    name: str
    layers: tuple[Layer, ...]
    nextn: tuple[Layer, ...]
    hidden: int
    heads: int
    head_size: int
    latent: int
    feed_forward: int
    experts: int
    experts_used: int
    expert_width: int
    recurrent_width: int
    recurrent_groups: int
    index_width: int
    layer_inputs: int
    vocabulary: int
    trained_context: int
    rolls_back: bool

    def __hash__(self) -> int:
        """Worked out once: what is remembered by shape is looked up often."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.name, self.layers, self.nextn, self.hidden, self.trained_context))


def architecture_of(header: Header) -> Architecture:
    """The shape that a header describes; what it leaves out is taken as llama.cpp takes it.

    Raises: SlipstreamError ``impossible_shape``.
    """
    shape = Shape(header)
    number = partial(number_of, header)
    index = number("attention.indexer.head_count") or 0
    expert_width = max(shape.per_block("expert_feed_forward_length"), default=0)
    experts = number("expert_count") or 0
    dense = not experts or any(".ffn_up.weight" in tensor.name for tensor in header.tensors)
    return Architecture(
        name=header.architecture,
        layers=tuple(shape.layer(block) for block in range(shape.trunk)),
        nextn=tuple(shape.attention(block) for block in range(shape.trunk, blocks_of(header))),
        hidden=number("embedding_length") or 0,
        heads=max(shape.heads, default=0),
        head_size=shape.key_length,
        latent=shape.latent,
        feed_forward=max(shape.feed_forward, default=0) if dense else 0,
        experts=experts,
        experts_used=number("expert_used_count") or 0,
        expert_width=expert_width or (max(shape.feed_forward, default=0) if experts else 0),
        recurrent_width=number("ssm.inner_size") or 0,
        recurrent_groups=(number("ssm.group_count") or 0) * (number("ssm.state_size") or 0),
        index_width=index * (number("attention.indexer.key_length") or 0),
        layer_inputs=(number("embedding_length_per_layer_input") or 0) * shape.trunk,
        vocabulary=max(0, header.token_count),
        trained_context=number("context_length") or 0,
        rolls_back=header.architecture in ROLLS_BACK,
    )
