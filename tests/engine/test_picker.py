"""The page of a model: every knob moves every bar, at once by formula and at rest by the engine."""

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from downloading import get
from gguf_files import DEMO, DEMO_DFLASH, DEMO_MTP, DEMO_SMALL, write_mtp, write_projector
from hub_server import HubFile, HubServer, Made, Repo, layouts
from hub_server.splitting import quantized
from local_stores import own_stores
from machines import GIB, apple, card, computer
from slipstream import paths, settings
from slipstream.cancel import Cancelled, CancelToken
from slipstream.drafters.attached import attached, choose_drafter
from slipstream.drafters.gains import Gain, Run, keep_gains
from slipstream.drafters.kinds import DrafterKind, SpecChoice, SpecConfig
from slipstream.drafters.verdicts import Verdict, record
from slipstream.engine.advice import (
    Desk,
    Question,
    Subject,
    _without,
    desk_for,
    look_at,
    look_further,
    look_up,
)
from slipstream.engine.computer import Survey, survey
from slipstream.engine.embedded_values import KV_TYPES
from slipstream.engine.knobs import keep_knobs, knobs_of
from slipstream.engine.launch import Launch, prepare, read_target
from slipstream.engine.model_records import save_settings, settings_of
from slipstream.engine.model_settings import ModelSettings
from slipstream.engine.picker import Picker
from slipstream.engine.picture import AUTO, OFF, DrafterOption, Knobs, Line, Picture
from slipstream.engine.requests import LoadRequest
from slipstream.engine.spec import Choice, EngineSpec
from slipstream.errors import SlipstreamError
from slipstream.hub.cache import hub_cache, snapshot_path
from slipstream.hub.downloads.orders import target_path
from slipstream.hub.downloads.settle import settle
from slipstream.hub.library.scan import scan
from slipstream.machine.memory import Memory, read_memory
from slipstream.planning.computer import Computer
from slipstream.planning.offer import Look
from slipstream.planning.parts import HOST
from slipstream.planning.placement import Fit
from slipstream.planning.quantizations import local_quantizations
from slipstream.words import Tone

NEVER = CancelToken()
NAME = layouts.NAME
KNOBS = Knobs(2048)
ROUNDING = 4 << 20
"""Bytes: the engine tells MiB, of each part of two answers."""
Page = Callable[..., Picker]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")


@pytest.fixture
def desk(embedded: EngineSpec) -> Desk:
    """The embedded engine on this computer."""
    here = survey([embedded])
    return Desk(Choice(embedded), here, here.computer(), here.devices)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    with HubServer() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        yield hub


@pytest.fixture
def page(hub: HubServer, desk: Desk) -> Page:
    """Open the page of the first of some repositories, as soon as it can be shown."""

    def page(*repos: Repo) -> Picker:
        hub.repos.update({repo.id: repo for repo in repos})
        subject = look_up(repos[0].id, Question(), desk, NEVER, look=Look.HEADER)
        return Picker(subject, desk)

    return page


def on_disk(desk: Desk, *files: Path) -> Picker:
    """The page of files on this computer."""
    return Picker(Subject(*local_quantizations(files, NEVER)), desk)


def imagined(desk: Desk, where: Computer) -> Desk:
    """Another computer."""
    return replace(desk, computer=where, devices=where.devices)


def option(picture: Picture, kind: DrafterKind) -> DrafterOption:
    """The only drafter of a kind."""
    (one,) = [each for each in picture.drafters if each.kind is kind]
    return one


def need(line: Line) -> int:
    return line.plan.placement.need.total


def labels(picture: Picture) -> list[str]:
    return [line.label for line in picture.lines]


# A model on this computer, at rest and in motion.


def further(picker: Picker) -> Picker:
    """The same with all that may draft, wherever it is."""
    return picker.widened(look_further(picker.subject, picker.desk, NEVER))


def test_the_demo_as_the_engine_lays_it_out(desk: Desk) -> None:
    picker = on_disk(desk, DEMO)
    picture = picker.picture(KNOBS, NEVER)
    (line,) = picture.lines
    assert picture.exact
    assert picture.recommended is line
    assert (line.here, line.download, line.bytes) == (True, 0, DEMO.stat().st_size)
    assert (line.verdict, line.tone) == ("Fits in main memory", Tone.GOOD)
    assert (line.label, line.bits, line.dynamic, line.row) == ("Q8_0", 8, False, None)
    assert picture.headline == "Q8_0 fits in main memory with 2k context and the MTP head."
    assert picture.reason == line.why
    assert (picture.trained_context, picture.layers, picture.projector) == (4096, 0, None)
    assert picture.name == "Slipstream-Demo-Deep-3M"
    assert picture.problems == ()


