"""From a model's own settings to the knobs of its page, and back."""

from dataclasses import replace
from pathlib import Path

from slipstream.drafters.attached import Choice, attached
from slipstream.drafters.kinds import DrafterKind, SpecChoice, SpecConfig
from slipstream.engine.model_records import keep_drafter, save_settings, settings_of
from slipstream.engine.model_settings import ModelSettings
from slipstream.engine.picture import AUTO, OFF, Knobs

_WITHOUT_FILE = (DrafterKind.MTP, DrafterKind.NGRAM)
"""Kinds whose key is their own word."""


def knobs_of(path: Path | None, usual_context: int) -> Knobs:
    """How a model is shown at first: as its own settings say.

    Args:
        path: the first of its files; None for a model that is not on this computer.
        usual_context: tokens that the app's settings say.
    """
    own = settings_of(path) if path else ModelSettings()
    choice = attached(path).choice if path else "automatic"
    return Knobs(
        context=own.context or usual_context,
        kv_type=own.kv_type or Knobs.kv_type,
        drafter=_drafter_of(own, choice),
        projector=own.use_projector,
        gpu_layers=own.gpu_layers,
    )


def keep_knobs(path: Path, knobs: Knobs, spec: SpecConfig, usual_context: int) -> None:
    """What was turned on the page of a model counts wherever it is loaded from now on.

    Args:
        path: the first of the model's files, where it is or will be.
        knobs: as they stand.
        spec: how the model was planned to speculate with them.
        usual_context: tokens that the app's settings say; they are not written down.

    Raises: SlipstreamError, if that cannot be kept.
    """
    own, choice = settings_of(path), attached(path).choice
    usual = own.context is None and knobs.context == usual_context
    wanted = replace(
        own,
        context=None if usual else knobs.context,
        kv_type="" if knobs.kv_type == Knobs.kv_type else knobs.kv_type,
        use_projector=knobs.projector,
        gpu_layers=knobs.gpu_layers,
        spec=_spec_of(knobs, spec, own, choice),
    )
    if wanted != own:
        save_settings(path, wanted)
    if knobs.drafter not in (AUTO, OFF):
        keep_drafter(path, spec)


def _drafter_of(own: ModelSettings, choice: Choice) -> str:
    """The key of what the settings name; a file that was chosen is what automatic takes first."""
    if own.spec == "off":
        return OFF
    if own.spec == DrafterKind.MTP and isinstance(choice, Path):
        return AUTO
    return own.spec if own.spec in _WITHOUT_FILE else AUTO


def _spec_of(
    knobs: Knobs, spec: SpecConfig, own: ModelSettings, choice: Choice
) -> SpecChoice | None:
    """A way that the knobs cannot show stays as long as they are left at automatic; a quantization
    without the drafter that was chosen is run as it was shown, without any."""
    if knobs.drafter == OFF:
        return "off"
    if knobs.drafter == AUTO:
        return own.spec if _drafter_of(own, choice) == AUTO else None
    return spec.kind or "off"
