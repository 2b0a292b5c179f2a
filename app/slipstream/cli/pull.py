"""``slipstream pull``: download a model together with its drafter."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from slipstream import settings
from slipstream.cancel import CancelToken
from slipstream.cli import interrupt, output
from slipstream.cli.options import AsJson, rate_of
from slipstream.cli.transfer import transfer
from slipstream.drafters.attached import choose_drafter
from slipstream.engine.advice import Question
from slipstream.engine.check import Checked, check_pair
from slipstream.engine.selection import Chosen, choose_download, refuse_unfit
from slipstream.errors import SlipstreamError
from slipstream.hub.address import Address, parse
from slipstream.hub.downloads.orders import Downloaded
from slipstream.hub.downloads.settle import target_of
from slipstream.hub.reference import on_the_hub
from slipstream.paths import expanded, is_path, printable, real
from slipstream.words import SPECULATION, size

_NOTHING_SEEN: dict[str, object] = {
    **dict.fromkeys(("file", "drafted", "accepted")),
    "drafts": False,
}


@dataclass(frozen=True)
class Answer:
    """What came of it.

    Attributes:
        chosen: what was to be downloaded.
        done: what was.
        target: the file to load.
        folder: where to; None is the cache.
        checked: what starting it with its drafter showed, or why it did not start; None where
            nothing drafts.
    """

    chosen: Chosen
    done: Downloaded
    target: Path
    folder: Path | None
    checked: Checked | SlipstreamError | None

    @property
    def ref(self) -> str:
        """What the command line calls it from now on."""
        if self.folder:
            return printable(self.target)
        return f"{self.chosen.repo}:{self.chosen.row.quantization.label}"


def pull(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="owner/repo, of which the best for this computer is taken, or owner/repo:QUANT,"
            " or the address of either.",
        ),
    ],
    no_drafter: Annotated[
        bool, typer.Option("--no-drafter", help="The model alone, without its drafter.")
    ] = False,
    drafter: Annotated[
        str | None,
        typer.Option(
            metavar="DRAFTER",
            help="Another drafter than the one that is found: owner/repo/file.gguf, or a file.",
        ),
    ] = None,
    folder: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Where to; else the cache of Hugging Face's own tools, which llama.cpp uses, too.",
        ),
    ] = None,
    limit: Annotated[
        str | None,
        typer.Option(metavar="RATE", help="Bytes per second at most, like 5MB."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Download a model with the drafter that fits it, or go on where that was interrupted."""
    rate = None if limit is None else rate_of(limit)
    if folder is not None and not is_path(folder):
        raise typer.BadParameter("--folder must name a folder.")
    if no_drafter and drafter:
        raise typer.BadParameter("--no-drafter and --drafter exclude each other.")
    address, own = _address(model), _own_file(drafter)
    named = None if own or drafter is None else _address(drafter)
    place = None if folder is None else expanded(Path(folder)).absolute()
    cancel = CancelToken()
    with interrupt.cancels(cancel):
        with output.progress(f"Looking into {address.repo} ...") as update:
            question = Question(spec="off" if no_drafter or own else "auto", drafter=named)
            chosen = choose_download(
                address,
                question,
                cancel,
                output.waits(update),
                lambda one: update(f"Planning {one.name} {one.label} ..."),
            )
            if own:
                refuse_unfit(chosen, own)
        order = chosen.offer.order(chosen.row, chosen.drafter, place)
        done = transfer(order, rate, cancel)
        target = target_of(done)
        if own:
            choose_drafter(target, own)
        if place:
            _remember(place)
        checked = _check(target, cancel) if own or chosen.drafter else None
    answer = Answer(chosen, done, target, place, checked)
    if as_json:
        output.print_json(_json(answer))
    else:
        _show(answer)


