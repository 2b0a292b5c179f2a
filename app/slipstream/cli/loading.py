"""Load a model and say what happens."""

from slipstream.cancel import CancelToken
from slipstream.cli import output
from slipstream.drafters.kinds import Unfit
from slipstream.engine.events import FellBack, StateChanged
from slipstream.engine.requests import Loaded, LoadRequest
from slipstream.engine.session import Session
from slipstream.paths import printable
from slipstream.words import SPECULATION, count, draft_tokens


def load(session: Session, request: LoadRequest, name: str, cancel: CancelToken) -> Loaded:
    """Load with progress on stderr; ``name`` is the model as the user named it.

    Raises: SlipstreamError, Cancelled.
    """
    text = f"Loading {name} ..."
    with output.progress(text) as update:
        for event in session.load(request, cancel):
            if isinstance(event, FellBack):
                output.say(event.reason, style="yellow")
                output.say(next_attempt(event), style="dim")
            elif isinstance(event, Unfit):
                output.say(f"{_drafter(event)} is not used. {event.reason}", style="yellow")
            elif isinstance(event, StateChanged) and event.progress is not None:
                update(f"{text} {event.progress:.0%}")
    if session.loaded is None:
        raise AssertionError("a load that ends without an error has loaded something")
    return session.loaded


def _drafter(unfit: Unfit) -> str:
    file = printable(unfit.path.name)
    return f"The {SPECULATION[unfit.kind].name} head of {file}" if unfit.inside else file


def next_attempt(fall: FellBack) -> str:
    """What is tried after a launch that did not work."""
    wanted, now = fall.wanted, fall.now
    if fall.without_images:
        return "Trying without images."
    if now.kind is None:
        if wanted.kind is not None:
            return "Trying without a drafter."
        return f"Trying with {count(fall.context)} tokens of context."
    if now.draft_tokens != wanted.draft_tokens:
        return f"Trying with {draft_tokens(now.draft_tokens)}."
    return "Trying without n-grams."
