"""``slipstream tune``: which way of drafting, with how many draft tokens, suits a model here."""

import time
from typing import Annotated

import typer

from slipstream.cancel import CancelToken
from slipstream.cli import interrupt, output
from slipstream.cli.compare import LEAST_TOKENS, MOST_PASSES, MOST_TOKENS
from slipstream.cli.options import AsJson
from slipstream.compare.prompts import own_set
from slipstream.compare.report import MOST_DRIFT
from slipstream.compare.runner import PASSES
from slipstream.compare.tuned import Tried, Tuning, document, key_of, remember, remembered
from slipstream.compare.tuner import TOKENS, Progress, TunePlan, kinds_there
from slipstream.compare.tuner import tune as run_tune
from slipstream.engine.spec import chosen
from slipstream.errors import SlipstreamError
from slipstream.hub.reference import resolve
from slipstream.words import SPECULATION, duration


def tune(
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="demo, demo-small, a .gguf file, or owner/repo."),
    ],
    passes: Annotated[
        int,
        typer.Option(
            min=1, max=MOST_PASSES, metavar="N", help="How often what seems best is launched."
        ),
    ] = PASSES,
    tokens: Annotated[
        int,
        typer.Option(
            min=LEAST_TOKENS, max=MOST_TOKENS, metavar="N", help="Length of every answer."
        ),
    ] = TOKENS,
    again: Annotated[
        bool, typer.Option("--again", help="Measure also if the answer is known already.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find the way of drafting that suits a model on this computer."""
    file = resolve(model)
    cancel = CancelToken()
    with interrupt.cancels(cancel):
        plan = TunePlan(file, kinds_there(file, cancel), own_set(), passes, tokens)
        key = key_of(file, plan.measured, chosen, cancel)
        known = remembered(key) if key and not again else None
        found = known or _measure(plan, cancel)
    if key and known is None:
        _keep(key, found)
    if as_json:
        output.print_json(document(str(file), found, known=known is not None))
    else:
        _show(found, known=known is not None)


def _measure(plan: TunePlan, cancel: CancelToken) -> Tuning:
    """Raises: SlipstreamError, Cancelled."""
    found: Tuning | None = None
    with output.progress(f"Tuning {plan.model.name} ...") as update:
        for event in run_tune(plan, cancel):
            if isinstance(event, Progress):
                update(_line(event))
            else:
                found = event
    assert found is not None
    return found


def _keep(key: str, found: Tuning) -> None:
    """What took minutes to measure is told also where it cannot be kept."""
    try:
        remember(key, found)
    except SlipstreamError as error:
        output.say(error.message, "yellow")


def _line(event: Progress) -> str:
    doing = "Confirming" if event.confirming else "Trying"
    left = "" if event.seconds_left is None else f", {duration(event.seconds_left)} left"
    return f"{doing} {event.mode} ... launch {event.launch} of about {event.about}{left}"


def _show(found: Tuning, *, known: bool) -> None:
    headings = ("mode", "tok/s", "speedup", "between", "")
    output.print_table(headings, [_cells(one) for one in found.tried], headings[1:-1])
    if found.drift is not None and abs(found.drift) > MOST_DRIFT:
        change = "slower" if found.drift > 0 else "faster"
        output.say(
            f"This computer became {abs(found.drift):.0%} {change} meanwhile, so the numbers may be"
            " wrong. Tune again when it is idle.",
            "yellow",
        )
    output.say(found.reason)
    if known:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(found.when))
        output.say(f"This was measured on {when}, and nothing has changed; --again measures anew.")


def _cells(one: Tried) -> tuple[str, ...]:
    low, high = one.interval or (0.0, 0.0)
    return (
        _name(one),
        f"{one.tokens_per_second:.1f}" if one.tokens_per_second else "",
        f"{one.speedup:.2f}x" if one.speedup else "",
        f"{low:.2f} to {high:.2f}" if one.interval else "",
        one.reason,
    )


def _name(one: Tried) -> str:
    if one.kind is None:
        return "plain"
    stop = f", p-min {one.p_min:g}" if one.p_min else ""
    return f"{SPECULATION[one.kind].name}, {one.draft_tokens}{stop}"
