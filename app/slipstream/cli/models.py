"""``slipstream models``: the models on this computer."""

from pathlib import Path

from rich.console import Console
from rich.table import Table

from slipstream import settings
from slipstream.cancel import CancelToken
from slipstream.cli import interrupt, output
from slipstream.cli.options import AsJson
from slipstream.drafters.identify import KINDS
from slipstream.drafters.kinds import DrafterKind
from slipstream.hub.library.models import Companion, Library, LocalModel, Stored
from slipstream.hub.library.scan import scan
from slipstream.paths import expanded, printable
from slipstream.words import SPECULATION, count, size

_STORES = {"huggingface": "Hugging Face", "lmstudio": "LM Studio", "ollama": "Ollama"}


def models(as_json: AsJson = False) -> None:
    """List the models on this computer, with the drafters that belong to them."""
    library = read_library()
    if as_json:
        output.print_json(to_json(library))
    else:
        _show(library)


def read_library() -> Library:
    """What is on this computer, in the stores of other programs and the user's folders.

    Raises: Cancelled.
    """
    cancel = CancelToken()
    folders = settings.load().settings.model_folders
    with interrupt.cancels(cancel), output.progress("Looking through this computer ..."):
        return scan([expanded(Path(folder)) for folder in folders], cancel)


def to_json(library: Library) -> dict[str, object]:
    """The document of ``models --json``."""
    return {
        "models": [_model_json(one) for one in library.models],
        "loose": [_stored_json(one) for one in library.loose],
        "unfinished": [
            {"path": printable(part.path), "bytes": part.bytes} for part in library.all_parts()
        ],
        "bytes": library.bytes,
        "problems": [problem.to_json() for problem in library.problems],
    }


def _model_json(one: LocalModel) -> dict[str, object]:
    drafters = [_companion_json(each) for each in one.drafters]
    if one.has_head:
        inside: dict[str, object] = {"kind": DrafterKind.MTP.value, "path": None, "bytes": 0}
        drafters.insert(0, inside)
    return {
        "ref": printable(one.ref),
        **_stored_json(one),
        "drafter": drafters[0] if drafters else None,
        "drafters": drafters,
        "projectors": [_companion_json(each) for each in one.projectors],
        "unfinished": one.unfinished,
    }


def _companion_json(one: Companion) -> dict[str, object]:
    kind = KINDS.get(one.role)
    return {"kind": kind.value if kind else None, **_stored_json(one)}


def _stored_json(one: Stored) -> dict[str, object]:
    return {
        "name": printable(one.name),
        "quant": one.quant,
        "path": printable(one.path),
        "files": [printable(file) for file in one.files],
        "bytes": one.bytes,
        "source": str(one.source),
        "places": [printable(place.home) for place in one.places],
        "revision": one.revision,
        "missing": [printable(name) for name in one.missing],
        "problem": one.problem,
    }


def _show(library: Library) -> None:
    console = Console(highlight=False)
    if library.models:
        console.print(_table(library))
    else:
        output.say("There are no models yet. The one that comes with the app is called demo.")
    for one in library.loose:
        output.say(f"Without a model: {printable(one.path)} ({size(one.bytes)})")
    for problem in library.problems:
        output.say(problem.message, style="yellow")
    if library.models:
        number = len(library.models)
        console.print(f"{count(number)} model{'s' * (number != 1)}, {size(library.bytes)} in all.")


def _table(library: Library) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("Model", "Size", "Drafters", "From", ""):
        table.add_column(heading, justify="right" if heading == "Size" else "left", overflow="fold")
    for one in library.models:
        kinds = [DrafterKind.MTP] if one.has_head else []
        kinds += [KINDS[each.role] for each in one.drafters if each.role in KINDS]
        table.add_row(
            output.plain(printable(one.ref)),
            size(one.bytes),
            ", ".join(SPECULATION[kind].name for kind in dict.fromkeys(kinds)),
            _STORES.get(str(one.source), "folder"),
            output.plain(_remark(one)),
        )
    return table


def _remark(one: LocalModel) -> str:
    if one.problem:
        return one.problem
    if one.missing:
        return f"incomplete: {count(len(one.missing))} of its files missing"
    return f"{size(one.unfinished)} not finished" if one.unfinished else ""
