"""What a launch needs in all, and whether a computer has it."""

from collections.abc import Mapping
from dataclasses import dataclass

from slipstream.planning.computer import Computer
from slipstream.planning.parts import HOST, Breakdown

ENGINE_SPARE = 512 << 20
"""Bytes that launches tell the engine to leave free on every device; less, and it moves layers."""
DEVICE_SPARE = 1 << 30
"""Bytes kept free on a card: those, and what its driver takes for a program that computes (CUDA
320 MiB, measured), which a driver does not count and the engine does."""


@dataclass(frozen=True)
class Extras:
    """Bytes that neither the engine's layout nor the formula of it has.

    Attributes:
        projector: the projector with what it computes in; it lies where the output lies.
        drafter_inputs: what the target hands to its drafter, in main memory.
        outputs: scores of tokens, in main memory.
    """

    projector: int = 0
    drafter_inputs: int = 0
    outputs: int = 0


@dataclass(frozen=True)
class Need:
    """Bytes of one launch.

    Attributes:
        weights, context, compute: of the target.
        drafter: all of the drafter's.
        projector: all of the projector's.
        margin: kept free because no plan is perfect.
        by_device: all of it by the device it lies on, ``HOST`` first.
    """

    weights: int
    context: int
    compute: int
    drafter: int
    projector: int
    margin: int
    by_device: Mapping[str, int]

    @property
    def total(self) -> int:
        """All of it."""
        return sum(self.by_device.values())

    @property
    def host(self) -> int:
        """What lies in main memory."""
        return self.by_device.get(HOST, 0)

    @property
    def on_devices(self) -> int:
        """What lies on devices."""
        return self.total - self.host


def need_of(breakdown: Breakdown, extras: Extras, computer: Computer) -> Need:
    """Add up a launch, with its margins on this computer."""
    taken, settled = {HOST: extras.drafter_inputs + extras.outputs}, set[str]()
    weights = context = compute = drafter = margin = 0
    for id_, share in breakdown.target.items():
        weights += share.weights
        context += share.context
        compute += share.compute
        taken[id_] = taken.get(id_, 0) + share.weights + share.context + share.compute
        if share.weights or share.context:
            settled.add(id_)
    for id_, share in breakdown.drafter.items():
        total = share.weights + share.context + share.compute
        drafter += total
        taken[id_] = taken.get(id_, 0) + total
        if share.weights or share.context:
            settled.add(id_)
    taken[_first_device(taken)] += extras.projector
    for id_, amount in taken.items():
        spare = _margin(id_, amount, computer, id_ in settled)
        margin += spare
        taken[id_] = amount + spare
    return Need(
        weights=weights,
        context=context,
        compute=compute + extras.outputs,
        drafter=drafter + extras.drafter_inputs,
        projector=extras.projector,
        margin=margin,
        by_device=taken,
    )


def fits(need: Need, computer: Computer) -> bool:
    """Whether everything lies in what is free; main memory that is unknown is taken as enough.

    What shares main memory has to fit into its own limit, and with the rest into main memory. A
    device that the computer does not have holds nothing.
    """
    there = computer.by_id
    if any(amount and id_ not in there and id_ != HOST for id_, amount in need.by_device.items()):
        return False
    in_memory = need.host
    for device in computer.devices:
        amount = need.by_device.get(device.id, 0)
        if amount > device.free:
            return False
        in_memory += amount if device.unified else 0
    return computer.memory.total == 0 or in_memory <= computer.memory.free


def _first_device(taken: Mapping[str, int]) -> str:
    for id_, amount in taken.items():
        if amount and id_ != HOST:
            return id_
    return HOST


def _margin(id_: str, taken: int, computer: Computer, settled: bool) -> int:
    """What is kept free; a card that only computes now and then needs nothing to spare."""
    if not taken:
        return 0
    device = computer.by_id.get(id_)
    if device is None:
        return round(taken * computer.margin(HOST))
    share = round(taken * computer.margin(device.backend))
    least = ENGINE_SPARE if device.unified else DEVICE_SPARE
    return max(share, least if settled else 0)
