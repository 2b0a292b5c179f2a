"""``slipstream remove``: delete a model and what belongs to it alone."""

import sys
from typing import Annotated

import typer

from slipstream.cli import output
from slipstream.cli.models import read_library
from slipstream.cli.options import AsJson
from slipstream.hub.library.lookup import named
from slipstream.hub.library.removal import Removal, removal
from slipstream.hub.library.removing import Removed
from slipstream.hub.library.removing import remove as carry_out
from slipstream.paths import printable
from slipstream.words import count, size

_FAILED = 1


def remove(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL", help="A model as 'slipstream models' shows it, or its file."
        ),
    ],
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask, as in a script without a terminal.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Delete a model from this computer, with the drafters that no other model needs."""
    library = read_library()
    decided = removal(named(library, model), library)
    if not yes and not as_json and sys.stdin.isatty() and not _agreed(decided):
        output.say("Nothing was removed.")
        raise typer.Exit(_FAILED)
    done = carry_out(decided)
    if as_json:
        output.print_json(_json(decided, done))
    else:
        _show(decided, done)
    if done.failed:
        raise typer.Exit(_FAILED)


def _agreed(decided: Removal) -> bool:
    files = len(decided.files) + len(decided.shared)
    output.say(f"{printable(decided.name)}: {count(files)} files, {size(decided.freed)}.")
    _say_kept(decided)
    return typer.confirm("Remove it?", err=True)


def _json(decided: Removal, done: Removed) -> dict[str, object]:
    kept = (*decided.kept, *done.failed)
    return {
        "removed": [printable(path) for path in done.removed],
        "freed": done.freed,
        "kept": [{"path": printable(path), "why": why} for path, why in kept],
    }


def _show(decided: Removal, done: Removed) -> None:
    output.say(f"{printable(decided.name)} was removed; {size(done.freed)} are free again.")
    if not sys.stdin.isatty():
        _say_kept(decided)
    for path, why in done.failed:
        output.say(f"Not removed: {printable(path)}. {why}", style="yellow")


def _say_kept(decided: Removal) -> None:
    for path, why in decided.kept:
        output.say(f"Stays: {printable(path)}. {why}")
