"""What can hold layers of a model besides main memory."""

import re
from dataclasses import dataclass

OTHER_COMPUTERS = "RPC"
"""The backend of devices that other computers lend."""


_MAKER = re.compile(r"(NVIDIA|AMD|Intel)(\(R\))? ((GeForce|Radeon)(\(TM\))? )?(?=.*\d)")
"""What people leave out when they speak of their card, where a number says which one it is."""


@dataclass(frozen=True)
class Holder:
    """A program that holds memory of a device: its name, process id and bytes."""

    name: str
    pid: int
    bytes: int


@dataclass(frozen=True)
class Device:
    """A graphics card or another device with memory that layers can lie in.

    Attributes:
        id: the engine's own name for it ("CUDA0"); where no engine lists it, the driver's.
        name: in full ("NVIDIA GeForce RTX 4090").
        backend: the part of the engine that drives it; the driver's name where none does.
        total: bytes of memory.
        free: bytes that were free when the device was read.
        unified: it shares the computer's main memory.
        usable: an engine can run on it.
        note: in plain words: why it is not usable, or where its sources disagree; empty otherwise.
        holders: programs that hold its memory, as far as the driver tells; the largest first.
        pci: its place in the computer ("0000:01:00.0"), where that is known.
        estimated: the total is a rule of thumb; whoever measured it is right.
    """

    id: str
    name: str
    backend: str
    total: int
    free: int
    unified: bool
    usable: bool = True
    note: str = ""
    holders: tuple[Holder, ...] = ()
    pci: str = ""
    estimated: bool = False

    @property
    def short_name(self) -> str:
        """What people call it: "RTX 4090", "RX 7900 XTX"."""
        name = self.name or self.id
        return _MAKER.sub("", name, count=1) if _MAKER.match(name) else name


@dataclass(frozen=True)
class Found:
    """What one driver knows.

    Attributes:
        devices: with the total 0 where the driver does not know it.
        problems: what the driver could not do, as sentences without their subject, the driver.
    """

    devices: tuple[Device, ...] = ()
    problems: tuple[str, ...] = ()


def pci_address(text: str) -> str:
    """A PCI address as Linux writes it, "0000:01:00.0"; some drivers write "00000000:01:00.0"."""
    domain, colon, place = text.strip().lower().partition(":")
    return f"{domain[-4:]}{colon}{place}"
