"""The engine's command line for one way to speculate, built from what this engine offers."""

from collections.abc import Collection

from slipstream.drafters.kinds import DrafterKind, SpecConfig
from slipstream.errors import SlipstreamError
from slipstream.words import SPECULATION

NGRAM_TYPE = "ngram-simple"
"""Looks only into the text at hand and needs no memory. On a repeated passage of 50 tokens it
had 130 of 135 draft tokens accepted; ``ngram-mod`` as it comes, which drafts 48 tokens or none,
77 of 163, and it remembers earlier requests, so that measurements flatter it."""
NGRAM_LENGTH = 6
"""Tokens that must repeat before a draft; with fewer, the drafts of ordinary text are wrong."""

_TYPES = {
    DrafterKind.MTP: "draft-mtp",
    DrafterKind.DFLASH: "draft-dflash",
    DrafterKind.DSPARK: "draft-dspark",
    DrafterKind.EAGLE3: "draft-eagle3",
    DrafterKind.DRAFT: "draft-simple",
    DrafterKind.SELF: "draft-simple",
    DrafterKind.NGRAM: NGRAM_TYPE,
}
_SPEC_TYPE = ("--spec-type",)
_MODEL = ("--spec-draft-model", "--model-draft", "-md")
_N_MAX = ("--spec-draft-n-max", "--draft-max")
_P_MIN = ("--spec-draft-p-min", "--draft-p-min")
_NGRAM_N = ("--spec-ngram-simple-size-n",)
_NGRAM_M = ("--spec-ngram-simple-size-m",)


def spec_flags(
    spec: SpecConfig, offered_flags: frozenset[str], offered_types: tuple[str, ...]
) -> list[str]:
    """Arguments that make an engine speculate like ``spec``; every value is explicit.

    Args:
        spec: how to speculate.
        offered_flags: every spelling of every flag in the engine's help.
        offered_types: the values its ``--spec-type`` takes.

    Raises: SlipstreamError: ``engine_cannot``.
    """
    if spec.kind is None:
        return ["--spec-type", "none"] if "--spec-type" in offered_flags else []
    types = [_TYPES[spec.kind]]
    if spec.with_ngram and NGRAM_TYPE not in types:
        types.append(NGRAM_TYPE)
    for name in types:
        if name not in offered_types:
            raise _cannot(spec.kind, name)
    values: list[tuple[tuple[str, ...], str]] = [(_SPEC_TYPE, ",".join(types))]
    if spec.drafter is not None:
        values.append((_MODEL, str(spec.drafter)))
    values += [(_N_MAX, str(spec.draft_tokens)), (_P_MIN, str(spec.p_min))]
    if NGRAM_TYPE in types:
        values += [(_NGRAM_N, str(NGRAM_LENGTH)), (_NGRAM_M, str(spec.draft_tokens))]
    arguments: list[str] = []
    for names, value in values:
        offered = next((name for name in names if name in offered_flags), None)
        if offered is None:
            raise _cannot(spec.kind, names[0])
        arguments += [offered, value]
    return arguments


def can_run(kind: DrafterKind, offered_types: Collection[str]) -> bool:
    """Whether an engine whose ``--spec-type`` takes these values knows this kind of drafter."""
    return _TYPES[kind] in offered_types


def _cannot(kind: DrafterKind, option: str) -> SlipstreamError:
    return SlipstreamError(
        "engine_cannot",
        f"This engine cannot speculate in this way: {SPECULATION[kind].name}.",
        facts={"option": option},
        action="Choose another kind of speculation, or a newer engine.",
    )
