"""From what was found and what was asked for to how a launch speculates."""

from collections.abc import Sequence

from slipstream.drafters.kinds import PLAIN, Drafter, DrafterKind, SpecChoice, SpecConfig
from slipstream.errors import SlipstreamError

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

_MADE_FOR_A_TARGET = frozenset(
    {DrafterKind.MTP, DrafterKind.DFLASH, DrafterKind.DSPARK, DrafterKind.EAGLE3}
)


def choose(
    drafters: Sequence[Drafter], choice: SpecChoice, draft_tokens: int | None = None
) -> SpecConfig:
    """How to speculate.

    Args:
        drafters: what fits the model, the best first.
        choice: "auto" takes the first proven drafter that was made for the model (a second whole
            model or n-grams may well be slower, so they are only taken when asked for).
        draft_tokens: most tokens per step; None takes the kind's default. Kept within what the
            drafter can do.

    Raises: SlipstreamError: ``no_drafter``, if the kind asked for is not there.
    """
    if choice == "off":
        return PLAIN
    if choice == "auto":
        proven = (found for found in drafters if found.proven)
        drafter = next((found for found in proven if found.kind in _MADE_FOR_A_TARGET), None)
        return _config(drafter, draft_tokens) if drafter else PLAIN
    drafter = next((found for found in drafters if found.kind == choice), None)
    if drafter is None:
        raise _no_drafter(DrafterKind(choice), drafters)
    return _config(drafter, draft_tokens)


def _config(drafter: Drafter, draft_tokens: int | None) -> SpecConfig:
    wanted = DRAFT_TOKENS[drafter.kind] if draft_tokens is None else max(1, draft_tokens)
    return SpecConfig(
        kind=drafter.kind,
        drafter=drafter.path,
        draft_tokens=min(wanted, drafter.longest_draft or wanted),
        p_min=P_MIN.get(drafter.kind, 0.0),
    )


def _no_drafter(kind: DrafterKind, drafters: Sequence[Drafter]) -> SlipstreamError:
    there = ", ".join(dict.fromkeys(found.kind.value for found in drafters))
    names = {
        DrafterKind.MTP: "MTP head",
        DrafterKind.DFLASH: "DFlash drafter",
        DrafterKind.DSPARK: "DSpark drafter",
        DrafterKind.EAGLE3: "EAGLE-3 drafter",
        DrafterKind.DRAFT: "small draft model",
        DrafterKind.SELF: "lower quantization of the same model",
        DrafterKind.NGRAM: "n-gram drafter",
    }
    return SlipstreamError(
        "no_drafter",
        f"There is no {names[kind]} that fits this model.",
        facts={"kind": kind.value, "available": there},
        action="Put its file beside the model, or choose another kind of speculation.",
    )
