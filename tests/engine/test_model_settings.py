"""One record per model: what the user chose for it, declared once and kept by what it is called."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slipstream import paths
from slipstream.drafters.kinds import DrafterKind
from slipstream.engine.model_records import MOST, all_settings, save_settings, settings_of
from slipstream.engine.model_settings import PRESETS, ModelSettings
from slipstream.engine.requests import ReplyOptions
from slipstream.errors import SlipstreamError
from slipstream.settings import Kind, by_key, declared

MODEL = Path("/models/a.gguf")
KEYS = by_key(ModelSettings)
CHOSEN = ModelSettings(
    context=8192,
    kv_type="q8_0",
    gpu_layers=0,
    spec=DrafterKind.MTP,
    draft_tokens=5,
    reasoning="off",
    use_projector=False,
    chat_template="{{ messages }}\n",
    preset="creative",
    temperature=0.0,
    seed=0,
    extra="--no-warmup",
)


def test_every_value_is_declared_with_words_for_people() -> None:
    for setting in declared(ModelSettings):
        assert setting.check(setting.default) == setting.default
        assert setting.label
        assert setting.help.endswith(".")
        assert setting.words(setting.default) not in ("not set", "None")
        assert setting.meanings.keys() <= setting.choices.keys() | {"auto"}
        assert (setting.kind is Kind.CHOICE) == bool(setting.choices)
        bounded = setting.kind in (Kind.NUMBER, Kind.DECIMAL, Kind.TEXT)
        assert bounded == (setting.minimum < setting.maximum)


def test_a_model_nobody_chose_anything_for_leaves_everything_open(own_home: Path) -> None:
    assert settings_of(MODEL) == ModelSettings()
    assert settings_of(MODEL).sampling == ReplyOptions()
    assert not paths.models_file().exists()


def test_what_was_chosen_comes_back_with_its_types(own_home: Path) -> None:
    save_settings(MODEL, CHOSEN)
    known = all_settings()
    assert known(MODEL) == CHOSEN
    assert isinstance(known(MODEL).spec, DrafterKind)
    assert known(Path("/models/b.gguf")) == ModelSettings()
    save_settings(MODEL, ModelSettings())
    assert json.loads(paths.models_file().read_text()) == {}


def test_a_model_of_the_cache_keeps_its_settings_when_its_repository_is_updated(
    own_home: Path,
) -> None:
    repo = Path("/hub/models--me--m-GGUF/snapshots")
    save_settings(repo / "aaaa" / "m-Q4_K_M.gguf", CHOSEN)
    assert settings_of(repo / "bbbb" / "m-Q4_K_M.gguf") == CHOSEN


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"context": 100}, "Context must be a whole number from 512 to 1048576."),
        ({"temperature": 9.0}, "Temperature must be a number from 0 to 5."),
        ({"spec": "magic"}, "Speculation must be one of off, mtp,"),
        ({"chat_template": "x" * 30_001}, "Chat template must be text of at most 30,000 char"),
        ({"extra": "a\0b"}, "Extra arguments must be text"),
    ],
)
def test_what_is_not_allowed_is_refused_and_nothing_is_saved(
    own_home: Path, wrong: dict[str, object], told: str
) -> None:
    with pytest.raises(SlipstreamError) as raised:
        save_settings(MODEL, replace(ModelSettings(), **wrong))  # type: ignore[arg-type]
    assert raised.value.code == "setting_not_allowed"
    assert raised.value.message.startswith(told)
    assert settings_of(MODEL) == ModelSettings()


def test_what_is_wrong_in_the_file_counts_as_not_chosen(own_home: Path) -> None:
    save_settings(MODEL, CHOSEN)
    file = paths.models_file()
    (key,) = json.loads(file.read_text())
    damaged = {"context": "many", "top_p": 2, "seed": True, "threads": 2, "spec": "magic"}
    file.write_text(json.dumps({key: damaged}))
    assert settings_of(MODEL) == ModelSettings(threads=2)
    file.write_text('{"half')
    assert settings_of(MODEL) == ModelSettings()


def test_what_a_newer_version_keeps_there_survives(own_home: Path) -> None:
    save_settings(MODEL, CHOSEN)
    file = paths.models_file()
    (key,) = json.loads(file.read_text())
    file.write_text(json.dumps({key: {"voice": "alto"}}))
    save_settings(MODEL, ModelSettings(threads=3))
    assert json.loads(file.read_text()) == {key: {"voice": "alto", "threads": 3}}


def test_only_so_many_models_are_remembered(own_home: Path) -> None:
    file = paths.models_file()
    file.write_text(json.dumps({f"/m/{n}.gguf": {"threads": 1} for n in range(MOST)}))
    save_settings(MODEL, CHOSEN)
    known = json.loads(file.read_text())
    assert len(known) == MOST
    assert "/m/0.gguf" not in known


def test_values_go_before_their_preset() -> None:
    creative = PRESETS["creative"].values
    assert ModelSettings(preset="creative").sampling == creative
    sampling = ModelSettings(preset="creative", temperature=0.0, seed=7).sampling
    assert sampling == replace(creative, temperature=0.0, seed=7)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_has_values_that_can_be_set(preset: str) -> None:
    values = PRESETS[preset].values
    for key, setting in by_key(ModelSettings).items():
        value = getattr(values, key, None)
        assert value is None or setting.check(value) == value


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    entry=json_values | st.dictionaries(st.sampled_from(list(by_key(ModelSettings))), json_values)
)
def test_anything_in_the_file_is_read_as_settings_that_can_be_saved(
    own_home: Path, entry: object
) -> None:
    paths.models_file().write_text(json.dumps({"/models/a.gguf": entry}))
    known = settings_of(MODEL)
    save_settings(MODEL, known)
    assert settings_of(MODEL) == known
