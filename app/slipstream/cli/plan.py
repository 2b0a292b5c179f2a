"""``slipstream plan``: what each quantization needs, where it would run, and which to take."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import Annotated

import typer
from rich.console import Console

from slipstream.cancel import CancelToken
from slipstream.cli import interrupt, output
from slipstream.cli.options import (
    LARGEST,
    SMALLEST_CONTEXT,
    AsJson,
    Spec,
    devices_of,
    memory_of,
    spec_choice,
)
from slipstream.drafters.kinds import Drafter, DrafterKind, Found, Unfit
from slipstream.engine.advice import Advice, Question, Subject, advise, desk_for, look_up
from slipstream.engine.embedded_values import KV_TYPES
from slipstream.errors import SlipstreamError
from slipstream.paths import printable
from slipstream.planning.computer import Computer
from slipstream.planning.need import Need
from slipstream.planning.parts import HOST
from slipstream.planning.placement import Fit
from slipstream.planning.plan import Plan
from slipstream.planning.quantizations import Quantization
from slipstream.planning.sentences import fits_later, why
from slipstream.words import SPECULATION, count, size

_FITS = {
    Fit.GPU: "GPU",
    Fit.PARTIAL: "GPU in part",
    Fit.CPU: "main memory",
    Fit.NONE: "too large",
}
_SIZES = ("Download", "Weights", "Needs", "On GPU")
_HEADINGS = ("", "Quantization", *_SIZES, "Fits", "Drafter", "")


def plan(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="demo, demo-small, a .gguf file or a folder with some, or owner/repo[:QUANT].",
        ),
    ],
    context: Annotated[
        int | None,
        typer.Option(
            min=SMALLEST_CONTEXT,
            max=LARGEST,
            metavar="N",
            help="Tokens of context to plan for; else what Settings say.",
        ),
    ] = None,
    kv: Annotated[
        str,
        typer.Option(metavar="TYPE", help=f"Type of the KV cache: {', '.join(KV_TYPES)}."),
    ] = "f16",
    spec: Spec = "auto",
    ram: Annotated[
        str | None,
        typer.Option(
            metavar="TOTAL[:FREE]",
            help="Plan for another computer, with so much main memory, like 64GiB or 64GiB:40GiB.",
        ),
    ] = None,
    device: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID=TOTAL[:FREE]",
            help="Plan for another computer, with this graphics card, like CUDA0=24GiB or"
            " MTL0=48GiB. Without --ram its main memory is this computer's, on a Mac the card's.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what the quantizations of a model need, how they fit, and which to take."""
    if kv not in KV_TYPES:
        raise typer.BadParameter(f"--kv must be one of {', '.join(KV_TYPES)}.")
    how = spec_choice(spec)
    memory = None if ram is None else memory_of(ram)
    devices = devices_of(device or ())
    cancel = CancelToken()
    with interrupt.cancels(cancel), output.progress(f"Planning {model} ...") as update:
        question = Question(context, kv, how, memory, devices)
        subject, advice = _answer(model, question, cancel, update)
    if as_json:
        output.print_json(to_json(model, subject, advice))
    else:
        _show(advice)


def _answer(
    model: str, question: Question, cancel: CancelToken, update: Callable[[str], None]
) -> tuple[Subject, Advice]:
    """Raises: SlipstreamError, if there is nothing to plan; Cancelled."""
    desk = desk_for(question)
    subject = look_up(model, question, desk, cancel, output.waits(update))
    if not subject.quantizations:
        raise subject.problems[0] if subject.problems else _no_model(model)

    def progress(one: Quantization) -> None:
        update(f"Planning {one.name} {one.label} ...")

    advice = advise(subject.quantizations, question, desk, cancel, progress)
    return subject, replace(advice, problems=(*subject.problems, *advice.problems))


def _no_model(model: str) -> SlipstreamError:
    return SlipstreamError(
        "no_model",
        f"There is no model in {model}.",
        facts={"where": model},
        action="Choose a folder with a GGUF model in it.",
    )


