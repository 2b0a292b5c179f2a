"""Main memory: how much there is, and how much is free now."""

from dataclasses import dataclass
from pathlib import Path

import psutil

from slipstream.machine.cgroups import memory_limit
from slipstream.machine.files import ROOT


@dataclass(frozen=True)
class Memory:
    """Bytes of main memory this process could have in all, and those that are free now.

    Free counts caches that the system would give up. Both are 0 where they cannot be read.
    """

    total: int
    free: int


def read_memory(root: Path = ROOT) -> Memory:
    """Measure main memory within the limits set on this process; never raises."""
    try:
        system = psutil.virtual_memory()
        memory = Memory(system.total, system.available)
    except Exception:  # noqa: BLE001 - a probe of the machine: unknown is an answer
        memory = Memory(0, 0)
    limit = memory_limit(root)
    if limit is None:
        return memory
    free = limit.total - limit.used
    if not memory.total:
        return Memory(limit.total, free)
    return Memory(min(memory.total, limit.total), min(memory.free, free))
