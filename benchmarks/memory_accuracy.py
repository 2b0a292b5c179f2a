"""How right plans of memory are: prints tables, with ``--markdown`` those of docs/memory.md.

Asks the engine about models of ``architectures.json`` that are all header, and compares: the dry
run with real loads, the formula with the dry run, both with a device that is imitated. Run it
alone on a quiet machine, the seconds count. Takes some minutes.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import accuracy
from accuracy import MIB, Compared, compare, compare_devices, compare_load
from architectures import facts_of, models, relatives
from header_only import MIXES, write_model
from real_loads import Launch, demo_launches, gemma, told_and_loaded
from rpc_worker import DEVICE, with_worker
from slipstream.cancel import CancelToken
from slipstream.engine.computer import measured_by, survey
from slipstream.engine.dryrun import dry_run
from slipstream.engine.spec import EngineSpec, learn
from slipstream.errors import SlipstreamError
from slipstream.machine.memory import Memory
from slipstream.planning.computer import Computer
from slipstream.planning.curves import Curves
from slipstream.planning.formula import predict
from slipstream.planning.layouts import Measure
from slipstream.planning.model import Model, model_of
from slipstream.planning.parts import Breakdown, Offload, Setup
from slipstream.planning.plan import Wish, plan
from slipstream.planning.quantizations import Quantization, local_quantizations
from slipstream.weights.header import Header, read_header
from tables import Table

ANSWER_SECONDS = 0.5
PLAN_SECONDS = {"dry-run": 0.3, "formula": 0.15, "slider": 1 / 60}
_CONTEXT = 16_384
_QUANTIZATIONS = 30
_ROOMY = Computer(Memory(64 << 30, 60 << 30))
_PLANNED = ("llama-3.1-8b", "qwen3.6-27b")
_SUMMARY = ("missed", "most too high", "most too low")


@dataclass
class Report:
    """The tables so far, and whether every limit was kept."""

    tables: list[Table]
    kept: bool = True


@dataclass(frozen=True)
class Answer:
    """What an engine said to one question, and how long it took."""

    compared: Sequence[Compared]
    seconds: float


@dataclass
class Answers:
    """All answers about some models, and the questions that got none."""

    given: list[Answer]
    refused: list[str]

    def compared(self, part: str) -> list[Compared]:
        """The comparisons of one part."""
        return [one for answer in self.given for one in answer.compared if one.part == part]


def main() -> int:
    parser = argparse.ArgumentParser(description="How right plans of memory are.")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--llama-server", type=Path, help="one with ggml-rpc-server beside it")
    parser.add_argument("--model", type=Path, action="append", default=[], help="load it as well")
    parser.add_argument("--only", choices=SECTIONS, nargs="+", default=list(SECTIONS))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SLIPSTREAM_HOME"] = str(Path(folder) / "home")  # nothing is remembered
        report = Report([])
        for section in args.only:
            SECTIONS[section](report, args, Path(folder))
    for table in report.tables:
        table.show(markdown=args.markdown)
    return 0 if report.kept else 1


def _formula(report: Report, _: argparse.Namespace, folder: Path) -> None:
    """The dry run's speed, and the formula beside it."""
    answers = _ask_all(models(), folder)
    seconds = [answer.seconds for answer in answers.given]
    longest = max(answers.given, key=lambda answer: answer.seconds)
    late = sum(one > ANSWER_SECONDS for one in seconds)
    answered = f"{len(seconds)} of {len(seconds) + len(answers.refused)}"
    slowest = f"{longest.seconds:.2f} s ({longest.compared[0].what})"
    row = [answered, f"{statistics.median(seconds):.2f} s", slowest, str(late)]
    columns = ("answered", "median", "longest", f"over {ANSWER_SECONDS} s")
    report.tables.append(Table(f"Dry runs of {len(models())} models", columns, [row]))
    report.kept &= not answers.refused and not late
    _add_comparison(report, "Formula against dry run", answers)


def _others(report: Report, _: argparse.Namespace, folder: Path) -> None:
    """Architectures and sizes that the formula was not fitted to."""
    answers = _ask_all(relatives(), folder)
    _add_comparison(report, "The same for architectures that the rule was not fitted to", answers)


def _add_comparison(report: Report, title: str, answers: Answers) -> None:
    rows, misses = [], []
    for part, limit in accuracy.LIMITS.items():
        compared = answers.compared(part)
        missed = [one for one in compared if not one.kept]
        rows.append([part, str(limit), *_summary(compared)])
        misses += missed
    columns = ("part", "limit", *_SUMMARY)
    report.tables.append(Table(title, columns, rows, answers.refused))
    if misses:
        misses.sort(key=lambda one: -abs(one.used))
        named = [[one.what, one.part, *_numbers(one)] for one in misses]
        report.tables.append(Table("Misses", ("model", "part", "formula", "dry run", "off"), named))
    report.kept &= not misses


def _loads(report: Report, args: argparse.Namespace, _: Path) -> None:
    """The dry run beside real loads."""
    engine = _embedded()
    launches = [*demo_launches(), gemma(), *(Launch(path.resolve()) for path in args.model)]
    rows = []
    for launch in launches:
        for one in compare_load(launch.words, *told_and_loaded(engine, launch)):
            rows.append([one.what, one.part, *_numbers(one)[:2], _word(one.kept)])
            report.kept &= one.kept
    columns = ("launch", "part", "dry run", "loaded", "kept")
    report.tables.append(Table("Dry run against real loads", columns, rows))


