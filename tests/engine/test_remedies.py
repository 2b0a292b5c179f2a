"""A load that failed comes with the one thing to do about it."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from bad_engines import Posing
from gguf_files import DEMO_DFLASH, DEMO_SMALL
from slipstream.cancel import CancelToken
from slipstream.drafters.kinds import DrafterKind
from slipstream.engine import held, launch
from slipstream.engine.held import name_holder
from slipstream.engine.model_records import save_settings
from slipstream.engine.model_settings import ModelSettings
from slipstream.engine.remedies import Remedy, RemedyKind, remedy_for
from slipstream.engine.requests import LoadRequest
from slipstream.engine.session import Session
from slipstream.engine.spec import Choice, EngineSpec
from slipstream.errors import SlipstreamError
from slipstream.machine.devices import Device, Holder
from slipstream.machine.drivers import Drivers
from slipstream.machine.memory import Memory

OUT_OF_MEMORY = (
    "E alloc_tensor_range: failed to allocate CUDA0 buffer of size 6144000000\n"
    "E srv    load_model: failed to load model"
)


@pytest.fixture
def model(tmp_path: Path, demo: Path) -> Path:
    folder = tmp_path / "models"
    folder.mkdir()
    return Path(shutil.copy(demo, folder / "My-Own-3M-Q8_0.gguf"))


def smaller(model: Path) -> Path:
    """A smaller quantization beside a model, and things that are none."""
    shutil.copy(DEMO_DFLASH, model.with_name("dflash-My-Own-3M-Q4_0.gguf"))
    shutil.copy(DEMO_SMALL, model.with_name("Another-3M-Q6_K.gguf"))
    return Path(shutil.copy(DEMO_SMALL, model.with_name("My-Own-3M-Q4_K_M.gguf")))


def fail(engine: EngineSpec, request: LoadRequest) -> tuple[SlipstreamError, Remedy | None]:
    """Load for real, and look for help."""
    session = Session(lambda: Choice(engine, threads=1))
    try:
        with pytest.raises(SlipstreamError) as raised:
            list(session.load(request, CancelToken()))
    finally:
        session.stop()
    return raised.value, remedy_for(raised.value, request)


def loads(engine: EngineSpec, remedy: Remedy | None) -> bool:
    session = Session(lambda: Choice(engine, threads=1))
    assert remedy
    try:
        list(session.load(remedy.request, CancelToken()))
        return session.loaded is not None
    finally:
        session.stop()


def test_a_model_that_is_too_large_is_replaced_by_a_smaller_quantization_that_is_here(
    embedded: EngineSpec, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = smaller(model)
    monkeypatch.setattr(launch, "read_memory", lambda: Memory(16 << 20, 8 << 20))
    failure, remedy = fail(embedded, LoadRequest(model, DrafterKind.MTP, 5, context=512))
    assert failure.code == "model_too_large"
    assert remedy == Remedy(
        RemedyKind.OTHER_QUANTIZATION,
        "Load Q4_K_M instead",
        LoadRequest(other, "auto", context=512),
    )
    monkeypatch.setattr(launch, "read_memory", lambda: Memory(64 << 20, 8 << 20))
    assert loads(embedded, remedy)


def test_quantizations_in_folders_of_their_own_are_found(model: Path) -> None:
    inside = model.parent / "Q8_0" / model.name
    other = model.parent / "Q4_K_M" / "My-Own-3M-Q4_K_M.gguf"
    for folder in (inside.parent, other.parent):
        folder.mkdir()
    shutil.move(model, inside)
    shutil.copy(DEMO_SMALL, other)
    failure = SlipstreamError("model_too_large", "Too large.", action="Do something.")
    remedy = remedy_for(failure, LoadRequest(inside))
    assert remedy
    assert remedy.request.model == other


def test_without_a_smaller_one_it_can_be_loaded_anyway(
    embedded: EngineSpec, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "read_memory", lambda: Memory(8 << 20, 8 << 20))
    failure, remedy = fail(embedded, LoadRequest(model, context=512))
    assert failure.code == "model_too_large"
    assert remedy
    assert (remedy.kind, remedy.label) == (RemedyKind.ANYWAY, "Load anyway")
    assert loads(embedded, remedy)


def test_an_engine_that_runs_out_of_memory_at_every_rung_is_given_less_context(
    posing_as: Posing, model: Path
) -> None:
    engine = posing_as(f"print({OUT_OF_MEMORY!r}, flush=True); sys.exit(1)")
    failure, remedy = fail(engine, LoadRequest(model, context=4096))
    assert failure.code == "not_enough_memory"
    assert failure.facts["context"] == 4096
    assert remedy
    assert remedy.kind is RemedyKind.SMALLER_CONTEXT
    assert remedy.label == "Load with 2,048 tokens of context"
    assert remedy.request == LoadRequest(model, context=2048)
    failure.facts["context"] = 512
    failure.facts.pop("held_by", None)
    assert remedy_for(failure, LoadRequest(model)) is None
    failure.facts["held_by"] = "game"
    again = remedy_for(failure, LoadRequest(model))
    assert again
    assert (again.kind, again.request) == (RemedyKind.TRY_AGAIN, LoadRequest(model))


def test_who_holds_the_memory_of_the_card_is_named(
    posing_as: Posing, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = Holder("game", 2_000_001, 9_000_000_000)
    card = Device("0", "Card", "NVIDIA", 24 << 30, 1 << 30, unified=False, holders=(game,))
    monkeypatch.setattr(held, "read_drivers", lambda: Drivers((card,)))
    engine = posing_as(f"print({OUT_OF_MEMORY!r}, flush=True); sys.exit(1)")
    failure, _ = fail(engine, LoadRequest(model, context=4096))
    assert failure.facts["held_by"] == "game"
    assert failure.action == (
        "Close game, which holds 9.0 GB, or choose a smaller quantization or a shorter context."
    )


def test_nobody_is_named_where_memory_is_not_what_is_missing() -> None:
    failure = SlipstreamError("damaged_file", "x", facts={"status": 1}, action="Do this.")
    name_holder(failure)
    assert failure.facts == {"status": 1}


def test_a_kind_of_drafter_that_is_not_there_is_chosen_automatically(
    embedded: EngineSpec, model: Path
) -> None:
    failure, remedy = fail(embedded, LoadRequest(model, DrafterKind.EAGLE3, 4))
    assert failure.code == "no_drafter"
    assert remedy
    assert (remedy.kind, remedy.label) == (RemedyKind.CHOOSE_DRAFTER, "Choose automatically")
    assert remedy.request == LoadRequest(model)
    assert loads(embedded, remedy)


def test_a_kind_in_the_models_own_settings_that_is_not_there_is_left_out(
    embedded: EngineSpec, model: Path
) -> None:
    save_settings(model, ModelSettings(spec=DrafterKind.EAGLE3))
    failure, remedy = fail(embedded, LoadRequest(model))
    assert failure.code == "no_drafter"
    assert remedy
    assert (remedy.kind, remedy.request.spec) == (RemedyKind.WITHOUT_DRAFTER, "off")
    assert loads(embedded, remedy)


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        (ModelSettings(chat_template="{{ nonsense"), "template_unfit"),
        (ModelSettings(extra="--load-mode sideways"), "extra_refused"),
        (ModelSettings(extra="--port 80"), "extra_refused"),
    ],
)
def test_settings_that_break_a_model_can_be_left_aside(
    embedded: EngineSpec, model: Path, settings: ModelSettings, code: str
) -> None:
    save_settings(model, settings)
    failure, remedy = fail(embedded, LoadRequest(model, "off", context=512))
    assert failure.code == code
    assert remedy
    assert (remedy.kind, remedy.label) == (
        RemedyKind.DEFAULT_SETTINGS,
        "Load with default settings",
    )
    assert loads(embedded, remedy)


def test_layers_that_were_chosen_by_hand_are_chosen_automatically(model: Path) -> None:
    failure = SlipstreamError("not_enough_memory", "x", facts={"status": 1}, action="Do this.")
    save_settings(model, ModelSettings(gpu_layers=99))
    remedy = remedy_for(failure, LoadRequest(model))
    assert remedy
    assert remedy.request == LoadRequest(model, own_settings=False)


def test_sampling_is_not_blamed_for_a_crash(model: Path) -> None:
    failure = SlipstreamError("engine_crashed", "x", facts={"status": 139}, action="Do this.")
    save_settings(model, ModelSettings(temperature=0.3))
    assert remedy_for(failure, LoadRequest(model)) is None
    save_settings(model, ModelSettings(flash_attention="on"))
    assert remedy_for(failure, LoadRequest(model))


def test_a_damaged_file_is_replaced_by_another_quantization(
    embedded: EngineSpec, model: Path, half_a_model: Path
) -> None:
    other = smaller(model)
    shutil.copy(half_a_model, model)
    failure, remedy = fail(embedded, LoadRequest(model))
    assert failure.code == "damaged_file"
    assert remedy
    assert remedy.request.model == other
    other.unlink()
    assert remedy_for(failure, LoadRequest(model)) is None


@pytest.mark.parametrize("code", ["unsupported_architecture", "not_found", "engine_crashed"])
def test_where_nothing_here_helps_nothing_is_offered(model: Path, code: str) -> None:
    failure = SlipstreamError(code, "It did not work.", action="Choose another model.")
    assert remedy_for(failure, LoadRequest(model)) is None
    assert remedy_for(failure, replace(LoadRequest(model), own_settings=False)) is None
