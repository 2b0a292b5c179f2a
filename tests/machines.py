"""Computers to plan for."""

from slipstream.machine.devices import Device
from slipstream.machine.memory import Memory
from slipstream.planning.computer import Computer

GIB = 1 << 30


def card(number: int, free: float) -> Device:
    """A graphics card with so many GiB, all of them free."""
    amount = round(free * GIB)
    return Device(f"CUDA{number}", f"Card {number}", "CUDA", amount, amount, unified=False)


def apple(free: float) -> Device:
    """A processor whose graphics part may use so many GiB of main memory."""
    amount = round(free * GIB)
    return Device("MTL0", "Apple M9", "Metal", amount, amount, unified=True)


def computer(ram: float, *devices: Device | float) -> Computer:
    """A computer with so many GiB of main memory, all of them free, and these cards."""
    cards = [
        one if isinstance(one, Device) else card(number, one) for number, one in enumerate(devices)
    ]
    amount = round(ram * GIB)
    return Computer(Memory(amount, amount), tuple(cards))