def to_json(model: str, subject: Subject, answer: Advice) -> dict[str, object]:
    """The document of ``plan --json``."""
    offer = subject.offer
    return {
        "model": model,
        "revision": offer.listing.revision if offer else None,
        "context": max(one.setup.context for one in answer.plans),
        "machine": {
            "ram": asdict(answer.computer.memory),
            "devices": [asdict(device) for device in answer.devices],
        },
        "quants": [_quant_json(one, answer.computer) for one in answer.plans],
        "problems": [problem.to_json() for problem in answer.problems],
    }


def _quant_json(plan: Plan, computer: Computer) -> dict[str, object]:
    one, placement = plan.quantization, plan.placement
    return {
        "name": one.name,
        "quant": one.label,
        "files": [printable(file) for file in one.files],
        "download": one.download,
        "context": plan.setup.context,
        "drafter": _drafter_json(plan),
        "drafters": _drafters_json(one.found),
        "memory": _memory_json(placement.need),
        "method": plan.method,
        "estimated": plan.estimated,
        "fit": placement.fit.value,
        "gpu_layers": placement.offload.count,
        "host_experts": placement.offload.host_experts,
        "layers": plan.layers,
        "recommended": plan.recommended,
        "why": why(plan, computer),
    }


def _drafter_json(plan: Plan) -> dict[str, object] | None:
    spec = plan.setup.spec
    if spec.kind is None:
        return None
    file = None if spec.drafter is None else printable(spec.drafter)
    return {"kind": spec.kind.value, "file": file, "bytes": plan.drafter_bytes}


def _drafters_json(found: Found) -> list[dict[str, object]]:
    """Everything that was found near a model or on the Hub: what is proven, what only may fit and
    is taken if asked for, and what does not fit."""
    made = [one for one in found.drafters if one.kind is not DrafterKind.NGRAM]
    rows: list[tuple[Drafter | Unfit, bool, bool]] = [(one, one.proven, True) for one in made]
    rows += [(one, False, False) for one in found.unfit]
    return [
        {
            "kind": one.kind.value,
            "file": printable(one.path) if one.path else None,
            "proven": proven,
            "fits": fits,
            "reason": one.reason,
        }
        for one, proven, fits in rows
    ]


def _memory_json(need: Need) -> dict[str, object]:
    return {
        "weights": need.weights,
        "context": need.context,
        "compute": need.compute,
        "drafter": need.drafter,
        "projector": need.projector,
        "margin": need.margin,
        "total": need.total,
        "host": need.host,
        "devices": [
            {"id": id_, "bytes": amount} for id_, amount in need.by_device.items() if id_ != HOST
        ],
    }


def _show(answer: Advice) -> None:
    console = Console(highlight=False)
    for (name, _), plans in groupby(answer.plans, lambda plan: plan.quantization.model_key):
        _show_model(console, name, list(plans), answer)
    for problem in answer.problems:
        output.say(problem.message, style="yellow")


def _show_model(console: Console, name: str, plans: Sequence[Plan], answer: Advice) -> None:
    context = plans[0].setup.context
    limit = ", all that the model allows" if context < answer.wished_context else ""
    console.print(output.plain(f"{name}, {count(context)} tokens of context{limit}", "bold"))
    output.print_table(_HEADINGS, [_row(plan, answer.computer) for plan in plans], _SIZES)
    best = next((plan for plan in plans if plan.recommended), plans[0])
    words = why(best, answer.computer)
    console.print(output.plain(f"{best.quantization.label}: {words}"))
    for doubtful in (one for one in best.quantization.found.drafters if not one.proven):
        file = printable(doubtful.path) if doubtful.path else best.quantization.name
        console.print(output.plain(f"May draft if you ask for it: {file}. {doubtful.reason}"))
    console.print()


def _row(plan: Plan, computer: Computer) -> tuple[str, ...]:
    need, spec, quantization = plan.placement.need, plan.setup.spec, plan.quantization
    about = "~" if "weights" in plan.estimated else ""
    return (
        "→" if plan.recommended else "",
        quantization.label,
        size(quantization.download) if quantization.download else "",
        about + size(need.weights),
        size(need.total),
        size(need.on_devices) if need.on_devices else "",
        _fits(plan, computer),
        SPECULATION[spec.kind].name if spec.kind else "",
        "" if plan.method == "dry-run" else "by formula",
    )


def _fits(plan: Plan, computer: Computer) -> str:
    return "not for now" if fits_later(plan, computer) else _FITS[plan.placement.fit]
