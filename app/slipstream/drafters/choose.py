"""From what was found and what was asked for to how a launch speculates."""

from collections.abc import Collection

from slipstream.drafters import verdicts
from slipstream.drafters.flags import can_run
from slipstream.drafters.kinds import (
    MADE_FOR_A_TARGET,
    PLAIN,
    Drafter,
    DrafterKind,
    Found,
    SpecChoice,
    SpecConfig,
    Unfit,
)
from slipstream.errors import Fact, SlipstreamError
from slipstream.paths import printable
from slipstream.words import SPECULATION

DRAFT_TOKENS = {
    DrafterKind.MTP: 3,
    DrafterKind.DFLASH: 5,
    DrafterKind.DSPARK: 5,
    DrafterKind.EAGLE3: 3,
    DrafterKind.DRAFT: 8,
    DrafterKind.SELF: 4,
    DrafterKind.NGRAM: 12,
}
"""Draft tokens per step unless the user or a measurement says otherwise."""

P_MIN = {DrafterKind.DRAFT: 0.5, DrafterKind.SELF: 0.5}
"""Whole models pay for every draft token, so they stop when they are unsure; others never do."""


def choose(
    found: Found,
    choice: SpecChoice,
    offered_types: Collection[str],
    draft_tokens: int | None = None,
    engine: str | None = None,
) -> SpecConfig:
    """How to speculate.

    Args:
        found: what lies near the model.
        choice: "auto" takes what the user chose for this model, else the first proven drafter
            that was made for it (a second whole model or n-grams may well be slower, so they are
            only taken when asked for), as far as the engine can run it and it did not fail there.
            A kind that was asked for is taken in any case: starting it tells why it cannot run.
        offered_types: the values that the engine's ``--spec-type`` takes.
        draft_tokens: most tokens per step; None takes the kind's default. Kept within what the
            drafter can do.
        engine: build of the engine; what drafters showed on it counts. None knows of nothing.

    Raises: SlipstreamError: ``no_drafter``, if the kind asked for is not there.
    """
    if choice == "off":
        return PLAIN
    if choice == "auto":
        runs = (one for one in found.drafters if _suits(one) and can_run(one.kind, offered_types))
        drafter = next((one for one in runs if not _failed(found, one, engine)), None)
        return _config(drafter, draft_tokens) if drafter and not found.plain else PLAIN
    drafter = next((one for one in found.drafters if one.kind == choice), None)
    if drafter is None:
        raise _no_drafter(DrafterKind(choice), found)
    return _config(drafter, draft_tokens)


def passed_over(found: Found, engine: str) -> tuple[Unfit, ...]:
    """What "auto" would take if it had not failed when it ran, with the reasons.

    Args:
        found: what lies near the model.
        engine: build of the engine that it ran on.
    """
    failed = ((one, _failed(found, one, engine)) for one in found.drafters if _suits(one))
    return tuple(
        Unfit(one.kind, one.path or found.target, reason, missed=True, inside=one.path is None)
        for one, reason in failed
        if reason and found.target
    )


def _suits(drafter: Drafter) -> bool:
    """Whether nobody need ask for it by its kind."""
    return drafter.chosen or (drafter.proven and drafter.kind in MADE_FOR_A_TARGET)


def _failed(found: Found, drafter: Drafter, engine: str | None) -> str | None:
    """Why a drafter is no good on this engine, as far as it ran there."""
    if engine is None or found.target is None:
        return None
    verdict = verdicts.verdict_on(found.target, drafter.here, drafter.kind, engine)
    return None if verdict is None or verdict.ok else verdict.reason


def _config(drafter: Drafter, draft_tokens: int | None) -> SpecConfig:
    wanted = DRAFT_TOKENS[drafter.kind] if draft_tokens is None else max(1, draft_tokens)
    return SpecConfig(
        kind=drafter.kind,
        drafter=drafter.path,
        draft_tokens=min(wanted, drafter.longest_draft or wanted),
        p_min=P_MIN.get(drafter.kind, 0.0),
    )


def _way_out(found: Found) -> str:
    """What to do without a drafter of one kind, wherever the model is: n-grams always work."""
    others = dict.fromkeys(one.kind for one in found.drafters if one.kind is not DrafterKind.NGRAM)
    if not others:
        return "Run it without a drafter, or add one that was made for this model."
    names = " or ".join(SPECULATION[kind].name for kind in others)
    return f"Choose {names}, or add a drafter of this kind."


def _no_drafter(kind: DrafterKind, found: Found) -> SlipstreamError:
    there = ", ".join(dict.fromkeys(SPECULATION[one.kind].name for one in found.drafters))
    facts: dict[str, Fact] = {"kind": kind.value, "available": there}
    unfit = [one for one in found.unfit if one.kind == kind]
    if not unfit:
        name = SPECULATION[kind].name
        return SlipstreamError(
            "no_drafter",
            f"No drafter of this kind was found for this model: {name}.",
            facts=facts,
            action=_way_out(found),
        )
    nearest = max(unfit, key=lambda one: one.missed)
    return SlipstreamError(
        "no_drafter",
        f"{printable(nearest.path.name)} cannot draft for this model. {nearest.reason}",
        facts={**facts, "path": printable(nearest.path)},
        action="Choose a drafter that was made for this model, or another kind of speculation.",
    )
