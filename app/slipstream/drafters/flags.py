"""The engine's command line for one way to speculate, built from what this engine offers."""

from slipstream.drafters.kinds import DrafterKind, SpecConfig
from slipstream.errors import SlipstreamError

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
        speaks = "--spec-type" in offered_flags and "none" in offered_types
        return ["--spec-type", "none"] if speaks else []
    types = [_TYPES[spec.kind]]
    if spec.with_ngram and NGRAM_TYPE not in types:
        types.append(NGRAM_TYPE)
    for kind in types:
        if kind not in offered_types:
            raise _cannot(kind)
    values: list[tuple[tuple[str, ...], str]] = [(_SPEC_TYPE, ",".join(types))]
    if spec.drafter is not None:
        values.append((_MODEL, str(spec.drafter)))
    values += [(_N_MAX, str(spec.draft_tokens)), (_P_MIN, str(spec.p_min))]
    if NGRAM_TYPE in types:
        values += [(_NGRAM_N, str(NGRAM_LENGTH)), (_NGRAM_M, str(spec.draft_tokens))]
    return [part for names, value in values for part in (_offered(names, offered_flags), value)]


def _offered(names: tuple[str, ...], offered_flags: frozenset[str]) -> str:
    for name in names:
        if name in offered_flags:
            return name
    raise _cannot(names[0])


def _cannot(what: str) -> SlipstreamError:
    return SlipstreamError(
        "engine_cannot",
        "This engine cannot speculate in the way that was asked for.",
        facts={"missing": what},
        action="Choose another kind of speculation, or a newer engine.",
    )