def _address(text: str) -> Address:
    file = parse(f"hf://{text}") if text.count("/") > 1 else None  # owner/repo/file.gguf
    address = on_the_hub(text) or file
    if address is None:
        raise SlipstreamError(
            "not_on_the_hub",
            f"{text} is not the name of a repository on the Hub.",
            facts={"model": text},
            action="Name one like owner/repo or owner/repo:Q4_K_M; 'slipstream search' finds some.",
        )
    return address


def _remember(folder: Path) -> None:
    """Offer the models of a folder from now on, in the window and in ``models``.

    Raises: SlipstreamError, if settings cannot be saved.
    """
    known = settings.load().settings.model_folders
    if all(real(expanded(Path(text))) != real(folder) for text in known):
        settings.save({"model_folders": (*known, str(folder))})
        output.say(f"{printable(folder)} was added to the folders with models (Settings).")


def _own_file(drafter: str | None) -> Path | None:
    """The file on this computer that a drafter's name leads to."""
    path = None if drafter is None else expanded(Path(drafter))
    return path.absolute() if path and path.is_file() else None


def _check(target: Path, cancel: CancelToken) -> Checked | SlipstreamError:
    """Start the pair once; what is wrong with it does not undo the download."""
    with output.progress("Trying the model with its drafter ..."):
        try:
            return check_pair(target, cancel)
        except SlipstreamError as problem:
            return problem


def _json(answer: Answer) -> dict[str, object]:
    done = answer.done
    return {
        "model": answer.ref,
        "quant": answer.chosen.row.quantization.label,
        "path": printable(answer.target),
        "files": [
            {
                "path": printable(one.path),
                "bytes": one.file.bytes,
                "sha256": one.file.sha256,
                "verified": one.transferred and one.file.sha256 is not None,
                "repo": one.repo,
                "transferred": one.transferred,
            }
            for one in done.files
        ],
        "drafter": _drafter_json(answer),
        "seconds": round(done.seconds, 3),
    }


def _drafter_json(answer: Answer) -> dict[str, object] | None:
    checked, drafter = answer.checked, answer.chosen.drafter
    if checked is None:
        return None
    repo = drafter.repo if drafter else None
    if isinstance(checked, SlipstreamError):
        kind = drafter.kind.value if drafter else None
        return _NOTHING_SEEN | {"kind": kind, "repo": repo, "problem": checked.message}
    tried = checked.fell.wanted if checked.fell else checked.spec
    verdict = checked.verdict
    return {
        "kind": tried.kind.value if tried.kind else None,
        "file": printable(tried.drafter) if tried.drafter else None,
        "repo": repo,
        "drafts": checked.spec.kind is not None,
        "drafted": verdict.drafted if verdict else None,
        "accepted": verdict.accepted if verdict else None,
        "problem": checked.fell.reason if checked.fell else None,
    }


def _show(answer: Answer) -> None:
    files = answer.done.files
    new = [one for one in files if one.transferred]
    if new:
        rest = " The rest was here already." if len(new) < len(files) else ""
        brought = size(sum(one.file.bytes for one in new))
        output.say(f"{answer.ref} is here: {brought} in {answer.done.seconds:,.1f} s.{rest}")
    else:
        output.say(f"{answer.ref} was here already.")
    drafter = answer.chosen.drafter
    if drafter and drafter.files and drafter.repo != answer.chosen.repo:
        output.say(f"Its drafter comes from {drafter.repo}.")
    said = _drafter_json(answer)
    if said is not None:
        output.say(_drafting(said), style=None if said["drafts"] else "yellow")
    output.say(f"Talk to it: slipstream chat {answer.ref}", style="dim")


def _drafting(said: Mapping[str, object]) -> str:
    kind = SPECULATION[str(said["kind"])].name if said["kind"] else ""
    if not said["drafts"]:
        return f"Nothing drafts for it. {said['problem'] or ''}".rstrip()
    if not said["drafted"]:
        return f"{kind} drafts for it."
    return f"{kind} drafts for it: {said['accepted']} of {said['drafted']} tokens were accepted."
