"""``slipstream models``: the models on this computer."""

from collections.abc import Sequence
from pathlib import Path

from slipstream import settings
from slipstream.cancel import CancelToken
from slipstream.cli import interrupt, output
from slipstream.cli.options import AsJson
from slipstream.drafters.identify import KINDS
from slipstream.drafters.kinds import DrafterKind
from slipstream.hub.downloads.leftovers import Leftover, leftovers
from slipstream.hub.downloads.records import Records
from slipstream.hub.library.models import Companion, Library, LocalModel, Stored
from slipstream.hub.library.scan import scan
from slipstream.paths import downloads_folder, expanded, printable
from slipstream.words import SPECULATION, several, size

_STORES = {"huggingface": "Hugging Face", "lmstudio": "LM Studio", "ollama": "Ollama"}


def models(as_json: AsJson = False) -> None:
    """List the models on this computer, with the drafters that belong to them."""
    library, unfinished = read_library(), leftovers(Records(downloads_folder()))
    if as_json:
        output.print_json(to_json(library, unfinished))
    else:
        _show(library, unfinished)


def read_library(*more: Path) -> Library:
    """What is on this computer, in the stores of other programs, the user's folders, and more.

    Raises: Cancelled.
    """
    cancel = CancelToken()
    folders = [expanded(Path(text)) for text in settings.load().settings.model_folders]
    with interrupt.cancels(cancel), output.progress("Looking through this computer ..."):
        return scan([*folders, *more], cancel)


def to_json(library: Library, unfinished: Sequence[Leftover]) -> dict[str, object]:
    """The document of ``models --json``."""
    return {
        "models": [_model_json(one) for one in library.models],
        "loose": [_stored_json(one) for one in library.loose],
        "unfinished": [
            {"path": printable(part.path), "bytes": part.bytes} for part in library.all_parts()
        ],
        "downloads": [
            {"repo": one.repo, "done": one.done, "total": one.total, "running": one.running}
            for one in unfinished
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


def _show(library: Library, unfinished: Sequence[Leftover]) -> None:
    if library.models:
        rows = [_row(one) for one in library.models]
        output.print_table(("Model", "Size", "Drafters", "From", ""), rows, ("Size",))
        output.say(f"{several(len(library.models), 'model')}, {size(library.bytes)} in all.")
    else:
        output.say("There are no models yet. The one that comes with the app is called demo.")
    for one in library.loose:
        output.say(f"Without a model: {printable(one.path)} ({size(one.bytes)})")
    for begun in unfinished:
        output.say(_begun(begun))
    for problem in library.problems:
        output.say(problem.message, style="yellow")


def _row(one: LocalModel) -> tuple[str, ...]:
    kinds = [DrafterKind.MTP] if one.has_head else []
    kinds += [KINDS[each.role] for each in one.drafters if each.role in KINDS]
    return (
        printable(one.ref),
        size(one.bytes),
        ", ".join(SPECULATION[kind].name for kind in dict.fromkeys(kinds)),
        _STORES.get(str(one.source), "folder"),
        _remark(one),
    )


def _begun(one: Leftover) -> str:
    if one.running:
        return f"{one.repo} is being downloaded: {size(one.done)} of {size(one.total)}."
    return (
        f"{one.repo} is not finished: {size(one.done)} of {size(one.total)}."
        f" Go on with 'slipstream pull', or give it up with 'slipstream remove {one.repo}'."
    )


def _remark(one: LocalModel) -> str:
    if one.problem:
        return one.problem
    if one.missing:
        return f"incomplete: {several(len(one.missing), 'file')} missing"
    return f"{size(one.unfinished)} not finished" if one.unfinished else ""
