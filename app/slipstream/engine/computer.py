"""This computer as an engine sees it: what can hold a model, and how a model would lie there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from slipstream.cancel import CancelToken
from slipstream.engine.answers import Hardware
from slipstream.engine.dryrun import dry_run
from slipstream.engine.spec import EngineSpec, read_hardware
from slipstream.errors import SlipstreamError
from slipstream.machine.crosscheck import merge
from slipstream.machine.devices import OTHER_COMPUTERS, Device
from slipstream.machine.drivers import read_drivers
from slipstream.machine.memory import Memory, read_memory
from slipstream.planning import truth
from slipstream.planning.computer import Computer
from slipstream.planning.layouts import Measure
from slipstream.planning.parts import HOST, Breakdown, Offload, Setup
from slipstream.weights.header import Header

CPU_BATCH = 512
"""Tokens per batch on a CPU: the engine gives up a prompt only between two batches."""

_BESIDE_A_CARD = "It is left out, because there is a card with memory of its own."


@dataclass(frozen=True)
class Survey:
    """What there is.

    Attributes:
        memory: main memory.
        devices: every device once, also those that none of the engines can use.
        engines: each with what it can run on.
        problems: what could not be found out.
    """

    memory: Memory
    devices: tuple[Device, ...]
    engines: tuple[tuple[EngineSpec, Hardware], ...]
    problems: tuple[SlipstreamError, ...] = ()

    def computer(self) -> Computer:
        """What can be planned with, and what launches on it have taught."""
        usable = in_use(self.devices)
        backends = {HOST, *(device.backend for device in usable)}
        margins = {backend: truth.margin(backend) for backend in backends}
        return Computer(self.memory, usable, margins)


def survey(engines: Sequence[EngineSpec]) -> Survey:
    """Look at this computer; never raises.

    Args:
        engines: those that are asked what they can run on; the first to list a device names it.
    """
    asked: list[tuple[EngineSpec, Hardware]] = []
    problems: list[SlipstreamError] = []
    for engine in engines:
        hardware = Hardware()
        try:
            hardware = read_hardware(engine) if engine.ok else hardware
        except SlipstreamError as problem:
            problems.append(problem)
        asked.append((engine, hardware))
    memory, drivers = read_memory(), read_drivers()
    listed = [device for _, hardware in asked for device in hardware.devices]
    devices = _left_out(merge(listed, drivers.devices, memory))
    return Survey(memory, devices, tuple(asked), (*problems, *drivers.problems))


def in_use(devices: Sequence[Device]) -> tuple[Device, ...]:
    """The devices that the engine gives layers to, in its order: those of other computers first."""
    usable = [one for one in _left_out(devices) if one.usable and one.id != HOST]
    by_id = {one.id: one for one in reversed(usable)}
    once = (one for one in usable if by_id[one.id] is one)
    return tuple(sorted(once, key=lambda device: device.backend != OTHER_COMPUTERS))


def _left_out(devices: Sequence[Device]) -> tuple[Device, ...]:
    """Mark what llama.cpp leaves out by itself (``llama_prepare_model_devices``)."""
    has_card = any(
        device.usable and not device.unified and device.backend != OTHER_COMPUTERS
        for device in devices
    )
    return tuple(
        replace(device, usable=False, note=_BESIDE_A_CARD)
        if has_card and device.usable and device.unified
        else device
        for device in devices
    )


def measured_by(engine: EngineSpec, here: Survey, cancel: CancelToken) -> Measure:
    """Lets an engine lay models out on this computer (``dryrun.py``)."""
    devices = here.computer().devices

    def measure(target: Header, setup: Setup, drafter: Header | None, where: Offload) -> Breakdown:
        # Where all layers fit, or there is no device, the launch says nothing of layers.
        layers = None if where.count or not devices else 0
        return dry_run(
            engine, target, setup, cancel, drafter=drafter, gpu_layers=layers, devices=devices
        )

    return measure


def batch_for(devices: Sequence[Device]) -> int:
    """Tokens per logical batch of a launch that can use these devices."""
    return Setup.batch if devices else CPU_BATCH
