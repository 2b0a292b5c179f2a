"""Apple's graphics: part of main memory, up to a limit that macOS sets.

Metal's own figure is ``recommendedMaxWorkingSetSize``, which engines list. Without an engine: the
limit that the user set (``sysctl iogpu.wired_limit_mb``, 0 where none is set), else the usual
default of two thirds of memory up to 36 GiB and three quarters above it (llama.cpp discussion
2182). The default is a rule of thumb, since it differs among macOS versions and chips: an M3 with
16 GiB has been seen with 11.84 GiB, an M5 Max with 128 GiB with 107.5 GiB.
"""

from collections.abc import Callable
from pathlib import Path

from slipstream.machine.devices import Device, Found
from slipstream.machine.files import ROOT
from slipstream.machine.sysctl import sysctl

BACKEND = "Apple"
_MIB = 1 << 20
_LITTLE = 36 << 30


def read(_root: Path = ROOT) -> Found:
    """Ask macOS about the graphics of this Mac."""
    return ask(lambda name: sysctl("-n", name))


def ask(value: Callable[[str], str]) -> Found:
    """The graphics of a Mac with Apple's own chip; nothing on others.

    Args:
        value: gives the text of a system value by its name, "" where there is none.
    """
    if value("hw.optional.arm64") != "1":
        return Found()
    memory = _number(value("hw.memsize"))
    limit = _number(value("iogpu.wired_limit_mb")) * _MIB
    total = min(limit, memory) if limit else usual_limit(memory)
    return Found(
        (
            Device(
                id="apple",
                name=value("machdep.cpu.brand_string") or "Apple graphics",
                backend=BACKEND,
                total=total,
                free=total,
                unified=True,
                note="" if limit else "The size of its memory is estimated.",
                estimated=not limit,
            ),
        )
    )


def usual_limit(memory: int) -> int:
    """Bytes of main memory that Apple's graphics may use where nobody changed the limit."""
    return memory * 2 // 3 if memory <= _LITTLE else memory * 3 // 4


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0
