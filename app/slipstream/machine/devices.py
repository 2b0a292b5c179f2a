"""What can hold layers of a model besides main memory."""

from dataclasses import dataclass


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
        name: what people call it.
        backend: the part of the engine that drives it; the driver's name where none does.
        total: bytes of memory.
        free: bytes that were free when the device was read.
        unified: it shares the computer's main memory.
        usable: an engine can run on it.
        note: one sentence: why it is not usable, or where its sources disagree; empty otherwise.
        holders: programs that hold its memory, as far as the driver tells; the largest first.
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
