"""What the engine takes beside its layout; all of it is estimated.

A projector, what a target hands to its drafter, and outputs.
"""

from slipstream.drafters.kinds import MADE_FOR_A_TARGET
from slipstream.planning.need import Extras
from slipstream.planning.parts import Setup
from slipstream.weights.header import Header
from slipstream.weights.layers import number_of

_VALUE_BYTES = 4
_MOST_PATCHES = 1 << 14
_WIDEST = 1 << 17
"""Of any projector; a file may claim anything."""
_LARGEST_SIDE = 896
"""Pixels of an image's side where the projector names none."""


def extras_of(target: Header, setup: Setup, drafter: Header | None, projector: int) -> Extras:
    """Estimate what is needed beside the engine's layout.

    Args:
        target: the model.
        setup: how it would run.
        drafter: its drafter, if that has a file of its own.
        projector: bytes of what reads images (``projector_bytes``).
    """
    return Extras(
        projector=projector,
        drafter_inputs=_handed_over(target, setup, drafter),
        outputs=_outputs(target, setup),
    )


def projector_bytes(projector: Header) -> int:
    """A projector's weights and what it computes one image in.

    The widest moment of its blocks is taken to be that of a language model's (``compute.py``),
    with one token per patch of the image.
    """
    vision = {
        name: max(0, projector.integer(f"clip.vision.{name}") or 0)
        for name in ("image_size", "patch_size", "embedding_length", "feed_forward_length")
    }
    across = (vision["image_size"] or _LARGEST_SIDE) // (vision["patch_size"] or 14)
    columns = 3 * vision["feed_forward_length"] + 5 * vision["embedding_length"]
    weights = sum(tensor.bytes for tensor in projector.tensors)
    patches = min(across * across, _MOST_PATCHES)
    return weights + patches * min(columns, _WIDEST) * _VALUE_BYTES


def _handed_over(target: Header, setup: Setup, drafter: Header | None) -> int:
    """Hidden states of one batch, once per layer that the drafter reads."""
    read = 0
    if setup.spec.kind in MADE_FOR_A_TARGET:
        read = max(1, len(drafter.numbers("target_layers")) if drafter else 0)
    return read * (number_of(target, "embedding_length") or 0) * setup.batch * _VALUE_BYTES


def _outputs(target: Header, setup: Setup) -> int:
    """Scores of all tokens, for the token that is decoded and for each that was drafted."""
    return target.token_count * setup.slots * (1 + setup.spec.draft_tokens) * _VALUE_BYTES
