"""Where a model goes on a computer: all on devices, in part, or in main memory."""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import accumulate

from slipstream.machine.devices import Device
from slipstream.planning.computer import Computer
from slipstream.planning.need import Need, fits
from slipstream.planning.parts import Offload
from slipstream.weights.sizes import TensorBytes

NeedOf = Callable[[Offload], Need]
"""What a launch needs with its layers in these places."""


class Fit(StrEnum):
    """How a model fits, in the words of the command line."""

    GPU = "gpu"
    PARTIAL = "partial"
    CPU = "cpu"
    NONE = "none"


@dataclass(frozen=True)
class Placement:
    """Where a model goes.

    Attributes:
        fit: how it fits.
        offload: where its layers lie.
        need: what that takes; of what does not fit, what it would take in main memory.
    """

    fit: Fit
    offload: Offload
    need: Need


def place(sizes: TensorBytes, need_of: NeedOf, computer: Computer) -> Placement:
    """Find the best place: as much on devices as they hold, the rest in main memory.

    Args:
        sizes: of the model's tensors.
        need_of: what a launch needs with its layers in given places.
        computer: where it is to go.
    """
    for fit, offload in _candidates(sizes, need_of, computer.devices):
        need = need_of(offload)
        if fits(need, computer):
            return Placement(fit, offload, need)
    in_memory = Offload()
    need = need_of(in_memory)
    return Placement(Fit.CPU if fits(need, computer) else Fit.NONE, in_memory, need)


def _candidates(
    sizes: TensorBytes, need_of: NeedOf, devices: Sequence[Device]
) -> Iterator[tuple[Fit, Offload]]:
    """Ways to use the devices, the fastest first.

    Experts leave the devices before whole layers do: each token needs only some of them.
    """
    if not devices:
        return
    layers = len(sizes.blocks) + 1
    yield Fit.GPU, Offload(_by_number(layers, devices))
    yield Fit.GPU, _filled(layers, need_of, devices)
    if any(sizes.experts):
        ways = (partial(_filled, layers, need_of, devices, n) for n in range(1, layers))
        yield from ((Fit.PARTIAL, way) for way in _first_held(list(ways), need_of, devices))
    ways = (partial(_filled, n, need_of, devices) for n in range(layers - 1, 0, -1))
    yield from ((Fit.PARTIAL, way) for way in _first_held(list(ways), need_of, devices))


def _first_held(
    ways: Sequence[Callable[[], Offload]], need_of: NeedOf, devices: Sequence[Device]
) -> Iterator[Offload]:
    """The first way that the devices hold; each way needs less of them than the one before."""

    def held(way: Callable[[], Offload]) -> bool:
        need = need_of(way())
        return all(_holds(device, need) for device in devices)

    first = bisect_left(ways, True, key=held)
    yield from (way() for way in ways[first : first + 1])


def _by_number(count: int, devices: Sequence[Device]) -> dict[str, int]:
    """Share layers out by the free memory of the devices, as llama.cpp does."""
    free = list(accumulate(device.free for device in devices))
    ends = [math.ceil(count * up_to / (free[-1] or 1)) for up_to in free[:-1]]
    return {
        device.id: end - start
        for device, start, end in zip(devices, [0, *ends], [*ends, count], strict=True)
    }


def _filled(
    count: int, need_of: NeedOf, devices: Sequence[Device], host_experts: int = 0
) -> Offload:
    """Fill one device after the other with layers, the one with the most room first.

    So more memory, or one device more, never holds less.
    """
    *others, last = sorted(devices, key=lambda device: (device.unified, -device.free))
    split: dict[str, int] = {}
    left = count

    def way(number: int, device: Device) -> Offload:
        return Offload({**split, device.id: number, last.id: left - number}, host_experts)

    def too_many(number: int, device: Device) -> bool:
        return not _holds(device, need_of(way(number, device)))

    for device in others:
        split[device.id] = left
        if too_many(left, device):
            fewer = range(1, left)
            split[device.id] = bisect_left(fewer, True, key=partial(too_many, device=device))
        left -= split[device.id]
    return Offload({**split, last.id: left}, host_experts)


def _holds(device: Device, need: Need) -> bool:
    return need.by_device.get(device.id, 0) <= device.free
