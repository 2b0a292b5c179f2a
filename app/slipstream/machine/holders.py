"""Which other programs hold the memory that is missing."""

import contextlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Set

import psutil

from slipstream.machine.devices import Device, Holder

WORTH_CLOSING = 512 << 20
"""Bytes; closing a program that holds less helps nobody."""


def private_bytes(process: psutil.Process) -> int:
    """Bytes of main memory that would be free if a process ended.

    Files that it maps, such as weights, are not counted: they count as free already.

    Raises: psutil.Error.
    """
    info = process.memory_info()
    if hasattr(info, "shared"):  # Linux: pages of files and those shared with others
        return max(0, info.rss - info.shared)
    private = getattr(info, "private", None)  # Windows
    if private is not None:
        return int(private)
    return int(process.memory_full_info().uss)


def largest_in_memory() -> Holder | None:
    """The program that holds most of main memory; ours and small ones are left out."""
    return _largest(_in_memory(own_processes()))


def largest_on(devices: Iterable[Device]) -> Holder | None:
    """The program that holds most of these devices, as far as their drivers tell."""
    own = own_processes()
    return _largest(one for device in devices for one in device.holders if one.pid not in own)


def own_processes() -> Set[int]:
    """Ids of this process and of those that it started."""
    found = {os.getpid()}
    with contextlib.suppress(psutil.Error):
        found |= {child.pid for child in psutil.Process().children(recursive=True)}
    return found


def _in_memory(own: Set[int]) -> Iterator[Holder]:
    for process in psutil.process_iter():
        if process.pid not in own:
            with contextlib.suppress(psutil.Error, OSError):
                yield Holder(process.name(), process.pid, private_bytes(process))


def _largest(holders: Iterable[Holder]) -> Holder | None:
    """All processes of one name are one program."""
    held: Counter[str] = Counter()
    ids: dict[str, int] = {}
    for one in holders:
        held[one.name] += one.bytes
        ids.setdefault(one.name, one.pid)
    name, size = next(iter(held.most_common(1)), ("", 0))
    return Holder(name, ids[name], size) if size >= WORTH_CLOSING else None
