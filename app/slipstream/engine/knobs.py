"""From a model's own settings to the knobs of its page, and back."""

from dataclasses import replace
from pathlib import Path

from slipstream import settings
from slipstream.drafters.kinds import SpecChoice, SpecConfig, spec_choice
from slipstream.engine.model_records import keep_drafter, save_settings, settings_of
from slipstream.engine.model_settings import ModelSettings
from slipstream.engine.picture import AUTO, Knobs


def knobs_of(path: Path | None, usual_context: int) -> Knobs:
    """How a model is shown at first: as its own settings say.

    Args:
        path: the first of its files; None for a model that is not on this computer.
        usual_context: tokens that the app's settings say.
    """
    own = settings_of(path) if path else ModelSettings()
    return Knobs(
        context=own.context or usual_context,
        kv_type=own.kv_type or Knobs.kv_type,
        drafter=own.spec or AUTO,
        projector=own.use_projector,
        gpu_layers=own.gpu_layers,
    )


def keep_knobs(
    path: Path,
    knobs: Knobs,
    spec: SpecConfig | None,
    usual_context: int,
    first: Knobs | None = None,
) -> None:
    """What was turned on the page of a model counts wherever it is loaded from now on.

    Args:
        path: the first of the model's files, where it is or will be.
        knobs: as they stand.
        spec: how the model was planned to speculate with them; None as long as that is not known.
            A quantization without the drafter that was chosen is run without any.
        usual_context: tokens that the app's settings say; they are not written down.
        first: as they stood before anybody turned them. Of a model with settings of its own only
            what was turned is changed: the page may have opened with those of another quantization.

    Raises: SlipstreamError, if that cannot be kept.
    """
    own = settings_of(path)
    if first is not None and own != ModelSettings():
        turned = {name: value for name, value in vars(knobs).items() if value != vars(first)[name]}
        knobs = replace(knobs_of(path, usual_context), **turned)
    usual = own.context is None and knobs.context == usual_context
    wanted = replace(
        own,
        context=None if usual else knobs.context,
        kv_type="" if knobs.kv_type == Knobs.kv_type else knobs.kv_type,
        use_projector=knobs.projector,
        gpu_layers=knobs.gpu_layers,
        spec=_spec_of(knobs, spec, own),
    )
    if wanted.spec != own.spec:
        wanted = replace(wanted, draft_tokens=None)  # they were chosen for another drafter
    if wanted != own:
        save_settings(path, wanted)
    by_file = knobs.drafter != AUTO and spec_choice(knobs.drafter) == "auto"
    if spec is not None and by_file and not _is_to_come(spec):
        keep_drafter(path, spec)


def _is_to_come(spec: SpecConfig) -> bool:
    """Whether the drafter's file is not here yet: the names of a repository lead nowhere here."""
    file = spec.drafter
    return file is not None and not (file.is_absolute() and file.is_file())


def _spec_of(knobs: Knobs, spec: SpecConfig | None, own: ModelSettings) -> SpecChoice | None:
    """What the settings are to say; None leaves it to the app's. A file that is still to come would
    keep the model from loading until then; automatic takes it as soon as it is there."""
    named = spec_choice(knobs.drafter)
    if named != "auto":
        return named
    if knobs.drafter == AUTO:
        return None
    if spec is None:
        return own.spec
    if _is_to_come(spec) and settings.load().settings.speculation == AUTO:
        return None
    return spec.kind or "off"
