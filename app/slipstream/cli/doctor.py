"""``slipstream doctor``: what this computer and its engines can do, and what stands in the way."""

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from slipstream import paths, settings
from slipstream.cli import output
from slipstream.engine.answers import Hardware
from slipstream.engine.spec import EngineSpec, find_engines, read_hardware
from slipstream.errors import SlipstreamError
from slipstream.machine.cpu import Cpu, read_cpu
from slipstream.machine.devices import Device
from slipstream.machine.memory import Memory, read_memory
from slipstream.words import size

_LITTLE_MEMORY = 2_000_000_000
"""Free bytes below which hardly any useful model fits."""


@dataclass(frozen=True)
class Report:
    """What was found out. Sizes are bytes."""

    os: str
    cpu: Cpu
    ram: Memory
    engines: tuple[tuple[EngineSpec, Hardware], ...]
    problems: tuple[SlipstreamError, ...]

    @property
    def devices(self) -> tuple[Device, ...]:
        """Every device once, whichever engine sees it."""
        found = {
            (device.id, device.name): device
            for _, hardware in reversed(self.engines)
            for device in hardware.devices
        }
        return tuple(found.values())


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
    problems = [engine.problem for engine in engines if engine.problem]
    asked = []
    for engine in engines:
        try:
            hardware = read_hardware(engine) if engine.ok else Hardware()
        except SlipstreamError as problem:
            problems.append(problem)
            hardware = Hardware()
        asked.append((engine, hardware))
    problems += _general_problems(engines, memory)
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return Report(system, read_cpu(), memory, tuple(asked), tuple(problems))


def _general_problems(engines: Sequence[EngineSpec], memory: Memory) -> list[SlipstreamError]:
    problems = []
    try:
        paths.cache_folder()
    except SlipstreamError as problem:
        problems.append(problem)
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
                f"Only {size(memory.free)} of memory is free, so only small models fit.",
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
        "engines": [_engine_json(*asked) for asked in report.engines],
        "problems": [problem.to_json() for problem in report.problems],
    }


def _engine_json(engine: EngineSpec, hardware: Hardware) -> dict[str, object]:
    return {
        "id": engine.id,
        "kind": engine.kind,
        "path": str(engine.path),
        "build": engine.build,
        "backends": hardware.backends,
        "spec_types": engine.spec_types,
        "ok": engine.ok,
        "problem": engine.problem.to_json() if engine.problem else None,
    }


def _show(report: Report) -> None:
    console = Console(highlight=False)
    console.print(_machine_table(report))
    for asked in report.engines:
        console.print()
        console.print(_engine_table(*asked))
    console.print()
    if not report.problems:
        console.print("No problems found.")
    for problem in report.problems:
        console.print(output.plain(problem.message, "bold"))
        console.print(output.plain(problem.action))


def _machine_table(report: Report) -> Table:
    table = _table()
    table.add_row("System", output.plain(report.os))
    table.add_row("Processor", output.plain(f"{report.cpu.name}, {report.cpu.cores} cores"))
    table.add_row("Memory", _free_of(report.ram.free, report.ram.total))
    for device in report.devices:
        memory = _free_of(device.free, device.total)
        table.add_row(output.plain(device.id), output.plain(f"{device.name}, {memory}"))
    if not report.devices:
        table.add_row("GPU", "none that an engine can use")
    return table


def _engine_table(engine: EngineSpec, hardware: Hardware) -> Table:
    table = _table()
    name = "built in" if engine.kind == "embedded" else str(engine.path)
    table.add_row("Engine", output.plain(name))
    if engine.problem:
        table.add_row("", output.plain(f"does not work: {engine.problem.message}"))
        return table
    table.add_row("Build", output.plain(engine.build or "unknown"))
    table.add_row("Runs on", output.plain(", ".join(hardware.backends)))
    table.add_row("Drafters", output.plain(", ".join(engine.spec_types) or "none"))
    return table


def _table() -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True, min_width=9)
    table.add_column(overflow="fold")
    return table


def _free_of(free: int, total: int) -> str:
    if not total:
        return "unknown"
    return f"{size(free)} free of {size(total)}"
