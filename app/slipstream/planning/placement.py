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
        need: what that takes; of what does not fit, what it would take in main memory, or in the
            places that were chosen by hand.
        by_hand: a person said how many layers go to devices.
    """

    fit: Fit
    offload: Offload
    need: Need
    by_hand: bool = False


def place(
    sizes: TensorBytes,
    need_of: NeedOf,
    computer: Computer,
    by_hand: int | None = None,
    near: Offload | None = None,
) -> Placement:
    """Find the best place: as much on devices as they hold, the rest in main memory.

    Args:
        sizes: of the model's tensors.
        need_of: what a launch needs with its layers in given places.
        computer: where it is to go.
        by_hand: layers on devices, whether they hold them or not; None for as many as they do.
        near: the best place for something similar, where the search is to begin.
    """
    if by_hand is not None:
        return _placed(min(max(0, by_hand), len(sizes.blocks) + 1), sizes, need_of, computer)
    for fit, offload in _candidates(sizes, need_of, computer.devices, near):
        need = need_of(offload)
        if fits(need, computer):
            return Placement(fit, offload, need)
    in_memory = Offload()
    need = need_of(in_memory)
    return Placement(Fit.CPU if fits(need, computer) else Fit.NONE, in_memory, need)


def _placed(count: int, sizes: TensorBytes, need_of: NeedOf, computer: Computer) -> Placement:
    """Give so many layers to the devices, shared out as llama.cpp does."""
    offload = Offload(_by_number(count, computer.devices) if computer.devices and count else {})
    need = need_of(offload)
    fit = Fit.PARTIAL if offload.count else Fit.CPU
    if offload.count > len(sizes.blocks):
        fit = Fit.GPU
    return Placement(fit if fits(need, computer) else Fit.NONE, offload, need, by_hand=True)


def _candidates(
    sizes: TensorBytes, need_of: NeedOf, devices: Sequence[Device], near: Offload | None
) -> Iterator[tuple[Fit, Offload]]:
    """Ways to use the devices, the fastest first.

    Experts leave the devices before whole layers do: each token needs only some of them.
    """
    if not devices:
        return
    layers = len(sizes.blocks) + 1
    as_engine = Offload(_by_number(layers, devices))
    yield Fit.GPU, as_engine
    if len(devices) > 1:
        yield Fit.GPU, _filled(layers, need_of, devices, near)

    def without_experts(number: int) -> Offload:
        return _filled(layers, need_of, devices, near, number)

    def fewer(number: int) -> Offload:
        return _filled(layers - number, need_of, devices, near)

    if any(sizes.experts):
        number = _first_held(
            layers, without_experts, need_of, devices, near.host_experts if near else None
        )
        if number < layers:
            yield Fit.PARTIAL, without_experts(number)
    number = _first_held(layers, fewer, need_of, devices, layers - near.count if near else None)
    if number < layers:
        yield Fit.PARTIAL, fewer(number)


def _first_held(
    end: int,
    way: Callable[[int], Offload],
    need_of: NeedOf,
    devices: Sequence[Device],
    near: int | None,
) -> int:
    """The first way that the devices hold, from 1; each needs less of them than the one before.

    Returns: its number; ``end`` if there is none before.
    """

    def held(number: int) -> bool:
        need = need_of(way(number))
        return all(_holds(device, need) for device in devices)

    return _first(1, end, held, near)


def _first(start: int, end: int, true: Callable[[int], bool], near: int | None) -> int:
    """The first number from which on something is true.

    Args:
        start, end: where to look; ``end`` is the answer if it is true of none before.
        true: tells of a number.
        near: where it was the last time: it is looked for there, and then farther and farther.
    """
    if near is None or start >= end:
        return start + bisect_left(range(start, end), True, key=true)
    at, step = min(max(near, start), end - 1), 1
    if true(at):
        end = at
        while start < end and true(max(start, end - step)):
            end, step = max(start, end - step), 2 * step
        start = max(start, end - step + 1)
    else:
        start = at + 1
        while start < end and not true(min(end - 1, start + step - 1)):
            start, step = min(end, start + step), 2 * step
        end = min(end, start + step - 1)
    return start + bisect_left(range(start, end), True, key=true)


def _by_number(count: int, devices: Sequence[Device]) -> dict[str, int]:
    """Share layers out by the free memory of the devices, as llama.cpp does."""
    free = list(accumulate(device.free for device in devices))
    ends = [math.ceil(count * up_to / (free[-1] or 1)) for up_to in free[:-1]]
    return {
        device.id: end - start
        for device, start, end in zip(devices, [0, *ends], [*ends, count], strict=True)
    }


def _filled(
    count: int,
    need_of: NeedOf,
    devices: Sequence[Device],
    near: Offload | None,
    host_experts: int = 0,
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
            too_many_here = partial(too_many, device=device)
            before = near.layers.get(device.id, 0) + 1 if near else None
            split[device.id] = _first(1, left, too_many_here, before) - 1
        left -= split[device.id]
    return Offload({**split, last.id: left}, host_experts)


def _holds(device: Device, need: Need) -> bool:
    return need.by_device.get(device.id, 0) <= device.free
