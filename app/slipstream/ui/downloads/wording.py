"""What the window says about downloads, and which button helps; nothing here draws."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import TYPE_CHECKING

from slipstream.errors import SlipstreamError
from slipstream.ui.i18n import tr
from slipstream.words import duration, far, size

if TYPE_CHECKING:
    from slipstream.hub.downloads.contents import Piece
    from slipstream.hub.downloads.progress import FileProgress, Progress
    from slipstream.hub.downloads.queue import Entry
    from slipstream.hub.downloads.standing import Standing


class Phase(StrEnum):
    """What is happening with a download."""

    RUNNING = auto()
    CHECKING = auto()
    PATIENT = auto()
    """Something else has to happen first: the Hub asked for it, or the connection was lost."""
    WAITING = auto()
    LATER = auto()
    """The network broke it off; it is tried again by itself."""
    INTERRUPTED = auto()
    ELSEWHERE = auto()
    PAUSED = auto()
    FAILED = auto()
    DONE = auto()


BUSY = frozenset({Phase.RUNNING, Phase.CHECKING, Phase.PATIENT})
"""This program is at it."""
ACTIVE = BUSY | {Phase.WAITING, Phase.LATER, Phase.INTERRUPTED, Phase.ELSEWHERE}
"""It goes on by itself."""
CAN_PAUSE = BUSY | {Phase.WAITING, Phase.LATER, Phase.INTERRUPTED}
CAN_RESUME = frozenset({Phase.PAUSED, Phase.LATER})


class Step(StrEnum):
    """What helps after a failure."""

    AGAIN = auto()
    TOKEN = auto()
    PAGE = auto()
    FOLDER = auto()
    LOOK = auto()


def download_button(missing: int) -> str:
    """What a button says that gets a model.

    Args:
        missing: bytes to transfer; 0 where another repository brought the same contents.
    """
    if not missing:
        return tr("Add · nothing to download")
    return tr("Download · {size}").format(size=size(missing))


@dataclass(frozen=True)
class Help:
    """How a person gets on after a failure.

    Attributes:
        step: what the button does.
        button: what it says.
        advice: one sentence: what to do.
        page: an address that is needed for it; empty if none is.
    """

    step: Step
    button: str
    advice: str
    page: str = ""


_FOLDER = frozenset({"disk_full", "not_enough_space", "cannot_write", "file_exists"})
_TOKEN = frozenset({"bad_token", "forbidden"})
_CHANGED = frozenset({"changed_on_hub", "file_not_found", "revision_not_found"})
_NOT_SIGNED_IN = 401
_DOT, _HARD = " · ", "\u00a0"  # what parts are joined with; a space at which no line breaks
_SHORT = 28  # characters


def phase_of(entry: "Entry") -> Phase:
    """What is happening with an order."""
    stage = entry.record.stage
    if stage in ("done", "failed", "paused"):
        return Phase(stage)
    if entry.progress is not None:
        return _at(entry.progress.current)
    if stage == "waiting":
        return Phase.WAITING if entry.again is None else Phase.LATER
    if entry.elsewhere:
        return Phase.ELSEWHERE
    return Phase.INTERRUPTED if entry.interrupted else Phase.RUNNING


def _at(current: "FileProgress | None") -> Phase:
    states = {"checking": Phase.CHECKING, "waiting": Phase.PATIENT}
    return states.get(current.state if current else "", Phase.RUNNING)


def state(one: "Standing") -> str:
    """What is happening, in a few plain words."""
    current = one.progress.current
    match phase_of(one.entry):
        case Phase.RUNNING:
            resolving = current is not None and current.state == "resolving"
            return tr("Connecting") if resolving else tr("Downloading")
        case Phase.PATIENT if current is not None:
            return _waiting(current)
        case Phase.LATER:
            return _later(one.entry)
        case Phase.DONE if one.target is None:
            return tr("Done; its files were removed since")
        case phase:
            return tr(_STATES[phase])


_STATES = {
    Phase.CHECKING: "Checking what arrived",
    Phase.PATIENT: "Waiting",
    Phase.WAITING: "Waiting for its turn",
    Phase.INTERRUPTED: "Was interrupted; goes on when its turn comes",
    Phase.ELSEWHERE: "Another program is at it",
    Phase.PAUSED: "Paused",
    Phase.FAILED: "Failed",
    Phase.DONE: "Done",
}


def _waiting(current: "FileProgress") -> str:
    why = tr(current.why)
    if not current.seconds:
        return tr("Waiting: {why}").format(why=why)
    return tr("Tries again in {time}: {why}").format(time=duration(current.seconds), why=why)


def _later(entry: "Entry") -> str:
    """Why it was broken off, and when it is tried again."""
    error = entry.record.error
    words = tr("Tries again in {time}.").format(time=duration(entry.again or 0.0))
    return f"{error.message} {words}" if error else words


def percent(progress: "Progress") -> int:
    """How much of it is there, rounded down: 100 is all of it."""
    return progress.done * 100 // progress.total if progress.total else 100


def numbers(one: "Standing") -> str:
    """How far it is, how fast, and how long it will take, as far as that is known."""
    progress = one.progress
    phase = phase_of(one.entry)
    if phase is Phase.DONE:
        return size(progress.total) if len(one.pieces) > 1 else ""
    parts = [far(progress.done, progress.total)]
    if phase is Phase.RUNNING and progress.speed:
        parts.append(f"{size(round(progress.speed))}/s")
        if progress.seconds_left:
            parts.append(tr("{time} left").format(time=duration(progress.seconds_left)))
    return _DOT.join(parts)


def spoken(one: "Standing") -> str:
    """How far it is, as a screen reader says it: "62 percent, 3.1 of 5.0 GB"."""
    progress = one.progress
    words = tr("{n} percent, {far}")
    return words.format(n=percent(progress), far=far(progress.done, progress.total))


def pieces(one: "Standing") -> str:
    """What it brings: "Model 3.1 of 4.6 GB · drafter 310 MB, done · projector 0.9 GB"."""
    plain = len(one.pieces) == 1 or phase_of(one.entry) is Phase.DONE
    words = [_piece(piece, plain=plain) for piece in one.pieces]
    text = _DOT.join(words)
    return text[:1].upper() + text[1:]


_USES = {"model": "model", "drafter": "drafter", "projector": "projector", "other": "another file"}


def _piece(piece: "Piece", *, plain: bool) -> str:
    name = tr(_USES[piece.use])
    if plain or (not piece.done and not piece.complete):
        return f"{name} {size(piece.total)}"
    if piece.complete:
        return tr("{name} {size}, done").format(name=name, size=size(piece.total))
    return f"{name} {far(piece.done, piece.total)}"


def following(one: "Standing") -> str:
    """Which piece it is at, or comes next, where there are several: "drafter next"."""
    current = one.progress.current
    at = next((i for i, each in enumerate(one.pieces) if current in each.files), None)
    if at is None:
        return ""
    if at:
        return tr("now the {piece}").format(piece=tr(_USES[one.pieces[at].use]))
    ahead = next((each for each in one.pieces[1:] if not each.complete), None)
    return tr("{piece} next").format(piece=tr(_USES[ahead.use])) if ahead else ""


def help_for(error: SlipstreamError) -> Help:
    """What helps after a failure."""
    signed_in = error.facts.get("http_status") != _NOT_SIGNED_IN
    page = _page(error)
    if error.code == "gated" and signed_in and page:
        advice = tr("Accept the conditions on its page, or wait until its owners let you in.")
        return Help(Step.PAGE, tr("Open its page"), advice, page)
    if error.code == "gated":
        advice = tr("Accept the conditions on its page, then enter your access token.")
        return Help(Step.TOKEN, tr("Enter a token"), advice, page)
    if error.code in _TOKEN or (error.code == "repo_not_found" and not signed_in):
        advice = tr("If you may read it, enter an access token that says so.")
        return Help(Step.TOKEN, tr("Enter a token"), advice)
    if error.code in _FOLDER:
        return Help(Step.FOLDER, tr("Show the folder"), error.action)
    if error.code in _CHANGED:
        return Help(Step.LOOK, tr("Look at it again"), error.action)
    return Help(Step.AGAIN, tr("Try again"), error.action)


def _page(error: SlipstreamError) -> str:
    """The address of a page that may be opened; anybody can have written what is kept."""
    page = str(error.facts.get("page") or "")
    return page if page.startswith(("https://", "http://")) else ""


def neighbour(unfinished: Sequence[str], name: str, step: int) -> tuple[bool, str | None]:
    """Where a download goes when it is moved one up (-1) or down (1).

    Args:
        unfinished: ids in the order in which they are run.
        name: the one to move.
        step: -1 or 1.

    Returns: whether it can be moved, and the id to run it before; None for after all others.
    """
    at = unfinished.index(name)
    others = [each for each in unfinished if each != name]
    to = at + step
    if not 0 <= to <= len(others):
        return False, None
    return True, others[to] if to < len(others) else None


def unbroken(text: str) -> str:
    """The same with lines that break between its parts, where these are short."""
    parts = text.split(_DOT)
    whole = [part.replace(" ", _HARD) if len(part) < _SHORT else part for part in parts]
    return f"{_HARD}· ".join(whole)


def joined(parts: Sequence[str]) -> str:
    """What there is to say, in a line."""
    return _DOT.join(filter(None, parts))
