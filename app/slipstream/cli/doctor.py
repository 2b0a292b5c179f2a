"""``slipstream doctor``: what this computer and its engines can do, and what stands in the way."""

import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from slipstream import settings
from slipstream.cli import output
from slipstream.engine.answers import Device
from slipstream.engine.spec import EngineSpec, find_engines, list_devices
from slipstream.errors import SlipstreamError
from slipstream.machine.cpu import Cpu, read_cpu
from slipstream.machine.memory import Memory, read_memory

_LITTLE_MEMORY = 2 * 2**30
"""Free bytes below which hardly any useful model fits."""


@dataclass(frozen=True)
class Report:
    """What was found out. Sizes are bytes."""

    os: str
    cpu: Cpu
    ram: Memory
    devices: tuple[Device, ...]
    engines: tuple[EngineSpec, ...]
    problems: tuple[SlipstreamError, ...]


def doctor(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document instead of text.")
    ] = False,
) -> None:
    """Say what this computer and its engines can do."""
    with output.progress("Asking the engines ..."):
        report = examine()
    if as_json:
        output.print_json(to_json(report))
    else:
        _show(report)


def examine() -> Report:
    """Look at the computer, and ask every engine."""
    chosen = settings.load().settings.engine
    own = [] if chosen == settings.EMBEDDED else [Path(chosen)]
    engines = find_engines(own)
    memory = read_memory()
    devices, device_problems = _devices(engines)
    problems = [
        *(engine.problem for engine in engines if engine.problem),
        *device_problems,
        *_general_problems(engines, memory),
    ]
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return Report(system, read_cpu(), memory, devices, engines, tuple(problems))


def _devices(
    engines: Iterable[EngineSpec],
) -> tuple[tuple[Device, ...], list[SlipstreamError]]:
    """Every device once, with the memory that is free now."""
    found: dict[tuple[str, str], Device] = {}
    problems = []
    for engine in engines:
        if not engine.devices:
            continue
        try:
            for device in list_devices(engine):
                found.setdefault((device.id, device.name), device)
        except SlipstreamError as problem:
            problems.append(problem)
    return tuple(found.values()), problems


def _general_problems(engines: Sequence[EngineSpec], memory: Memory) -> list[SlipstreamError]:
    problems = []
    if not any(engine.ok for engine in engines):
        problems.append(
            SlipstreamError(
                "no_usable_engine",
                "No engine works on this computer, so no model can run.",
                action="Install Slipstream again, or choose a llama-server in the settings.",
            )
        )
    if memory.total and memory.free < _LITTLE_MEMORY:
        problems.append(
            SlipstreamError(
                "little_memory",
                f"Only {output.size(memory.free)} of memory is free, so only small models fit.",
                facts={"free": memory.free, "total": memory.total},
                action="Close other programs before you load a model.",
            )
        )
    return problems


def to_json(report: Report) -> dict[str, object]:
    """The document of ``doctor --json``."""
    return {
        "os": report.os,
        "cpu": asdict(report.cpu),
        "ram": asdict(report.ram),
        "devices": [asdict(device) for device in report.devices],
        "engines": [_engine_json(engine) for engine in report.engines],
        "problems": [problem.to_json() for problem in report.problems],
    }


def _engine_json(engine: EngineSpec) -> dict[str, object]:
    return {
        "id": engine.id,
        "kind": engine.kind,
        "path": str(engine.path),
        "build": engine.build,
        "backends": engine.backends,
        "spec_types": engine.spec_types,
        "ok": engine.ok,
        "problem": engine.problem.to_json() if engine.problem else None,
    }


def _show(report: Report) -> None:
    console = Console(highlight=False)
    console.print(_machine_table(report))
    for engine in report.engines:
        console.print()
        console.print(_engine_table(engine))
    console.print()
    if not report.problems:
        console.print("No problems found.")
    for problem in report.problems:
        console.print(Text(problem.message, style="bold"))
        console.print(Text(problem.action))


def _machine_table(report: Report) -> Table:
    table = _table()
    table.add_row("System", Text(report.os))
    table.add_row("Processor", Text(f"{report.cpu.name}, {report.cpu.cores} cores"))
    table.add_row("Memory", _free_of(report.ram.free, report.ram.total))
    for device in report.devices:
        memory = _free_of(device.free, device.total)
        table.add_row(Text(device.id), Text(f"{device.name}, {memory}"))
    if not report.devices:
        table.add_row("GPU", "none that an engine can use")
    return table


def _engine_table(engine: EngineSpec) -> Table:
    table = _table()
    name = "built in" if engine.kind == "embedded" else str(engine.path)
    table.add_row("Engine", Text(name))
    if engine.problem:
        table.add_row("", Text(f"does not work: {engine.problem.message}"))
        return table
    table.add_row("Build", Text(engine.build or "unknown"))
    table.add_row("Runs on", Text(", ".join(engine.backends)))
    table.add_row("Drafters", Text(", ".join(engine.spec_types) or "none"))
    return table


def _table() -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True, min_width=9)
    table.add_column(overflow="fold")
    return table


def _free_of(free: int | None, total: int) -> str:
    if not total:
        return "unknown"
    return f"{output.size(free or 0)} free of {output.size(total)}"