def test_a_sketch_asks_no_engine_and_then_lies_between_its_answers(desk: Desk) -> None:
    picker = on_disk(desk, DEMO)
    first = picker.sketch(Knobs(3072), NEVER)
    assert not first.exact
    assert first.lines[0].plan.method == "formula"
    assert not (paths.cache_folder() / "dryruns.json").exists()
    for context in (2048, 4096):
        exact = picker.picture(Knobs(context), NEVER)
        again = picker.sketch(Knobs(context), NEVER)
        assert [need(line) for line in again.lines] == [need(line) for line in exact.lines]
        assert not again.exact
    between = picker.sketch(Knobs(3072), NEVER)
    exact = picker.picture(Knobs(3072), NEVER)
    assert need(between.lines[0]) == pytest.approx(need(exact.lines[0]), abs=ROUNDING)


def test_what_was_learnt_makes_sketches_as_good_as_the_engine(desk: Desk) -> None:
    picker = on_disk(desk, DEMO)
    picker.learn(KNOBS, NEVER)
    asked = (paths.cache_folder() / "dryruns.json").read_bytes()
    sketch = picker.sketch(Knobs(3000), NEVER)
    assert (paths.cache_folder() / "dryruns.json").read_bytes() == asked
    exact = picker.picture(Knobs(3000), NEVER)
    assert need(sketch.lines[0]) == pytest.approx(need(exact.lines[0]), abs=ROUNDING)


def test_a_context_beyond_the_trained_one_is_cut(desk: Desk) -> None:
    picture = on_disk(desk, DEMO).sketch(Knobs(1_000_000), NEVER)
    assert picture.lines[0].plan.setup.context == 4096
    assert "with 4k context" in picture.headline


def test_every_type_of_the_cache_can_be_chosen(desk: Desk) -> None:
    picker = on_disk(desk, DEMO)
    contexts = {
        kind: picker.sketch(Knobs(4096, kind), NEVER).lines[0].plan.placement.need.context
        for kind in KV_TYPES
    }
    assert contexts["f32"] > contexts["f16"] > contexts["q8_0"] > contexts["q4_0"]


def test_layers_by_hand_on_another_computer(desk: Desk) -> None:
    where = imagined(desk, computer(16, 2))
    picker = on_disk(where, DEMO)
    auto = picker.sketch(KNOBS, NEVER)
    assert auto.lines[0].verdict == "Fits fully on your GPU"
    assert auto.layers == auto.lines[0].plan.layers
    by_hand = picker.sketch(replace(KNOBS, gpu_layers=2), NEVER)
    placement = by_hand.lines[0].plan.placement
    assert (placement.fit, placement.offload.layers) == (Fit.PARTIAL, {"CUDA0": 2})
    assert not picker.picture(KNOBS, NEVER).exact  # no engine here knows that card


def test_layers_by_hand_that_do_not_fit_are_not_blamed_on_the_model(desk: Desk) -> None:
    where = imagined(desk, computer(16, 0.002))
    picker = on_disk(where, DEMO)
    assert picker.sketch(KNOBS, NEVER).recommended is not None
    by_hand = picker.sketch(replace(KNOBS, gpu_layers=99), NEVER)
    assert by_hand.recommended is None
    layers = by_hand.lines[0].plan.layers
    assert by_hand.headline == (
        f"Q8_0 does not fit with {layers} of {layers} layers on the GPU. Left to automatic,"
        " Q8_0 fits in main memory with 2k context and the MTP head."
    )


def test_what_does_not_fit_is_said_in_the_headline(desk: Desk) -> None:
    picture = on_disk(imagined(desk, computer(0.001)), DEMO).sketch(KNOBS, NEVER)
    assert picture.recommended is None
    assert picture.headline.startswith("Q8_0 does not fit: it needs ")
    assert picture.lines[0].tone is Tone.BAD


