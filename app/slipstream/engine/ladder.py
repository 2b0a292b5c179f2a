"""What to try next when a launch fails because of its drafter, its projector or of memory.

The order is fixed: as configured, fewer draft tokens, no n-gram mix, no drafter, no projector, less
context. A projector that cannot be loaded is left out first of all.
"""

from collections.abc import Iterator
from dataclasses import replace

from slipstream.drafters.kinds import PLAIN, DrafterKind
from slipstream.engine.config import LaunchConfig
from slipstream.engine.failures import DRAFTER_TROUBLE, PROJECTOR_UNFIT

SMALLEST_CONTEXT = 4096
"""Tokens below which a chat is no longer useful; the engine's own floor when it fits memory."""

_HELPED_BY_NO_DRAFTER = frozenset(
    {
        "drafter_damaged",
        "drafter_idle",
        "drafter_mismatch",
        "drafter_rejected",
        "engine_cannot",
        "model_too_large",
    }
)


def rungs_below(config: LaunchConfig) -> Iterator[LaunchConfig]:
    """The launches to try after ``config``, each one less demanding than the one before."""
    spec = config.spec
    bare = replace(config, spec=PLAIN, projector=None)
    if spec.kind is not None:
        if config.projector is not None:
            yield replace(config, projector=None)
        if spec.kind is not DrafterKind.NGRAM and spec.draft_tokens > 1:
            spec = replace(spec, draft_tokens=spec.draft_tokens // 2)
            yield replace(config, spec=spec)
        if spec.with_ngram:
            yield replace(config, spec=replace(spec, with_ngram=False))
        yield replace(config, spec=PLAIN)
    if config.projector is not None:
        yield bare
    context = config.context // 2
    while context >= SMALLEST_CONTEXT:
        yield replace(bare, context=context)
        context //= 2


def helps(code: str, failed: LaunchConfig, rung: LaunchConfig) -> bool:
    """Whether ``rung`` removes what may have caused the failure ``code`` of ``failed``.

    A projector that cannot be loaded is helped by going without it; nothing else is, as long as
    there is a drafter to go without. Lack of memory is helped by every other rung; a drafter that
    does not fit, that the engine cannot run or whose file is too large (the target alone was looked
    at before) only by going without it; a crash with a drafter by every rung that speculates less;
    a crash of the model with its projector, and files too large together, by going without it;
    anything else by none.
    """
    if rung.projector is not None and failed.projector is None:
        return False
    if code == PROJECTOR_UNFIT:
        return failed.projector is not None and rung.projector is None
    if failed.spec.kind is not None and rung.spec == failed.spec:
        return False
    if code == "not_enough_memory":
        return True
    lighter = failed.spec.kind is not None or rung.projector != failed.projector
    if not lighter or rung.context != failed.context:
        return False
    if code in _HELPED_BY_NO_DRAFTER:
        return rung.spec.kind is None
    return code in DRAFTER_TROUBLE
