"""``slipstream doctor``: what this computer and its engines can do, and what stands in the way."""

import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from slipstream import paths, settings
from slipstream.cli import output
from slipstream.cli.options import AsJson
from slipstream.engine.answers import Hardware
from slipstream.engine.computer import Survey, survey
from slipstream.engine.spec import EngineSpec, find_engines
from slipstream.errors import SlipstreamError
from slipstream.machine.cpu import Cpu, read_cpu
from slipstream.machine.devices import Device
from slipstream.machine.memory import Memory
from slipstream.planning.truth import Outcome, recent
from slipstream.words import size

_SHOWN_PREDICTIONS = 5
_SHOWN_HOLDERS = 3
_LITTLE_MEMORY = 2_000_000_000
"""Free bytes below which hardly any useful model fits."""


@dataclass(frozen=True)
class Report:
    """What was found out.

    Attributes:
        os, cpu: the system and the processor.
        here: memory, devices and engines.
        predictions: how well the memory of the last launches was predicted, the newest first.
        problems: what stands in the way.
    """

    os: str
    cpu: Cpu
    here: Survey
    predictions: tuple[Outcome, ...]
    problems: tuple[SlipstreamError, ...]


def doctor(
    as_json: AsJson = False,
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
    here = survey(engines)
    problems = (
        *(engine.problem for engine in engines if engine.problem),
        *here.problems,
        *_general_problems(engines, here.memory),
    )
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return Report(system, read_cpu(), here, recent(_SHOWN_PREDICTIONS), problems)


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
        "ram": asdict(report.here.memory),
        "devices": [asdict(device) for device in report.here.devices],
        "engines": [_engine_json(*asked) for asked in report.here.engines],
        "predictions": [_prediction_json(outcome) for outcome in report.predictions],
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


def _prediction_json(outcome: Outcome) -> dict[str, object]:
    return {
        "time": outcome.time,
        "model": outcome.model,
        "quant": outcome.quantization,
        "engine": outcome.engine,
        "context": outcome.context,
        "spec": outcome.spec,
        "method": outcome.predicted.method,
        "predicted": outcome.predicted.breakdown.total,
        "loaded": outcome.loaded.total,
    }


def _show(report: Report) -> None:
    console = Console(highlight=False)
    console.print(_machine_table(report))
    for asked in report.here.engines:
        console.print()
        console.print(_engine_table(*asked))
    console.print()
    if report.predictions:
        console.print(_predictions_table(report.predictions))
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
    if report.cpu.features:
        table.add_row("", output.plain(", ".join(report.cpu.features)))
    table.add_row("Memory", _free_of(report.here.memory.free, report.here.memory.total))
    for device in report.here.devices:
        for name, text in _device_rows(device):
            table.add_row(output.plain(name), output.plain(text))
    if not report.here.devices:
        table.add_row("GPU", "none")
    return table


def _device_rows(device: Device) -> Iterator[tuple[str, str]]:
    shared = ", shares main memory" if device.unified else ""
    yield device.id, f"{device.name}, {_free_of(device.free, device.total)}{shared}"
    if device.note:
        yield "", device.note
    for holder in device.holders[:_SHOWN_HOLDERS]:
        yield "", f"{holder.name} holds {size(holder.bytes)}"


def _predictions_table(outcomes: Sequence[Outcome]) -> Table:
    """What launches were expected to take, and what they took."""
    table = _table()
    for number, outcome in enumerate(outcomes):
        predicted, loaded = outcome.predicted.breakdown.total, outcome.loaded.total
        by = "the engine" if outcome.predicted.method == "dry-run" else "formula"
        name = f"{outcome.model} {outcome.quantization}".strip()
        table.add_row(
            "" if number else "Launches",
            output.plain(f"{name}: {size(predicted)} planned by {by}, {size(loaded)} taken"),
        )
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
