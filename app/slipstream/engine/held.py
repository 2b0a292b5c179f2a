"""Who holds memory: our own engine, which gives it back, and other programs, which may not."""

import contextlib
from collections.abc import Mapping
from dataclasses import replace

import psutil

from slipstream.engine.process import EngineProcess
from slipstream.errors import SlipstreamError
from slipstream.machine.drivers import read_drivers
from slipstream.machine.holders import largest_in_memory, largest_on, private_bytes
from slipstream.planning.breakdown import parse_loaded
from slipstream.planning.computer import Computer, given_back
from slipstream.planning.parts import HOST
from slipstream.words import size


def held_by(process: EngineProcess) -> dict[str, int]:
    """Bytes that an engine gives back when it ends, by device id, ``HOST`` for main memory.

    Weights that it maps from its file are not among those of main memory: they count as free.
    """
    loaded = parse_loaded(process.log.memory) if process.log else None
    held: dict[str, int] = {}
    for shares in (loaded.target, loaded.drafter) if loaded else ():
        for id_, share in shares.items():
            if id_ != HOST:
                held[id_] = held.get(id_, 0) + share.total
    if process.pid is not None:
        with contextlib.suppress(psutil.Error):
            engines = psutil.Process(process.pid).children(recursive=True)
            held[HOST] = sum(map(private_bytes, engines))
    return held


def freed(computer: Computer, held: Mapping[str, int]) -> Computer:
    """The computer as it is once this memory was given back."""
    memory, devices = given_back(computer.memory, computer.devices, held)
    return replace(computer, memory=memory, devices=devices)


def name_holder(failure: SlipstreamError) -> None:
    """Add to a failure which other program holds most of the memory that ran out, if one does.

    Args:
        failure: of an engine that did not get memory; any other is left as it is.
    """
    if failure.code != "not_enough_memory" or "status" not in failure.facts:
        return
    in_main_memory = "free" in failure.facts  # told where that ran out
    holder = None if in_main_memory else largest_on(read_drivers().devices)
    holder = holder or largest_in_memory()
    if holder is None:
        return
    failure.facts["held_by"] = holder.name
    others = failure.action[:1].lower() + failure.action[1:]
    failure.action = f"Close {holder.name}, which holds {size(holder.bytes)}, or {others}"
