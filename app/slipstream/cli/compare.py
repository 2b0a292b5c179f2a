"""``slipstream compare``: how fast a model runs in each way of drafting, measured here."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from slipstream.cancel import CancelToken
from slipstream.cli import interrupt, output
from slipstream.cli.options import AsJson
from slipstream.compare import keeping
from slipstream.compare.document import document
from slipstream.compare.history import keep_run
from slipstream.compare.modes import Mode, default_modes, parse_modes
from slipstream.compare.prompts import own_set, read_set
from slipstream.compare.report import MOST_DRIFT, Gain, Measured, Report, Row, report
from slipstream.compare.runner import PASSES, Failed, Launched, Plan, run
from slipstream.errors import SlipstreamError
from slipstream.hub.reference import resolve

MOST_PASSES = 50
LEAST_TOKENS, MOST_TOKENS = 16, 4096


def compare(
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="demo, demo-small, a .gguf file, or owner/repo."),
    ],
    modes: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,..",
            help="plain, or a KIND with or without draft tokens: plain,mtp=3,dflash. Without it:"
            " plain, every drafter there is, and n-grams.",
        ),
    ] = None,
    passes: Annotated[
        int,
        typer.Option(min=1, max=MOST_PASSES, metavar="N", help="How often each mode is launched."),
    ] = PASSES,
    tokens: Annotated[
        int,
        typer.Option(
            min=LEAST_TOKENS, max=MOST_TOKENS, metavar="N", help="Length of every answer."
        ),
    ] = 256,
    prompts: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Your own prompts, with a line --- between two."),
    ] = None,
    use: Annotated[
        bool,
        typer.Option("--use", help="The best is used from now on, wherever the model is loaded."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure what each way of drafting brings on this computer."""
    file = resolve(model)
    cancel = CancelToken()
    asked = parse_modes(modes) if modes else None
    texts = read_set(prompts) if prompts else own_set()
    with interrupt.cancels(cancel):
        plan = Plan(file, asked or default_modes(file, cancel), texts, passes, tokens)
        measured = Measured(plan)
        _measure(measured, cancel)
    found = report(measured)
    told = document(measured, found)
    if as_json:
        output.print_json(told)
    else:
        _show(found)
    if use:
        keeping.use(measured, found)
    try:
        keeping.keep(measured, found)
        keep_run(told, datetime.now(UTC))
    except SlipstreamError as error:  # it was told all the same
        output.say(f"{error.message} {error.action}", "yellow")


def _measure(measured: Measured, cancel: CancelToken) -> None:
    """Raises: SlipstreamError, Cancelled."""
    plan = measured.plan
    text = f"Comparing {', '.join(map(str, plan.modes))} ..."
    with output.progress(text) as update:
        for event in run(plan, cancel):
            measured.take(event)
            if isinstance(event, Failed):
                output.say(f"{event.error.message} {event.error.facts.get('reason', '')}", "yellow")
            elif not isinstance(event, Launched):
                done = len(measured.samples) + len(measured.again)
                update(f"{text} {done} of {plan.answers} answers")


def _show(found: Report) -> None:
    headings = ("mode", "tok/s", "speedup", "between", "accepted", "tok/step", "first token", "")
    output.print_table(headings, [_cells(row) for row in found.rows], headings[1:-1])
    if found.drift is not None and abs(found.drift) > MOST_DRIFT:
        output.say(_drifted(found.drift), "yellow")
    output.say(found.verdict.reason)


def _drifted(drift: float) -> str:
    change = "slower" if drift > 0 else "faster"
    return (
        f"This computer became {abs(drift):.0%} {change} meanwhile: other programs, or its"
        " temperature, may have changed the numbers. Compare again when it is idle."
    )


def _cells(row: Row) -> tuple[str, ...]:
    if row.error is not None:
        return (_name(row), "", "", "", "", "", "", row.error.message)
    gain, steps = row.gain, row.tokens_per_step
    return (
        _name(row),
        f"{row.tokens_per_second:.1f}",
        f"{gain.speedup:.2f}x" if gain else "",
        _between(gain) if gain else "",
        f"{row.acceptance:.0%}" if row.acceptance is not None else "",
        f"{steps:.2f}" if steps else "",
        f"{row.first_token * 1000:.0f} ms",
        gain.outcome if gain else "",
    )


def _name(row: Row) -> str:
    mode = row.mode
    return str(Mode(mode.kind, row.draft_tokens or mode.draft_tokens) if mode.kind else mode)


def _between(gain: Gain) -> str:
    low, high = gain.interval
    return f"{low:.2f} to {high:.2f}"
