"""The one thing to do about a load that failed, as a request that can be made at once."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from slipstream.drafters.kinds import SpecChoice
from slipstream.engine.model_records import settings_of
from slipstream.engine.model_settings import ModelSettings
from slipstream.engine.requests import LoadRequest
from slipstream.errors import SlipstreamError
from slipstream.hub.folders import files_in, is_model
from slipstream.weights.names import model_stem, quantization, quantization_at
from slipstream.weights.shards import missing_shards, size_of
from slipstream.words import count

SMALLEST_CONTEXT = 512
"""Tokens; less is not offered."""

_NO_MEMORY = frozenset({"not_enough_memory", "model_too_large"})
_OF_FILE = frozenset({"damaged_file", "missing_shard"})
_OF_SETTINGS = frozenset(
    {
        *("engine_cannot", "engine_crashed", "engine_exited"),
        *("extra_refused", "setting_conflict", "template_unfit"),
    }
)
"""Failures that a model's own settings may have caused."""
_OF_DRAFTER = frozenset({"drafter_damaged", "drafter_idle", "drafter_mismatch", "no_drafter"})


class RemedyKind(StrEnum):
    """What is done."""

    CHOOSE_DRAFTER = "choose_drafter"
    WITHOUT_DRAFTER = "without_drafter"
    DEFAULT_SETTINGS = "default_settings"
    OTHER_QUANTIZATION = "other_quantization"
    SMALLER_CONTEXT = "smaller_context"
    ANYWAY = "anyway"
    TRY_AGAIN = "try_again"


@dataclass(frozen=True)
class Remedy:
    """One way out.

    Attributes:
        kind: what it is.
        label: words for a button.
        request: what to load then.
    """

    kind: RemedyKind
    label: str
    request: LoadRequest


def remedy_for(failure: SlipstreamError, request: LoadRequest) -> Remedy | None:
    """The best that can be done about a load that failed; looks at the disk.

    Args:
        failure: why it failed.
        request: what was asked for.

    Returns: None, where nothing that is here helps.
    """
    return next(_remedies(failure, request), None)


def _remedies(failure: SlipstreamError, request: LoadRequest) -> Iterator[Remedy]:
    """The ways out, the best first."""
    code = failure.code
    if code in _OF_DRAFTER:
        yield _without_drafter(request)
    yield from _default_settings(failure, request)
    if code in _NO_MEMORY or code in _OF_FILE:
        yield from _other_quantization(failure, request)
    if code == "not_enough_memory":
        yield from _smaller_context(failure, request)
        if "held_by" in failure.facts:
            yield Remedy(RemedyKind.TRY_AGAIN, "Try again", request)
    if code in _NO_MEMORY and _refused_by_us(failure) and not request.anyway:
        yield Remedy(RemedyKind.ANYWAY, "Load anyway", replace(request, anyway=True))


def _without_drafter(request: LoadRequest) -> Remedy:
    if request.spec != "auto":
        automatic = replace(request, spec="auto", draft_tokens=None)
        return Remedy(RemedyKind.CHOOSE_DRAFTER, "Choose automatically", automatic)
    plain = replace(request, spec="off", draft_tokens=None)
    return Remedy(RemedyKind.WITHOUT_DRAFTER, "Load without a drafter", plain)


def _default_settings(failure: SlipstreamError, request: LoadRequest) -> Iterator[Remedy]:
    """The model's own settings are kept, and left aside this time."""
    own = settings_of(request.model) if request.own_settings else ModelSettings()
    too_much_by_hand = failure.code == "not_enough_memory" and own.gpu_layers is not None
    if too_much_by_hand or (failure.code in _OF_SETTINGS and own.changes_launch):
        bare = replace(request, own_settings=False)
        yield Remedy(RemedyKind.DEFAULT_SETTINGS, "Load with default settings", bare)


def _other_quantization(failure: SlipstreamError, request: LoadRequest) -> Iterator[Remedy]:
    """The largest file of the same model that is smaller, or of one that is broken any other."""
    others = sorted(_quantizations_beside(request.model), key=size_of, reverse=True)
    if failure.code in _NO_MEMORY:
        most = size_of(request.model) - 1
        total = failure.facts.get("total")
        if isinstance(total, int) and total > 0:
            most = min(most, total)
        others = [one for one in others if size_of(one) <= most]
    for one in others[:1]:
        label = quantization_at(one) or one.name
        words = f"Load {label} instead"
        # A drafter and its number of tokens were chosen for the other file.
        spec: SpecChoice = "off" if request.spec == "off" else "auto"
        instead = LoadRequest(one, spec, context=request.context)
        yield Remedy(RemedyKind.OTHER_QUANTIZATION, words, instead)


def _quantizations_beside(model: Path) -> Iterator[Path]:
    """Whole files of the same model, in its folder and in those of its other quantizations."""
    in_own_folder = quantization(model.parent.name) is not None
    home, deepest = (model.parent.parent, 1) if in_own_folder else (model.parent, 0)
    stem = model_stem(model.name)
    for one in files_in(home, deepest):
        named_alike = one != model and model_stem(one.name) == stem
        if named_alike and not missing_shards(one) and is_model(one):
            yield one


def _smaller_context(failure: SlipstreamError, request: LoadRequest) -> Iterator[Remedy]:
    """Half of what was tried last."""
    tried = failure.facts.get("context")
    if isinstance(tried, int) and tried // 2 >= SMALLEST_CONTEXT:
        less = tried // 2
        words = f"Load with {count(less)} tokens of context"
        yield Remedy(RemedyKind.SMALLER_CONTEXT, words, replace(request, context=less))


def _refused_by_us(failure: SlipstreamError) -> bool:
    """Whether no engine was started: nothing ended with a status."""
    return "status" not in failure.facts