def _devices(report: Report, args: argparse.Namespace, folder: Path) -> None:
    """Each device's share beside the engine's, with no, half and all layers on one."""
    if args.llama_server is None:
        print("no --llama-server: devices are left out", file=sys.stderr)
        return
    native = learn("llama-server", args.llama_server)
    compared: list[Compared] = []
    refused: list[str] = []
    for name in models():
        header = read_header(write_model(folder, name))
        with with_worker(native) as engine:
            for share in (0.0, 0.5, 1.0):
                what = f"{name} {share:.0%}"
                try:
                    compared += compare_devices(what, *_split(engine, header, share))
                except SlipstreamError as problem:
                    refused.append(f"{what}: {problem.facts.get('reason')}")
    places = dict.fromkeys(one.part for one in compared)
    rows = [[place, *_summary([one for one in compared if one.part == place])] for place in places]
    title = f"Formula against dry run on each device ({accuracy.DEVICE_LIMIT})"
    report.tables.append(Table(title, ("device", *_SUMMARY), rows, refused))
    report.kept &= all(one.kept for one in compared)


def _split(engine: EngineSpec, header: Header, share: float) -> tuple[Breakdown, Breakdown]:
    model = model_of(header)
    trained = model.architecture.trained_context or _CONTEXT
    setup = Setup(min(_CONTEXT, trained))
    layers = round(model.layers * share)
    told = dry_run(engine, header, setup, CancelToken(), gpu_layers=layers)
    return predict(model, setup, offload=Offload({DEVICE: layers})), told


def _planning(report: Report, _: argparse.Namespace, folder: Path) -> None:
    """How long it takes to plan many quantizations whose headers were read."""
    engine = _embedded()
    measure = measured_by(engine, survey([engine]), CancelToken())
    rows = []
    for name in _PLANNED:
        paths = [write_model(folder / name, name, quant) for quant in list(MIXES)[:_QUANTIZATIONS]]
        quantizations, problems = local_quantizations(paths, CancelToken())
        assert not problems, problems
        curves = Curves(measure)
        for context in (_CONTEXT, 4 * _CONTEXT):  # what a slider is answered from
            plan(quantizations, _ROOMY, Wish(context), curves.exact)
        ways: dict[str, Measure | None] = {
            "dry-run": measure,
            "formula": None,
            "slider": curves.known,
        }
        for way, limit in PLAN_SECONDS.items():
            seconds = _seconds_to_plan(quantizations, ways[way])
            rows.append([name, way, f"{seconds:.3f} s", f"{limit:.3f} s", _word(seconds <= limit)])
            report.kept &= seconds <= limit
    title = f"Planning {_QUANTIZATIONS} quantizations after their headers were read"
    report.tables.append(Table(title, ("model", "by", "took", "limit", "kept"), rows))


def _seconds_to_plan(quantizations: Sequence[Quantization], measure: Measure | None) -> float:
    """At a context that no engine was asked about before."""
    started = time.perf_counter()
    plans = plan(quantizations, _ROOMY, Wish(2 * _CONTEXT), measure)
    seconds = time.perf_counter() - started
    assert {one.method for one in plans.plans} == {"dry-run" if measure else "formula"}
    return seconds


SECTIONS: dict[str, Callable[[Report, argparse.Namespace, Path], None]] = {
    "formula": _formula,
    "loads": _loads,
    "devices": _devices,
    "planning": _planning,
    "others": _others,
}


def _ask_all(names: Iterable[str], folder: Path) -> Answers:
    answers, engine = Answers([], []), _embedded()
    for name in names:
        header = read_header(write_model(folder, name))
        model = model_of(header)
        for setup in accuracy.setups_of(facts_of(name)):
            what = accuracy.words(name, setup)
            try:
                answers.given.append(_ask(engine, header, model, setup, what))
            except SlipstreamError as problem:
                answers.refused.append(f"{what}: {problem.facts.get('reason')}")
    return answers


def _ask(engine: EngineSpec, header: Header, model: Model, setup: Setup, what: str) -> Answer:
    started = time.perf_counter()
    told = dry_run(engine, header, setup, CancelToken())
    seconds = time.perf_counter() - started
    return Answer(compare(what, predict(model, setup), told), seconds)


def _embedded() -> EngineSpec:
    engine = learn("embedded")
    if engine.problem is not None:
        raise engine.problem
    return engine


def _numbers(one: Compared) -> list[str]:
    return [f"{one.predicted / MIB:.1f} MiB", f"{one.told / MIB:.1f} MiB", f"{one.off:+.1%}"]


def _summary(compared: Sequence[Compared]) -> list[str]:
    missed = sum(not one.kept for one in compared)
    by_limit = sorted(compared, key=lambda one: one.used)
    return [f"{missed} of {len(compared)}", _worst(by_limit[-1]), _worst(by_limit[0])]


def _worst(one: Compared) -> str:
    return f"{one.off:+.1%}, {(one.predicted - one.told) / MIB:+.0f} MiB ({one.what})"


def _word(kept: bool) -> str:
    return "yes" if kept else "NO"


if __name__ == "__main__":
    sys.exit(main())
