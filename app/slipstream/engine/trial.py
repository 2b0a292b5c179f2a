"""What a launch shows of its drafter before anybody waits for an answer: does it draft, and is
anything of it accepted?
"""

import contextlib
import time
from dataclasses import dataclass

from slipstream.cancel import CancelToken
from slipstream.drafters.verdicts import Verdict, record, verdict_on
from slipstream.engine.client import EngineClient
from slipstream.engine.config import LaunchConfig
from slipstream.engine.requests import ReplyOptions
from slipstream.engine.spec import EngineSpec
from slipstream.errors import SlipstreamError

PROMPT = "Once upon a time, there was a"
"""The start of a story, which any model can go on with."""
_SHORT, _LONG = 6, 64
"""Tokens: one drafted step after the token that the prompt pass makes; enough to tell whether a
drafter is any good."""
_ENOUGH = 24
"""Draft tokens that tell something."""
_PATIENCE = 10.0
"""Seconds after which a slow model has shown enough, if it drafted at all."""
HOPELESS = 0.05
"""Acceptance below which a drafter was not made for this model: those that were are accepted at
30 to 90 %."""

_MAY_EXPLAIN_IT = ("chat_template", "extra", "flash_attention", "gpu_layers", "kv_type")
"""What a person may have set for a model that makes a good drafter fail, or a bad one pass."""
_DRAFTERS_FAULT = frozenset(
    {"drafter_damaged", "drafter_idle", "drafter_mismatch", "engine_crashed"}
)


@dataclass(frozen=True)
class Trial:
    """What was drafted and accepted."""

    drafted: int
    accepted: int

    @property
    def hopeless(self) -> bool:
        """Whether the model accepts next to nothing of what is drafted."""
        return self.drafted >= _ENOUGH and self.accepted < HOPELESS * self.drafted


def try_out(client: EngineClient, cancel: CancelToken, *, first_time: bool) -> Trial:
    """Let a launch with a drafter write a few tokens.

    Args:
        client: of the engine.
        cancel: ends it at once.
        first_time: this pair has not proved itself on this engine: 64 tokens instead of 6.

    Raises: Cancelled; SlipstreamError, as ``EngineClient.complete``.
    """
    options = ReplyOptions(max_tokens=_LONG if first_time else _SHORT, temperature=0.0)
    drafted = accepted = 0
    end = time.monotonic() + _PATIENCE
    for chunk in client.complete(PROMPT, options, cancel):
        if chunk.timings:
            drafted, accepted = chunk.timings.drafted, chunk.timings.accepted
        if time.monotonic() > end and drafted:
            break
    return Trial(drafted, accepted)


def proved_itself(engine: EngineSpec, config: LaunchConfig) -> bool:
    """Whether this very pair was tried on this very build, and drafted."""
    spec = config.spec
    if spec.kind is None:
        return False
    known = verdict_on(config.model, spec.drafter, spec.kind, engine.build)
    return known is not None and known.ok


def keep(engine: EngineSpec, config: LaunchConfig, trial: Trial) -> None:
    """Remember how a drafter did in an ordinary launch."""
    reason = hopeless(trial).message if trial.hopeless else "It drafts for this model here."
    _keep(engine, config, trial, reason, ok=not trial.hopeless)


def blame(engine: EngineSpec, config: LaunchConfig, failure: SlipstreamError) -> None:
    """Remember that an ordinary launch failed which works without its drafter."""
    if failure.code in _DRAFTERS_FAULT:
        _keep(engine, config, Trial(0, 0), failure.message, ok=False)


def _keep(engine: EngineSpec, config: LaunchConfig, trial: Trial, reason: str, *, ok: bool) -> None:
    spec = config.spec
    if spec.kind is None or not _is_ordinary(config):
        return
    verdict = Verdict(ok, reason, trial.drafted, trial.accepted, engine.build, time.time())
    with contextlib.suppress(SlipstreamError):  # it will be tried again
        record(config.model, spec.drafter, spec.kind, verdict)


def _is_ordinary(config: LaunchConfig) -> bool:
    usual = LaunchConfig(config.model, config.context)
    return all(getattr(config, name) == getattr(usual, name) for name in _MAY_EXPLAIN_IT)


def idle() -> SlipstreamError:
    """A drafter that was loaded and does not draft."""
    return SlipstreamError(
        "drafter_idle",
        "The drafter was loaded, but the engine does not draft with it.",
        action="Choose another drafter, or turn speculation off.",
    )


def hopeless(trial: Trial) -> SlipstreamError:
    """A drafter of whose tokens next to none is accepted."""
    return SlipstreamError(
        "drafter_rejected",
        f"The model accepts next to nothing of what this drafter proposes: {trial.accepted} of"
        f" {trial.drafted} tokens.",
        facts={"drafted": trial.drafted, "accepted": trial.accepted},
        action="Choose another drafter, or turn speculation off.",
    )
