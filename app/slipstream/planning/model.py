"""What planning has to know of one model file."""

from dataclasses import dataclass
from functools import lru_cache

from slipstream.weights.architecture import Architecture, architecture_of
from slipstream.weights.header import Header
from slipstream.weights.sizes import TensorBytes, tensor_bytes


@dataclass(frozen=True)
class Model:
    """A model's shape and the bytes of its tensors."""

    architecture: Architecture
    sizes: TensorBytes

    @property
    def layers(self) -> int:
        """What can be offloaded one by one: the blocks, an MTP head's included, and the output."""
        return len(self.sizes.blocks) + 1


def model_of(header: Header) -> Model:
    """Read what planning has to know from a header.

    Raises: SlipstreamError ``impossible_shape``.
    """
    return Model(_same(architecture_of(header)), tensor_bytes(header))


@lru_cache(maxsize=64)
def _same(shape: Architecture) -> Architecture:
    """One object for equal shapes, so that what is remembered by shape is found at once."""
    return shape
