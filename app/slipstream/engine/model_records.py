"""What the user chose for each model: one file for all, a record for each."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from slipstream import paths
from slipstream.drafters.attached import attached, choose_drafter, identity
from slipstream.drafters.entries import Entries, change_entries, read_entries
from slipstream.drafters.kinds import DrafterKind, SpecConfig
from slipstream.engine.model_settings import ModelSettings
from slipstream.errors import SlipstreamError
from slipstream.settings import by_key

MOST = 1000
"""Models whose settings are kept, those changed last."""


def settings_of(path: Path) -> ModelSettings:
    """What the user chose for a model; what is wrong in the file counts as not chosen.

    Args:
        path: the first of its files.
    """
    return all_settings()(path)


def all_settings() -> Callable[[Path], ModelSettings]:
    """The same for many models, without reading the file for each."""
    entries = read_entries(paths.models_file)
    return lambda path: _decoded(entries.get(identity(path)))


def save_settings(path: Path, settings: ModelSettings) -> None:
    """Remember what the user chose for a model.

    Args:
        path: the first of its files.

    Raises: SlipstreamError ``setting_not_allowed``, ``not_saved``, ``home_not_writable``.
    """
    chosen = _encoded(settings)
    key = identity(path)

    def changed(entries: Entries) -> Entries:
        known = entries.pop(key, None)
        of_newer_versions = known if isinstance(known, dict) else {}
        kept = {name: of_newer_versions[name] for name in of_newer_versions.keys() - _declared()}
        entry = {**kept, **chosen}
        return {**entries, key: entry} if entry else entries

    change_entries(paths.models_file, changed, MOST)


def keep_way(path: Path, spec: SpecConfig) -> None:
    """A model speculates so from now on, wherever it is loaded.

    Args:
        path: the first of its files.
        spec: how, with the drafter's file on this computer.

    Raises: SlipstreamError ``not_saved``, ``home_not_writable``.
    """
    own = settings_of(path)
    tokens = spec.draft_tokens if spec.kind else own.draft_tokens
    save_settings(path, replace(own, spec=spec.kind or "off", draft_tokens=tokens))
    keep_drafter(path, spec)


def keep_drafter(path: Path, spec: SpecConfig) -> None:
    """Remember the file of a drafter that was chosen for a model, or that it was the head inside.

    Raises: SlipstreamError ``not_saved``, ``home_not_writable``.
    """
    if spec.drafter:
        if spec.drafter.is_file():
            choose_drafter(path, spec.drafter)
    elif spec.kind is DrafterKind.MTP and isinstance(attached(path).choice, Path):
        choose_drafter(path, "automatic")  # the head inside comes before any file


def _declared() -> frozenset[str]:
    return frozenset(by_key(ModelSettings))


def _encoded(settings: ModelSettings) -> dict[str, object]:
    """What differs from the defaults. Raises: SlipstreamError ``setting_not_allowed``."""
    chosen: dict[str, object] = {}
    for key, setting in by_key(ModelSettings).items():
        value = getattr(settings, key)
        try:
            checked = setting.check(value)
        except ValueError as error:
            raise SlipstreamError(
                "setting_not_allowed",
                f"{setting.label} must be {setting.expected}.",
                facts={"setting": key, "value": str(value)[:200]},
                action="Choose another value.",
            ) from error
        if checked != setting.default:
            chosen[key] = checked
    return chosen


def _decoded(entry: object) -> ModelSettings:
    if not isinstance(entry, dict):
        return ModelSettings()
    good: dict[str, Any] = {}
    for key, setting in by_key(ModelSettings).items():
        try:
            good[key] = setting.check(entry.get(key, setting.default))
        except ValueError:
            good[key] = setting.default
    spec = good["spec"]
    if spec not in (None, "off"):
        good["spec"] = DrafterKind(spec)
    return ModelSettings(**good)
