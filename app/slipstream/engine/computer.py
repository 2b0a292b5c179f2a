"""This computer as an engine sees it: what can hold a model, and how a model would lie there."""

from collections.abc import Sequence
from dataclasses import dataclass

from slipstream.cancel import CancelToken
from slipstream.engine.answers import Hardware
from slipstream.engine.dryrun import dry_run
from slipstream.engine.spec import EngineSpec, read_hardware
from slipstream.errors import SlipstreamError
from slipstream.machine.crosscheck import merge
from slipstream.machine.devices import Device
from slipstream.machine.drivers import read_drivers
from slipstream.machine.memory import Memory, read_memory
from slipstream.planning import truth
from slipstream.planning.computer import Computer
from slipstream.planning.layouts import Measure
from slipstream.planning.parts import HOST, Breakdown, Setup
from slipstream.weights.header import Header

CPU_BATCH = 512
"""Tokens per batch on a CPU: the engine gives up a prompt only between two batches."""


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
        usable = tuple(device for device in self.devices if device.usable)
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
    devices = merge(listed, drivers.devices, memory)
    return Survey(memory, devices, tuple(asked), (*problems, *drivers.problems))


def measured_by(engine: EngineSpec, here: Survey, cancel: CancelToken) -> Measure:
    """Lets an engine lay models out on this computer (``dryrun.py``)."""
    has_devices = any(device.usable for device in here.devices)

    def measure(
        target: Header, setup: Setup, drafter: Header | None, gpu_layers: int | None
    ) -> Breakdown:
        # Where there is no device, the later launch says nothing of layers either.
        layers = gpu_layers if has_devices else None
        return dry_run(engine, target, setup, cancel, drafter=drafter, gpu_layers=layers)

    return measure


def batch_for(devices: Sequence[Device]) -> int:
    """Tokens per logical batch of a launch that can use these devices."""
    return Setup.batch if devices else CPU_BATCH
