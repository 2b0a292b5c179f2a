"""``slipstream search``: models on the Hub."""

from collections.abc import Sequence
from itertools import islice
from typing import Annotated

import typer

from slipstream.cancel import CancelToken
from slipstream.cli import interrupt, output
from slipstream.cli.options import AsJson
from slipstream.engine.advice import Question, desk_for
from slipstream.hub.connection import connect
from slipstream.hub.search import FoundModel, search
from slipstream.planning.recommend import most_parameters
from slipstream.words import SPECULATION, count, parameters

_MOST = 1000
_NUMBERS = ("Parameters", "Downloads")
_HEADINGS = ("Repository", *_NUMBERS, "Drafters", "")


def search_models(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT",
            help="Words of a model's name, OWNER/ for somebody's models, or the name or address of"
            " a repository. Without it: what is popular now and fits this computer.",
        ),
    ] = None,
    most: Annotated[
        int,
        typer.Option("--most", min=1, max=_MOST, metavar="N", help="Show this many at most."),
    ] = 20,
    as_json: AsJson = False,
) -> None:
    """Find models on the Hub."""
    cancel, text = CancelToken(), " ".join(words or ())
    with interrupt.cancels(cancel), output.progress("Asking the Hub ...") as update:
        largest = None if text.strip() else most_parameters(desk_for(Question()).computer)
        with connect() as connection:
            results = search(
                text, connection, cancel, largest_parameters=largest, waiting=output.waits(update)
            )
            found = list(islice(results, most))
    if as_json:
        output.print_json({"models": [_json(one) for one in found]})
    else:
        _show(found)


def _json(one: FoundModel) -> dict[str, object]:
    return {
        "repo": one.repo,
        "downloads": one.downloads,
        "likes": one.likes,
        "parameters": one.parameters,
        "architecture": one.architecture,
        "context": one.context,
        "drafters": [kind.value for kind in one.drafters],
        "only_drafters": one.only_drafters,
        "gated": one.gated,
        "modified": one.modified.isoformat() if one.modified else None,
    }


def _show(found: Sequence[FoundModel]) -> None:
    if not found:
        output.say("Nothing was found.")
        return
    rows = [
        (
            one.repo,
            parameters(one.parameters) if one.parameters else "",
            count(one.downloads),
            ", ".join(SPECULATION[kind].name for kind in one.drafters),
            _remark(one),
        )
        for one in found
    ]
    output.print_table(_HEADINGS, rows, _NUMBERS)


def _remark(one: FoundModel) -> str:
    if one.only_drafters:
        return "drafters only"
    return "gated" if one.gated else ""
