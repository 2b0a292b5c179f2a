"""The computer that is planned for: this one as it is now, or one that is asked about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from slipstream.machine.devices import Device
from slipstream.machine.memory import Memory
from slipstream.planning.parts import HOST
from slipstream.planning.truth import DEFAULT_MARGIN


@dataclass(frozen=True)
class Computer:
    """What can hold a model.

    Attributes:
        memory: main memory; 0 in all means unknown.
        devices: what else can hold layers; only usable ones.
        margins: share of what is needed to keep free, by backend; "CPU" is main memory.
    """

    memory: Memory
    devices: tuple[Device, ...] = ()
    margins: Mapping[str, float] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Bytes of all memory, what devices share with main memory once."""
        return self.memory.total + sum(one.total for one in self.devices if not one.unified)

    @property
    def free(self) -> int:
        """Bytes of it that are free."""
        return self.memory.free + sum(one.free for one in self.devices if not one.unified)

    @cached_property
    def by_id(self) -> Mapping[str, Device]:
        """Its devices by their ids."""
        return {one.id: one for one in reversed(self.devices)}

    def margin(self, backend: str) -> float:
        """Share of what is needed that is kept free."""
        return self.margins.get(backend, DEFAULT_MARGIN)


def given_back(
    memory: Memory, devices: Sequence[Device], held: Mapping[str, int]
) -> tuple[Memory, tuple[Device, ...]]:
    """Memory as it will be when what somebody holds was given back.

    Args:
        memory: main memory.
        devices: beside it; some may share it.
        held: bytes by device id, ``HOST`` among them.
    """
    shared = sum(held.get(one.id, 0) for one in devices if one.unified)
    free = min(memory.total, memory.free + held.get(HOST, 0) + shared)
    after = (replace(one, free=min(one.total, one.free + held.get(one.id, 0))) for one in devices)
    return Memory(memory.total, free), tuple(after)
