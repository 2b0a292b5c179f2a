"""Limits that a container or a service manager puts on this process (Linux control groups)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from slipstream.machine.files import ROOT, read_number, read_text

# cgroup v1 says "no limit" with the largest number of whole pages.
_NO_LIMIT = 1 << 60
_NUMBER = re.compile(r"[0-9]{1,20}")


@dataclass(frozen=True)
class MemoryLimit:
    """Bytes this process may use, and bytes of it that are in use and cannot be dropped."""

    total: int
    used: int


def memory_limit(root: Path = ROOT) -> MemoryLimit | None:
    """The limit that leaves the least memory; None where nothing limits it."""
    limits = list(_memory_limits(root))
    return min(limits, key=lambda limit: limit.total - limit.used) if limits else None


def cpu_limit(root: Path = ROOT) -> float | None:
    """Processors' worth of time this process may use; None where nothing limits it."""
    shares = list(_cpu_limits(root))
    return min(shares) if shares else None


def _memory_limits(root: Path) -> Iterator[MemoryLimit]:
    files = (
        ("", "memory.max", "memory.current", "inactive_file"),
        ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    )
    for controller, limit_name, used_name, droppable in files:
        for folder in _folders(root, controller):
            limit, used = read_number(folder / limit_name), read_number(folder / used_name)
            if limit is None or used is None or not 0 < limit < _NO_LIMIT:
                continue
            cached = _fields(folder / "memory.stat").get(droppable, 0)
            yield MemoryLimit(limit, min(limit, max(0, used - cached)))


def _cpu_limits(root: Path) -> Iterator[float]:
    for folder in _folders(root, ""):
        quota, _, period = read_text(folder / "cpu.max").partition(" ")
        if _NUMBER.fullmatch(quota) and _NUMBER.fullmatch(period) and int(period):
            yield int(quota) / int(period)
    for folder in _folders(root, "cpu"):
        quota_us = read_number(folder / "cpu.cfs_quota_us")
        period_us = read_number(folder / "cpu.cfs_period_us")
        if quota_us and period_us and quota_us > 0:
            yield quota_us / period_us


def _folders(root: Path, controller: str) -> Iterator[Path]:
    """The control groups of this process from its own up to the root; "" is cgroup v2.

    Inside a container the path may be the host's; then only the root is there.
    """
    for line in read_text(root / "proc/self/cgroup").splitlines():
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controller not in controllers.split(",") or (not controller and number != "0"):
            continue
        mount = root / "sys/fs/cgroup" / controller
        own = Path(path.lstrip("/"))
        yield from (mount / part for part in (own, *own.parents) if ".." not in part.parts)


def _fields(path: Path) -> dict[str, int]:
    pairs = (line.split() for line in read_text(path).splitlines())
    return {
        pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and _NUMBER.fullmatch(pair[1])
    }
