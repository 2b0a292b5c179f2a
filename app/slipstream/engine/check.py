"""Starts a model once with the drafter that belongs to it, to see that it drafts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.drafters.kinds import SpecConfig
from slipstream.drafters.verdicts import Verdict, verdict_on
from slipstream.engine.events import FellBack, LoadEvent
from slipstream.engine.requests import Loaded, LoadRequest
from slipstream.engine.session import Session
from slipstream.engine.spec import Choice, chosen

_CONTEXT = 2048
"""Tokens; more would only cost memory."""


@dataclass(frozen=True)
class Checked:
    """What starting a model once showed.

    Attributes:
        spec: how it speculates from now on; plain where nothing drafts.
        verdict: what its drafter showed; None without one.
        fell: why the drafter that was meant to draft does not; None if it does.
    """

    spec: SpecConfig
    verdict: Verdict | None = None
    fell: FellBack | None = None


def check_pair(
    model: Path,
    cancel: CancelToken,
    choose_engine: Callable[[], Choice] = chosen,
    told: Callable[[LoadEvent], None] = lambda _: None,
) -> Checked:
    """Start a model with the best drafter there is for it, whatever that showed before.

    Args:
        model: the first of its files.
        cancel: ends it at once.
        choose_engine: says which engine to run.
        told: gets what happens meanwhile.

    Raises: Cancelled; SlipstreamError, if the model itself cannot run.
    """
    session = Session(choose_engine)
    falls: list[FellBack] = []
    try:
        for event in session.load(
            LoadRequest(model, "auto", context=_CONTEXT, afresh=True, own_settings=False), cancel
        ):
            if isinstance(event, FellBack):
                falls.append(event)
            told(event)
        return _seen(model, session.loaded, falls)
    finally:
        session.stop()


def _seen(model: Path, loaded: Loaded | None, falls: Sequence[FellBack]) -> Checked:
    if loaded is None:
        raise AssertionError("what was loaded without an error is there")
    tried = falls[0].wanted if falls else loaded.spec
    if tried.kind is None:
        return Checked(loaded.spec)
    verdict = verdict_on(model, tried.drafter, tried.kind, loaded.engine)
    return Checked(loaded.spec, verdict, falls[-1] if loaded.spec.kind is None else None)
