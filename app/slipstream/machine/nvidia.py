"""NVIDIA cards, as NVML tells (``nvidia-ml-py``, imported as ``pynvml``).

NVML is a library of the driver that may hang or crash: only ``probe`` calls this, in a process of
its own. Facts: NVIDIA, "NVML API Reference"; that computers whose card has no memory of its own
answer "Not Supported" is in "DGX Spark: Known Issues".
"""

import re
from pathlib import Path
from types import ModuleType

import psutil

from slipstream.machine.devices import Device, Found, Holder, pci_address
from slipstream.machine.files import ROOT

BACKEND = "NVIDIA"
_NO_MEMORY = "It has no memory of its own, so main memory counts."
_SHARING = re.compile(r"\b(GB10|Jetson|Orin|Thor|Xavier|Tegra)\b", re.IGNORECASE)
"""Chips without memory of their own; some drivers report main memory as if it were theirs."""


def read(_root: Path = ROOT) -> Found:
    """Ask the installed driver about its cards."""
    import pynvml

    return ask(pynvml)


def ask(nvml: ModuleType) -> Found:
    """Every card that NVML lists, or why it lists none.

    Args:
        nvml: ``pynvml``, or recorded answers in its shape.
    """
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        return Found(problems=(f"does not answer: {error}",))
    devices, problems = [], []
    try:
        for index in range(nvml.nvmlDeviceGetCount()):
            try:
                devices.append(_device(nvml, index))
            except nvml.NVMLError as error:
                problems.append(f"cannot read card {index}: {error}")
    except nvml.NVMLError as error:
        problems.append(f"does not list its cards: {error}")
    return Found(tuple(devices), tuple(problems))


def _device(nvml: ModuleType, index: int) -> Device:
    card = nvml.nvmlDeviceGetHandleByIndex(index)
    name = _text(nvml.nvmlDeviceGetName(card))
    address = pci_address(_text(nvml.nvmlDeviceGetPciInfo(card).busId))
    total, free = _memory(nvml, card)
    return Device(
        id=address,
        name=name,
        backend=BACKEND,
        total=total,
        free=free,
        unified=not total or bool(_SHARING.search(name)),
        note="" if total else _NO_MEMORY,
        holders=_holders(nvml, card),
        pci=address,
    )


def _memory(nvml: ModuleType, card: object) -> tuple[int, int]:
    try:
        memory = nvml.nvmlDeviceGetMemoryInfo(card)
    except nvml.NVMLError_NotSupported:
        return 0, 0
    return int(memory.total), int(memory.free)


def _holders(nvml: ModuleType, card: object) -> tuple[Holder, ...]:
    held: dict[int, int] = {}
    for ask_for in (
        nvml.nvmlDeviceGetComputeRunningProcesses,
        nvml.nvmlDeviceGetGraphicsRunningProcesses,
    ):
        try:
            processes = ask_for(card)
        except nvml.NVMLError:
            continue
        for process in processes:
            # A program that computes and draws is in both lists, with all of its memory in each.
            # Windows does not tell how much a program holds.
            used = process.usedGpuMemory or 0
            held[process.pid] = max(used, held.get(process.pid, 0))
    holders = (Holder(_program(pid), pid, used) for pid, used in held.items())
    return tuple(sorted(holders, key=lambda holder: holder.bytes, reverse=True))


def _program(pid: int) -> str:
    try:
        return psutil.Process(pid).name()
    except (psutil.Error, OSError, ValueError):
        return "Unknown program"


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
