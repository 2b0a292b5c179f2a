"""What is planned: a setup, where its layers lie, and the bytes that it takes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from slipstream.drafters.kinds import PLAIN, SpecConfig

HOST = "CPU"
"""Stands for main memory among the ids of devices."""


@dataclass(frozen=True)
class Setup:
    """What would be run.

    Attributes:
        context: tokens that prompt and reply share.
        spec: how it speculates.
        slots: parallel requests.
        kv_type: element type of the target's KV cache.
        batch, micro_batch: tokens per logical and physical batch.
    """

    context: int
    spec: SpecConfig = PLAIN
    slots: int = 1
    kv_type: str = "f16"
    batch: int = 2048
    micro_batch: int = 512


@dataclass(frozen=True)
class Offload:
    """Which layers lie where. llama.cpp gives the last layers to the devices, in their order.

    Attributes:
        layers: layers per device id; the output counts as one more after the last block. What no
            device takes stays in main memory.
        host_experts: of the first layers, so many keep their experts in main memory.
    """

    layers: Mapping[str, int] = field(default_factory=dict)
    host_experts: int = 0

    @property
    def count(self) -> int:
        """Layers on all devices: the engine's ``--gpu-layers``."""
        return sum(self.layers.values())


@dataclass(frozen=True)
class Share:
    """Bytes that a model takes of one device or of main memory."""

    weights: int = 0
    context: int = 0
    compute: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return self.weights + self.context + self.compute

    def __add__(self, other: "Share") -> "Share":
        return Share(
            self.weights + other.weights,
            self.context + other.context,
            self.compute + other.compute,
        )


@dataclass(frozen=True)
class Breakdown:
    """The bytes of one launch.

    Attributes:
        target: per device id, ``HOST`` among them.
        drafter: the same for the drafter; a head inside the target has no weights here when the
            engine measured it, because the engine counts them with the target.
        drafter_missing: there is a drafter that the engine could not measure.
    """

    target: Mapping[str, Share]
    drafter: Mapping[str, Share] = field(default_factory=dict)
    drafter_missing: bool = False

    @property
    def total(self) -> int:
        """All of it."""
        shares = (*self.target.values(), *self.drafter.values())
        return sum(share.total for share in shares)