def test_quantizations_of_one_folder_are_shown_by_bits(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores, folder = tmp_path / "stores", tmp_path / "models"
    stores.mkdir()
    folder.mkdir()
    own_stores(stores, monkeypatch)
    files = [Path(shutil.copy(DEMO_SMALL, folder))]
    for label in ("F16", "Q4_0"):
        files.append(folder / f"{NAME}-{label}.gguf")
        files[-1].write_bytes(quantized(DEMO_SMALL, label))
    picture = on_disk(desk, *files).sketch(KNOBS, NEVER)
    assert labels(picture) == ["Q4_0", "Q8_0", "F16"]
    assert [line.bits for line in picture.lines] == [4, 8, 16]
    assert option(picture, DrafterKind.MTP).title == "MTP head, inside every file"
    library = scan([folder], NEVER)
    (model,) = [one for one in library.models if one.quant == "Q8_0"]
    subject = look_at(model, library, NEVER)
    assert sorted(one.label for one in subject.quantizations) == ["F16", "Q4_0", "Q8_0"]
    assert subject.quantizations[0].label == "Q8_0"


def test_who_stops_it_is_obeyed(desk: Desk) -> None:
    cancel = CancelToken()
    cancel.cancel()
    picker = on_disk(desk, DEMO)
    with pytest.raises(Cancelled):
        picker.picture(KNOBS, cancel)
    with pytest.raises(Cancelled):
        picker.sketch(KNOBS, cancel)


def test_nothing_to_show(desk: Desk) -> None:
    with pytest.raises(SlipstreamError, match="no model"):
        Picker(Subject((), ()), desk)


# Drafters.


def test_each_drafter_has_a_key_a_title_and_what_it_adds(desk: Desk, tmp_path: Path) -> None:
    model, drafter = (Path(shutil.copy(file, tmp_path)) for file in (DEMO_SMALL, DEMO_DFLASH))
    picker = on_disk(desk, model)
    assert {one.memory for one in picker.sketch(KNOBS, NEVER).drafters} == {None}
    picture = picker.picture(KNOBS, NEVER)
    head, dflash, ngram = picture.drafters
    assert (head.title, head.bytes, head.proven) == ("MTP head, inside the file", 0, True)
    assert dflash.title == f"DFlash, {DEMO_DFLASH.name}"
    assert (dflash.bytes, dflash.repo) == (DEMO_DFLASH.stat().st_size, "")
    assert (ngram.title, ngram.bytes, ngram.key) == ("N-gram, needs no drafter", 0, "ngram")
    assert dflash.memory is not None
    assert dflash.memory > drafter.stat().st_size * 0.9
    for one in picture.drafters:
        assert one.fits
        chosen = picker.sketch(replace(KNOBS, drafter=one.key), NEVER).lines[0].plan
        assert chosen.setup.spec.kind is one.kind
        plain = picker.sketch(replace(KNOBS, drafter=OFF), NEVER).lines[0].plan
        assert plain.setup.spec.kind is None
        added = chosen.placement.need.total - plain.placement.need.total
        assert one.memory == pytest.approx(added, abs=1 << 20)
    weighed = option(picker.weigh(picture, NEVER), DrafterKind.DFLASH)
    exact = picker.picture(replace(KNOBS, drafter=dflash.key), NEVER).lines[0]
    plain_now = picker.picture(replace(KNOBS, drafter=OFF), NEVER).lines[0]
    assert weighed.memory == need(exact) - need(plain_now)


def test_what_a_drafter_adds_is_told_of_the_context_and_cache_that_are_shown(
    desk: Desk, tmp_path: Path
) -> None:
    model, _ = (Path(shutil.copy(file, tmp_path)) for file in (DEMO_SMALL, DEMO_DFLASH))
    picker = on_disk(desk, model)

    def added(knobs: Knobs, *, exact: bool) -> int | None:
        draw = picker.picture if exact else picker.sketch
        return option(draw(knobs, NEVER), DrafterKind.DFLASH).memory

    small, large = KNOBS, replace(KNOBS, context=4096)
    first = added(small, exact=True)
    assert added(small, exact=False) == first
    assert added(large, exact=False) is None
    assert added(replace(small, kv_type="q8_0"), exact=False) is None
    second = added(large, exact=True)
    assert first is not None
    assert second is not None
    assert second > first
    assert (added(small, exact=False), added(large, exact=False)) == (first, second)


def test_what_a_comparison_showed_is_told_instead_of_a_promise(desk: Desk, tmp_path: Path) -> None:
    model, drafter = (Path(shutil.copy(file, tmp_path)) for file in (DEMO_SMALL, DEMO_DFLASH))
    build = desk.choice.engine.build
    head, dflash = (
        Run(model, None, DrafterKind.MTP, build),
        Run(model, drafter, DrafterKind.DFLASH, build),
    )
    good = Gain(1.42, 1.3, 1.55, sure=True, draft_tokens=3, when=1_760_000_000.0)
    keep_gains([(head, good), (dflash, replace(good, speedup=0.6, low=0.5, high=0.7))])
    picture = on_disk(desk, model).sketch(KNOBS, NEVER)
    assert option(picture, DrafterKind.MTP).gain == good
    assert option(picture, DrafterKind.MTP).detail.endswith(
        "2025: 1.42 times as fast as without a drafter (between 1.30 and 1.55)."
    )
    assert "0.60 times as fast" in option(picture, DrafterKind.DFLASH).detail
    assert option(picture, DrafterKind.NGRAM).gain is None


def test_automatic_is_what_would_be_chosen_without_a_word(desk: Desk, tmp_path: Path) -> None:
    model = Path(shutil.copy(DEMO, tmp_path))
    picker = on_disk(desk, model)
    spec = picker.sketch(replace(KNOBS, drafter=AUTO), NEVER).lines[0].plan.setup.spec
    assert spec.kind is DrafterKind.MTP
    failed = Verdict(False, "It did not draft.", 0, 0, desk.choice.engine.build, 1.0)
    record(model, None, DrafterKind.MTP, failed)
    picture = picker.picture(KNOBS, NEVER)
    assert picture.lines[0].plan.setup.spec.kind is None
    assert option(picture, DrafterKind.MTP).detail.endswith("It did not draft.")


def test_a_drafter_that_goes_while_its_page_is_open_costs_only_itself(
    desk: Desk, tmp_path: Path
) -> None:
    model, drafter = (Path(shutil.copy(file, tmp_path)) for file in (DEMO_SMALL, DEMO_DFLASH))
    picker = on_disk(desk, model)
    drafter.unlink()
    picture = picker.picture(KNOBS, NEVER)
    assert option(picture, DrafterKind.DFLASH).memory is None
    assert option(picture, DrafterKind.MTP).memory
    with pytest.raises(SlipstreamError):
        picker.sketch(replace(KNOBS, drafter=option(picture, DrafterKind.DFLASH).key), NEVER)


def test_several_models_of_one_repository_have_a_recommendation_each(page: Page) -> None:
    repo = layouts.quantizations()
    repo.files.append(HubFile(DEMO.name, DEMO))
    picture = page(repo).sketch(KNOBS, NEVER)
    assert picture.name == repo.id
    assert {line.name for line in picture.lines} == {NAME, "Slipstream-Demo-Deep-3M"}
    assert picture.recommended
    assert picture.headline.startswith(f"{picture.recommended.label} fits in main memory")
    assert len([line for line in picture.lines if line.recommended]) == 2


def test_an_engine_that_cannot_run_a_kind_says_so(desk: Desk) -> None:
    engine = replace(desk.choice.engine, spec_types=("ngram-simple",))
    picture = on_disk(replace(desk, choice=Choice(engine)), DEMO).sketch(KNOBS, NEVER)
    head = option(picture, DrafterKind.MTP)
    assert not head.fits
    assert head.detail.startswith("The engine that is in use cannot run it.")
    assert option(picture, DrafterKind.NGRAM).fits
    assert picture.lines[0].plan.setup.spec.kind is None


# A repository on the Hub.


def test_a_repository_is_shown_after_one_header(page: Page, hub: HubServer) -> None:
    picker = page(layouts.quantizations())
    assert len(hub.asked("/resolve/")) == 1
    picture = picker.sketch(KNOBS, NEVER)
    assert len(hub.asked("/resolve/")) == 1
    assert labels(picture) == ["Q4_0", "Q8_0", "F16"]
    assert [one.kind for one in picture.drafters] == [DrafterKind.MTP, DrafterKind.NGRAM]
    for line in picture.lines:
        assert line.row
        assert line.bytes == line.download == line.row.files.bytes
        assert not line.here


def test_every_drafter_is_found_later(page: Page) -> None:
    picker = further(page(layouts.quantizations()))
    picture = picker.picture(KNOBS, NEVER)
    kinds = [one.kind for one in picture.drafters]
    assert kinds[0] is DrafterKind.MTP
    assert DrafterKind.DFLASH in kinds
    assert kinds[-1] is DrafterKind.NGRAM
    assert all(one.fits and one.memory is not None for one in picture.drafters)


def test_a_lower_quantization_drafts_for_those_that_have_one(page: Page) -> None:
    repo = layouts.quantizations()
    larger = [file for file in repo.files if "Q4_0" not in file.path]
    picture = further(page(replace(repo, files=larger))).sketch(KNOBS, NEVER)
    assert picture.recommended
    assert picture.recommended.label == "Q8_0"  # nothing is lower, so none is offered
    assert DrafterKind.SELF not in {one.kind for one in picture.drafters}
    picker = further(page(repo))
    key = f"self:{NAME}-Q4_0.gguf"
    chosen = picker.sketch(replace(KNOBS, drafter=key), NEVER)
    assert option(chosen, DrafterKind.SELF).title == "Lower quantization, Q4_0"
    by_label = {line.label: line for line in chosen.lines}
    kinds = {label: line.plan.setup.spec.kind for label, line in by_label.items()}
    assert kinds == {"Q4_0": None, "Q8_0": DrafterKind.SELF, "F16": DrafterKind.SELF}
    eight, four = by_label["Q8_0"], by_label["Q4_0"]
    assert eight.download == eight.bytes + four.bytes


def test_a_drafter_of_another_repository(page: Page) -> None:
    target, sister = layouts.sisters()
    picker = page(target, sister)
    assert picker.sketch(KNOBS, NEVER).lines[0].plan.setup.spec.kind is None
    picker = further(picker)
    picture = picker.sketch(KNOBS, NEVER)
    drafter, line = option(picture, DrafterKind.MTP), picture.lines[0]
    assert (drafter.repo, drafter.proven, drafter.fits) == (sister.id, True, True)
    assert line.plan.setup.spec.kind is DrafterKind.MTP
    assert line.download == line.bytes + drafter.bytes
    assert picture.headline.endswith("and its MTP drafter.")
    order = picker.order(line, KNOBS)
    assert order
    assert [item.repo for item in order.items] == [target.id, sister.id]
    assert order.pairing
    assert not order.pairing.chosen
    by_hand = replace(KNOBS, drafter=drafter.key)
    chosen = picker.order(picker.sketch(by_hand, NEVER).lines[0], by_hand)
    assert chosen
    assert chosen.pairing
    assert chosen.pairing.chosen
    plain = replace(KNOBS, drafter=OFF)
    without = picker.order(picker.sketch(plain, NEVER).lines[0], plain)
    assert without
    assert len(without.items) == 1


def test_what_does_not_fit_is_listed_with_the_reason(page: Page, tmp_path: Path) -> None:
    repo = layouts.sisters()[0]
    wrong = write_mtp(tmp_path / "mtp.gguf", width=64)
    repo.files.append(HubFile(f"mtp-{NAME}-Q8_0.gguf", wrong))
    picture = further(page(repo)).sketch(KNOBS, NEVER)
    bad = option(picture, DrafterKind.MTP)
    assert not bad.fits
    assert bad.detail
    assert bad.memory is None
    assert bad.bytes == wrong.stat().st_size


def test_a_projector_can_be_left_out(page: Page, tmp_path: Path) -> None:
    repo = layouts.quantizations()
    projector = write_projector(tmp_path / "mmproj-F16.gguf")
    repo.files.append(HubFile("mmproj-F16.gguf", projector))
    picker = page(repo)
    assert picker.sketch(KNOBS, NEVER).projector == projector.stat().st_size
    picker = further(picker)
    with_it = picker.sketch(KNOBS, NEVER).lines[0]
    blind = replace(KNOBS, projector=False)
    without = picker.sketch(blind, NEVER).lines[0]
    assert with_it.plan.placement.need.projector > 0
    assert without.plan.placement.need.projector == 0
    assert with_it.download - without.download == projector.stat().st_size
    orders = [picker.order(with_it, KNOBS), picker.order(without, blind)]
    assert [len(order.items[0].files) for order in orders if order] == [2, 1]


def test_what_is_here_comes_first_and_costs_nothing(page: Page) -> None:
    repo = layouts.quantizations()
    content = next(file.content for file in repo.files if "F16" in file.path)
    there = snapshot_path(hub_cache(), repo.id, repo.commit, f"{NAME}-F16.gguf")
    there.parent.mkdir(parents=True)
    assert isinstance(content, bytes)
    there.write_bytes(content)
    picture = page(repo).sketch(KNOBS, NEVER)
    assert labels(picture) == ["F16", "Q4_0", "Q8_0"]
    assert [line.here for line in picture.lines] == [True, False, False]
    assert picture.lines[0].download == 0


def downloaded(repo: Repo, *endings: str) -> list[Path]:
    """Files of a repository, as the cache holds them."""
    found = []
    for ending in endings:
        file = next(one for one in repo.files if one.path.endswith(ending))
        there = snapshot_path(hub_cache(), repo.id, repo.commit, file.path)
        there.parent.mkdir(parents=True, exist_ok=True)
        content = file.content
        assert not isinstance(content, Made)
        there.write_bytes(content if isinstance(content, bytes) else content.read_bytes())
        found.append(there)
    return found


def spec_of(line: Line) -> SpecConfig:
    assert line.spec is not None
    return line.spec


def line_of(picture: Picture, label: str) -> Line:
    return next(line for line in picture.lines if line.label == label)


def test_what_running_a_downloaded_pair_showed_counts_on_the_page_of_its_repository(
    page: Page, desk: Desk
) -> None:
    repo = layouts.quantizations()
    (target,) = downloaded(repo, "Q8_0.gguf")
    assert (
        spec_of(line_of(further(page(repo)).sketch(KNOBS, NEVER), "Q8_0")).kind is DrafterKind.MTP
    )
    bad = Verdict(False, "It was never right.", 50, 0, desk.choice.engine.build, time.time())
    record(target, None, DrafterKind.MTP, bad)
    picture = further(page(repo)).sketch(KNOBS, NEVER)
    assert spec_of(line_of(picture, "Q8_0")).kind is DrafterKind.DFLASH
    assert spec_of(line_of(picture, "Q4_0")).kind is DrafterKind.MTP  # that one was never run


def test_a_drafter_chosen_on_the_page_of_a_repository_is_remembered(page: Page) -> None:
    repo = layouts.quantizations()
    target, drafter = downloaded(repo, "Q8_0.gguf", f"dflash-{NAME}-Q8_0.gguf")
    picker = further(page(repo))
    dflash = option(picker.sketch(KNOBS, NEVER), DrafterKind.DFLASH)
    knobs = replace(KNOBS, drafter=dflash.key)
    line = line_of(picker.sketch(knobs, NEVER), "Q8_0")
    assert spec_of(line).drafter == drafter
    keep_knobs(target, knobs, line.spec, KNOBS.context)
    assert attached(target).choice == drafter
    again = further(page(repo)).sketch(knobs_of(target, KNOBS.context), NEVER)
    assert spec_of(line_of(again, "Q8_0")).drafter == drafter
    local = on_disk(picker.desk, target).sketch(knobs_of(target, KNOBS.context), NEVER)
    assert local.lines[0].spec == line_of(again, "Q8_0").spec


def test_a_quantization_with_settings_of_its_own_keeps_what_nobody_turned(
    desk: Desk, tmp_path: Path
) -> None:
    model = Path(shutil.copy(DEMO_SMALL, tmp_path))
    own = ModelSettings(context=2048, kv_type="q8_0", spec="off", draft_tokens=5)
    save_settings(model, own)
    first = Knobs(16_384)
    spec = on_disk(desk, model).sketch(first, NEVER).lines[0].spec
    keep_knobs(model, first, spec, 4096, first)
    assert settings_of(model) == own
    keep_knobs(model, replace(first, context=8192), spec, 4096, first)
    assert settings_of(model) == replace(own, context=8192)
    fresh = Path(shutil.copy(DEMO_SMALL, tmp_path / "other.gguf"))
    keep_knobs(fresh, first, spec, 4096, first)
    assert settings_of(fresh).context == 16_384


def test_a_name_in_a_repository_is_no_file_beside_which_the_app_was_started(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = layouts.quantizations()
    (target,) = downloaded(repo, "Q8_0.gguf")
    monkeypatch.chdir(tmp_path)
    shutil.copy(DEMO_DFLASH, tmp_path)
    picker = further(page(repo))
    dflash = option(picker.sketch(KNOBS, NEVER), DrafterKind.DFLASH)
    knobs = replace(KNOBS, drafter=dflash.key)
    keep_knobs(target, knobs, line_of(picker.sketch(knobs, NEVER), "Q8_0").spec, 4096)
    assert attached(target).choice == "automatic"


def test_draft_tokens_go_with_the_drafter_they_were_chosen_for(desk: Desk, tmp_path: Path) -> None:
    model = Path(shutil.copy(DEMO_SMALL, tmp_path))
    save_settings(model, ModelSettings(spec=DrafterKind.NGRAM, draft_tokens=48))
    first = knobs_of(model, 4096)
    knobs = replace(first, drafter="mtp:inside")
    spec = on_disk(desk, model).sketch(knobs, NEVER).lines[0].spec
    keep_knobs(model, knobs, spec, 4096, first)
    assert settings_of(model) == ModelSettings(spec=DrafterKind.MTP)


def test_a_chosen_file_and_the_head_inside_are_told_apart(desk: Desk, tmp_path: Path) -> None:
    model = Path(shutil.copy(DEMO_SMALL, tmp_path))
    sidecar = Path(shutil.copy(DEMO_MTP, tmp_path))
    picker = on_disk(desk, model)
    head, file = (one for one in picker.sketch(KNOBS, NEVER).drafters if one.kind == "mtp")
    for wanted, drafter in ((file, sidecar), (head, None), (file, sidecar)):
        knobs = replace(KNOBS, drafter=wanted.key)
        line = on_disk(desk, model).sketch(knobs, NEVER).lines[0]
        assert spec_of(line).drafter == drafter
        keep_knobs(model, knobs, line.spec, KNOBS.context)
        again = on_disk(desk, model).sketch(knobs_of(model, KNOBS.context), NEVER)
        assert again.lines[0].spec == line.spec
        keep_knobs(model, again.knobs, again.lines[0].spec, KNOBS.context)
        assert settings_of(model).spec == "mtp"


def test_a_quantization_without_the_chosen_drafter_is_kept_as_it_was_shown(
    desk: Desk, tmp_path: Path
) -> None:
    model = Path(shutil.copy(DEMO_SMALL, tmp_path))
    knobs = replace(KNOBS, drafter="dflash:of/another.gguf")
    line = on_disk(desk, model).sketch(knobs, NEVER).lines[0]
    assert spec_of(line).kind is None
    keep_knobs(model, knobs, line.spec, KNOBS.context)
    assert settings_of(model).spec == "off"


def test_the_drafter_in_use_is_named_by_its_key(desk: Desk, tmp_path: Path) -> None:
    model, _ = (Path(shutil.copy(file, tmp_path)) for file in (DEMO_SMALL, DEMO_DFLASH))
    picker = on_disk(desk, model)
    picture = picker.sketch(KNOBS, NEVER)
    assert picture.drafter == option(picture, DrafterKind.MTP).key
    dflash = option(picture, DrafterKind.DFLASH)
    assert picker.sketch(replace(KNOBS, drafter=dflash.key), NEVER).drafter == dflash.key
    assert picker.sketch(replace(KNOBS, drafter=OFF), NEVER).drafter == ""


def launched(model: Path, desk: Desk) -> Launch:
    """What loading a model would run."""
    request = LoadRequest(model)
    return prepare(request, read_target(request), desk.choice, desk.computer, NEVER)


@pytest.mark.parametrize("kind", ["mtp", "dflash", "ngram"])
def test_a_kind_that_the_settings_name_is_planned_as_it_is_launched(
    desk: Desk, tmp_path: Path, kind: str
) -> None:
    model, dflash = (Path(shutil.copy(file, tmp_path)) for file in (DEMO_SMALL, DEMO_DFLASH))
    own = ModelSettings(spec=DrafterKind(kind))
    save_settings(model, own)
    for chosen in ("automatic", dflash):
        choose_drafter(model, chosen)
        picture = on_disk(desk, model).sketch(knobs_of(model, KNOBS.context), NEVER)
        (line,) = picture.lines
        assert line.spec == launched(model, desk).config.spec
        assert picture.choice == option(picture, DrafterKind(kind)).key
        keep_knobs(model, picture.knobs, line.spec, KNOBS.context)
        assert settings_of(model) == own
        assert attached(model).choice == chosen


def test_a_kind_that_is_not_there_stays_in_the_settings(desk: Desk, tmp_path: Path) -> None:
    model = Path(shutil.copy(DEMO_SMALL, tmp_path))
    save_settings(model, ModelSettings(spec=DrafterKind.DFLASH))
    picture = on_disk(desk, model).sketch(knobs_of(model, KNOBS.context), NEVER)
    keep_knobs(model, picture.knobs, picture.lines[0].spec, KNOBS.context)
    assert settings_of(model).spec is DrafterKind.DFLASH


def test_automatic_means_what_the_settings_of_the_app_say(desk: Desk, tmp_path: Path) -> None:
    model, _ = (Path(shutil.copy(file, tmp_path)) for file in (DEMO_SMALL, DEMO_DFLASH))
    ways: tuple[SpecChoice, ...] = ("auto", "off", DrafterKind.DFLASH)
    for said in ways:
        there = replace(desk, choice=replace(desk.choice, spec=said))
        (line,) = on_disk(there, model).sketch(KNOBS, NEVER).lines
        assert line.spec == launched(model, there).config.spec


def test_what_was_chosen_is_kept_while_its_drafter_is_still_looked_for(page: Page) -> None:
    repo = layouts.quantizations()
    target, drafter = downloaded(repo, "Q8_0.gguf", f"dflash-{NAME}-Q8_0.gguf")
    first = page(repo)
    picker = further(first)
    knobs = replace(KNOBS, drafter=option(picker.sketch(KNOBS, NEVER), DrafterKind.DFLASH).key)
    spec = line_of(picker.sketch(knobs, NEVER), "Q8_0").spec
    keep_knobs(target, knobs, spec, KNOBS.context)
    early = line_of(first.sketch(knobs, NEVER), "Q8_0")
    assert early.plan.setup.spec.kind is None
    keep_knobs(target, knobs, early.spec, KNOBS.context)
    assert settings_of(target).spec is DrafterKind.DFLASH
    assert attached(target).choice == drafter


@pytest.mark.parametrize("kind", [DrafterKind.DFLASH, DrafterKind.MTP])
def test_a_drafter_that_is_still_to_be_downloaded_is_used_as_soon_as_it_is_there(
    page: Page, desk: Desk, hub: HubServer, kind: DrafterKind
) -> None:
    repo = layouts.root_mtp()
    repo.files.append(HubFile(DEMO_DFLASH.name, DEMO_DFLASH))
    target, other = downloaded(repo, "3M-Q8_0.gguf", DEMO_DFLASH.name)
    if kind is DrafterKind.DFLASH:
        other.unlink()
    choose_drafter(target, "automatic" if kind is DrafterKind.DFLASH else other)
    picker = further(page(repo))
    knobs = replace(KNOBS, drafter=option(picker.sketch(KNOBS, NEVER), kind).key)
    line = line_of(picker.sketch(knobs, NEVER), "Q8_0")
    order = picker.order(line, knobs)
    assert order is not None
    keep_knobs(target, knobs, line.spec, KNOBS.context)
    assert launched(target, desk).config.spec.kind is not kind
    settle(order, get(hub, order=order))
    keep_knobs(target, knobs, line.spec, KNOBS.context)  # as a slow disk may do it
    launch = launched(target, desk).config.spec
    assert launch.kind is kind
    again = further(page(repo)).sketch(knobs_of(target, KNOBS.context), NEVER)
    assert line_of(again, "Q8_0").spec == launch


def test_a_drafter_that_is_still_to_be_downloaded_counts_also_where_the_app_drafts_with_none(
    page: Page, desk: Desk, hub: HubServer
) -> None:
    settings.save({"speculation": "off"})
    off = replace(desk, choice=replace(desk.choice, spec="off"))
    picker = further(page(layouts.root_mtp()))
    knobs = replace(KNOBS, drafter=option(picker.sketch(KNOBS, NEVER), DrafterKind.MTP).key)
    line = line_of(picker.sketch(knobs, NEVER), "Q8_0")
    order = picker.order(line, knobs)
    assert order is not None
    keep_knobs(target_path(order), knobs, line.spec, KNOBS.context)
    settle(order, get(hub, order=order))
    assert launched(target_path(order), off).config.spec.kind is DrafterKind.MTP


def test_a_drafter_that_is_here_is_kept_for_a_model_that_is_still_to_be_downloaded(
    page: Page, desk: Desk, hub: HubServer
) -> None:
    repo = layouts.quantizations()
    (drafter,) = downloaded(repo, DEMO_DFLASH.name)
    picker = further(page(repo))
    knobs = replace(KNOBS, drafter=option(picker.sketch(KNOBS, NEVER), DrafterKind.DFLASH).key)
    line = line_of(picker.sketch(knobs, NEVER), "Q8_0")
    order = picker.order(line, knobs)
    assert order is not None
    keep_knobs(target_path(order), knobs, line.spec, KNOBS.context)
    settle(order, get(hub, order=order))
    assert launched(target_path(order), desk).config.spec.drafter == drafter


def test_a_hub_that_is_gone_is_told_and_costs_nothing_else(page: Page, hub: HubServer) -> None:
    picker = page(layouts.quantizations())
    hub.stop()
    before, after = picker.sketch(KNOBS, NEVER), further(picker).sketch(KNOBS, NEVER)
    assert labels(after) == labels(before)
    assert after.drafters
    assert after.problems


def test_what_the_engine_said_is_still_known_after_looking_further(page: Page) -> None:
    picker = page(layouts.quantizations())
    plain = replace(KNOBS, drafter=OFF)
    exact = picker.picture(plain, NEVER)
    assert exact.exact
    assert {line.plan.method for line in exact.lines} == {"dry-run"}
    sketch = further(picker).sketch(plain, NEVER)
    assert [need(one) for one in sketch.lines] == [need(one) for one in exact.lines]


# The memory that there is.


def test_what_a_running_model_holds_is_counted_as_free() -> None:
    there = computer(16, card(0, 8), replace(apple(8), free=GIB))
    busy = Survey(Memory(16 * GIB, 4 * GIB), there.devices, ())
    after = _without({HOST: GIB, "MTL0": 2 * GIB, "CUDA0": 99 * GIB}, busy)
    assert after.memory == Memory(16 * GIB, 7 * GIB)  # what is shared comes back to both
    assert [device.free for device in after.devices] == [8 * GIB, 3 * GIB]
    assert _without({}, busy) == busy


def test_memory_is_judged_as_after_the_running_model_is_gone() -> None:
    memory = read_memory()
    before = desk_for(Question()).computer.memory
    after = desk_for(Question(), {HOST: 1 << 60}).computer.memory
    assert after.free == after.total == before.total == memory.total
    some = desk_for(Question(), {HOST: 100 << 20, "CUDA7": 5}).computer.memory
    assert some.free <= memory.total
