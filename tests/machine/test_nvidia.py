"""NVML's answers as recorded from other computers, in the shape of ``pynvml``."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import ModuleType, SimpleNamespace
from typing import Any

import psutil
import pynvml
import pytest

from slipstream.machine.devices import Device, Found, Holder
from slipstream.machine.nvidia import ask

GIB = 1 << 30


@dataclass(frozen=True)
class Card:
    """One card's answers; an error is raised instead of given."""

    name: str | bytes
    bus_id: str | bytes
    memory: object
    compute: object = ()
    graphics: object = ()


RTX_4090 = Card(
    "NVIDIA GeForce RTX 4090",
    "00000000:01:00.0",
    SimpleNamespace(total=25757220864, free=24100000000, used=1657220864),
)
H200 = Card("NVIDIA H200", b"00000001:1B:00.0", SimpleNamespace(total=150 * GIB, free=149 * GIB))
GB10 = Card("NVIDIA GB10", "0000000F:01:00.0", pynvml.NVMLError_NotSupported())
LOST = Card("NVIDIA L40S", "00000000:02:00.0", pynvml.NVMLError_GpuIsLost())


def process(pid: int, used: int | None) -> SimpleNamespace:
    return SimpleNamespace(pid=pid, usedGpuMemory=used)


def nvml(cards: Sequence[Card], init: Exception | None = None) -> ModuleType:
    def answer(value: object) -> object:
        if isinstance(value, Exception):
            raise value
        return value

    module: Any = ModuleType("recorded")
    module.NVMLError = pynvml.NVMLError
    module.NVMLError_NotSupported = pynvml.NVMLError_NotSupported
    module.nvmlInit = lambda: answer(init)
    module.nvmlDeviceGetCount = lambda: len(cards)
    module.nvmlDeviceGetHandleByIndex = lambda index: cards[index]
    module.nvmlDeviceGetName = lambda card: card.name
    module.nvmlDeviceGetPciInfo = lambda card: SimpleNamespace(busId=card.bus_id)
    module.nvmlDeviceGetMemoryInfo = lambda card: answer(card.memory)
    module.nvmlDeviceGetComputeRunningProcesses = lambda card: answer(card.compute)
    module.nvmlDeviceGetGraphicsRunningProcesses = lambda card: answer(card.graphics)
    return module  # type: ignore[no-any-return]


def test_a_card_has_a_name_a_place_and_memory() -> None:
    assert ask(nvml([RTX_4090])) == Found(
        (
            Device(
                id="0000:01:00.0",
                name="NVIDIA GeForce RTX 4090",
                backend="NVIDIA",
                total=25757220864,
                free=24100000000,
                unified=False,
                pci="0000:01:00.0",
            ),
        )
    )


def test_every_card_is_listed_in_the_driver_s_order() -> None:
    found = ask(nvml([RTX_4090, H200]))
    assert [device.pci for device in found.devices] == ["0000:01:00.0", "0001:1b:00.0"]


@pytest.mark.parametrize("memory", [GB10.memory, SimpleNamespace(total=0, free=0)])
def test_a_card_without_memory_of_its_own_shares_the_computer_s(memory: object) -> None:
    (device,) = ask(nvml([replace(GB10, memory=memory)])).devices
    assert (device.unified, device.total, device.free) == (True, 0, 0)
    assert device.note == "It has no memory of its own, so main memory counts."


def test_a_driver_that_passes_main_memory_off_as_the_card_s_is_seen_through() -> None:
    (device,) = ask(nvml([replace(GB10, memory=SimpleNamespace(total=120 * GIB, free=9))])).devices
    assert device.unified
    assert device.total == 120 * GIB


def test_who_holds_its_memory_the_largest_first() -> None:
    me, gone = os.getpid(), 2**22 + 1
    card = replace(
        RTX_4090, compute=[process(me, 5 * GIB), process(gone, 6 * GIB)], graphics=[process(me, 9)]
    )
    (device,) = ask(nvml([card])).devices
    assert device.holders == (
        Holder("Unknown program", gone, 6 * GIB),
        Holder(psutil.Process().name(), me, 5 * GIB),
    )


def test_windows_tells_who_but_not_how_much() -> None:
    (device,) = ask(nvml([replace(RTX_4090, graphics=[process(os.getpid(), None)])])).devices
    assert [holder.bytes for holder in device.holders] == [0]


def test_a_driver_that_hides_programs_still_tells_the_rest() -> None:
    card = replace(RTX_4090, compute=pynvml.NVMLError_NoPermission(), graphics=[process(1, 7)])
    (device,) = ask(nvml([card])).devices
    assert [holder.pid for holder in device.holders] == [1]


def test_a_lost_card_does_not_hide_the_others() -> None:
    found = ask(nvml([LOST, RTX_4090]))
    assert [device.pci for device in found.devices] == ["0000:01:00.0"]
    assert found.problems == ("cannot read card 0: GPU is lost",)


def test_a_driver_that_was_updated_under_a_running_system() -> None:
    found = ask(nvml([], init=pynvml.NVMLError(pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH)))
    assert found.devices == ()
    assert found.problems == ("does not answer: RM has detected an NVML/RM version mismatch.",)


def test_the_real_library_answers_or_says_why_not() -> None:
    found = ask(pynvml)
    assert found.devices or found.problems
