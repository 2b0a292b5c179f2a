"""``slipstream remove``: delete a model and what belongs to it alone."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from slipstream.cli import output
from slipstream.cli.models import read_library
from slipstream.cli.options import AsJson
from slipstream.errors import SlipstreamError
from slipstream.hub.downloads.leftovers import Leftover, give_up, leftovers
from slipstream.hub.downloads.records import Records
from slipstream.hub.library.lookup import named
from slipstream.hub.library.removal import Removal, removal
from slipstream.hub.library.removing import Removed, not_all_removed
from slipstream.hub.library.removing import remove as carry_out
from slipstream.hub.reference import on_the_hub, resolve
from slipstream.paths import downloads_folder, expanded, is_path, printable
from slipstream.words import several, size

_FAILED = 1


def remove(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL", help="A model as 'slipstream models' shows it, or its file."
        ),
    ],
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask first. --json does not ask either.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Delete a model from this computer, with the drafters that no other model needs."""
    if not (yes or as_json or sys.stdin.isatty()):
        raise typer.BadParameter("Nobody can be asked here: add --yes.")
    records = Records(downloads_folder())
    begun = _begun(model, records)
    if begun is not None:
        _give_up(begun, records, yes=yes or as_json, as_json=as_json)
        return
    library = read_library(*_folder_of(model))
    decided = removal(named(library, model), library)
    if not (yes or as_json) and not _agreed(model, decided):
        output.say("Nothing was removed.")
        raise typer.Exit(_FAILED)
    done = carry_out(decided)
    if done.failed:
        raise not_all_removed(model, done)
    if as_json:
        output.print_json(_json(decided, done))
    else:
        _show(model, decided, done, asked=not yes)


def _begun(model: str, records: Records) -> Leftover | None:
    """The unfinished download of a model, if it is not on this computer otherwise."""
    address = on_the_hub(model)
    if address is None:
        return None
    try:
        resolve(model)
    except SlipstreamError as error:
        if error.code == "not_downloaded":
            same = (one for one in leftovers(records) if one.repo.lower() == address.repo.lower())
            return next(same, None)
    return None


def _give_up(begun: Leftover, records: Records, *, yes: bool, as_json: bool) -> None:
    there = f"{begun.repo} is not finished: {size(begun.done)} of {size(begun.total)} are here."
    if not yes:
        output.say(there)
        if not typer.confirm("Give it up, and delete what is here?", err=True):
            raise typer.Exit(_FAILED)
    give_up(begun, records)
    if as_json:
        output.print_json({"removed": [], "freed": begun.done, "kept": []})
    else:
        output.say(f"{begun.repo} was given up; {size(begun.done)} are free again.")


def _folder_of(model: str) -> tuple[Path, ...]:
    """Where to look for a file that may lie in no store."""
    path = expanded(Path(model))
    if not is_path(model) or not path.exists():
        return ()
    return (path if path.is_dir() else path.parent,)


def _agreed(model: str, decided: Removal) -> bool:
    going = (*decided.files, *decided.shared)
    output.say(f"{model}: {several(len(going), 'file')}, {size(decided.freed)}.")
    for one in going:
        output.say(f"  {printable(one.path)}")
    _say_kept(decided)
    return typer.confirm("Remove it?", err=True)


def _json(decided: Removal, done: Removed) -> dict[str, object]:
    return {
        "removed": [printable(path) for path in done.removed],
        "freed": done.freed,
        "kept": [{"path": printable(one.path), "why": one.why} for one in decided.kept],
    }


def _show(model: str, decided: Removal, done: Removed, *, asked: bool) -> None:
    output.say(f"{model} was removed; {size(done.freed)} are free again.")
    if not asked:
        _say_kept(decided)


def _say_kept(decided: Removal) -> None:
    for one in decided.kept:
        known = f" ({printable(one.known_as)})" if one.known_as else ""
        output.say(f"Stays: {printable(one.path)}{known}. {one.why}")
