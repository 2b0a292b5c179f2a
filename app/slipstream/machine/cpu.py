"""The processor: its name, and how much of it this process may use."""

import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil

from slipstream.machine.cgroups import cpu_limit
from slipstream.machine.features import read_features
from slipstream.machine.files import ROOT
from slipstream.machine.sysctl import sysctl


@dataclass(frozen=True)
class Cpu:
    """A processor.

    Attributes:
        name: as its maker calls it.
        cores: physical cores this process can keep busy.
        threads: logical processors this process may run on.
        features: instruction sets that make llama.cpp faster, in its own names.
    """

    name: str
    cores: int
    threads: int
    features: tuple[str, ...] = ()


def read_cpu(root: Path = ROOT) -> Cpu:
    """Look at the processor within the limits set on this process; never raises."""
    machine_threads = os.cpu_count() or 1
    threads = min(machine_threads, _allowed_threads(machine_threads))
    quota = cpu_limit(root)
    if quota is not None:
        threads = min(threads, max(1, round(quota)))
    cores = _physical_cores() or machine_threads
    return Cpu(
        name=_name(root),
        cores=max(1, min(cores, threads)),
        threads=max(1, threads),
        features=_features(root),
    )


def _allowed_threads(otherwise: int) -> int:
    # Only some systems have it.
    affinity = getattr(os, "sched_getaffinity", None)
    try:
        return len(affinity(0)) if affinity else otherwise
    except OSError:
        return otherwise


def _physical_cores() -> int | None:
    try:
        return psutil.cpu_count(logical=False)
    except Exception:  # noqa: BLE001 - a probe of the machine: unknown is an answer
        return None


def _features(root: Path) -> tuple[str, ...]:
    try:
        return read_features(root)
    except Exception:  # noqa: BLE001 - a probe of the machine: unknown is an answer
        return ()


def _name(root: Path) -> str:
    try:
        name = _system_name(root)
    except Exception:  # noqa: BLE001 - a probe of the machine: unknown is an answer
        name = ""
    return name.strip() or platform.processor() or platform.machine() or "Unknown processor"


def _system_name(root: Path) -> str:
    if sys.platform == "darwin":
        return sysctl("-n", "machdep.cpu.brand_string")
    if sys.platform == "win32":
        import winreg

        path = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path) as key:
            return str(winreg.QueryValueEx(key, "ProcessorNameString")[0])
    return _linux_name((root / "proc/cpuinfo").read_text(encoding="utf-8", errors="replace"))


def _linux_name(cpuinfo: str) -> str:
    fields = (line.partition(":") for line in cpuinfo.splitlines())
    return next((value for key, _, value in fields if key.strip() in ("model name", "Model")), "")
