"""Whether a drafter drafts, and is any good, is seen when it first runs and remembered."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gguf_files import (
    DEMO_DFLASH,
    DEMO_SMALL,
    write_demo_without_head,
    write_dflash_of_another_target,
    write_dflash_without_sense,
)
from slipstream.cancel import CancelToken
from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecChoice, Unfit
from slipstream.drafters.verdicts import Verdict, record, verdict_on
from slipstream.engine.check import Checked, check_pair
from slipstream.engine.events import FellBack, LoadEvent
from slipstream.engine.model_records import save_settings
from slipstream.engine.model_settings import ModelSettings
from slipstream.engine.requests import LoadRequest
from slipstream.engine.session import Session
from slipstream.engine.spec import Choice, EngineSpec
from slipstream.ui.wording import not_used

NAME = "Slipstream-Demo-3M-Q8_0.gguf"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))


@pytest.fixture
def session(embedded: EngineSpec, home: None) -> Iterator[Session]:
    one = Session(lambda: Choice(embedded, threads=1))
    yield one
    one.stop()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """The small demo without a head of its own."""
    return write_demo_without_head(tmp_path / NAME)


def load(session: Session, model: Path, spec: SpecChoice = "auto") -> list[LoadEvent]:
    return list(session.load(LoadRequest(model, spec, context=1024), CancelToken()))


def test_what_a_drafter_shows_at_first_is_remembered(
    session: Session, embedded: EngineSpec, target: Path
) -> None:
    drafter = Path(shutil.copy(DEMO_DFLASH, target.parent))
    load(session, target)
    seen = verdict_on(target, drafter, DrafterKind.DFLASH, embedded.build)
    assert seen
    assert seen.ok
    assert seen.drafted >= 40
    assert 0.3 < seen.accepted / seen.drafted <= 1
    load(session, target)
    assert verdict_on(target, drafter, DrafterKind.DFLASH, embedded.build) == seen


def test_a_drafter_that_is_never_right_is_not_used_and_not_tried_again(
    session: Session, embedded: EngineSpec, target: Path
) -> None:
    drafter = write_dflash_without_sense(target.parent / DEMO_DFLASH.name)
    (fall,) = [event for event in load(session, target) if isinstance(event, FellBack)]
    assert (fall.code, fall.now) == ("drafter_rejected", PLAIN)
    seen = verdict_on(target, drafter, DrafterKind.DFLASH, embedded.build)
    assert seen
    assert not seen.ok
    assert f"of {seen.drafted} tokens" in seen.reason
    again = load(session, target)
    assert not [event for event in again if isinstance(event, FellBack)]
    assert [event.reason for event in again if isinstance(event, Unfit)] == [seen.reason]
    assert session.loaded
    assert session.loaded.spec == PLAIN


def test_a_bad_drafter_still_runs_for_whoever_asks_for_it(session: Session, target: Path) -> None:
    write_dflash_without_sense(target.parent / DEMO_DFLASH.name)
    for _ in range(2):
        load(session, target, DrafterKind.DFLASH)
        assert session.loaded
        assert session.loaded.spec.kind is DrafterKind.DFLASH
        assert session.loaded.fallback is None


def test_another_engine_gets_its_own_try(embedded: EngineSpec, home: None, target: Path) -> None:
    drafter = write_dflash_without_sense(target.parent / DEMO_DFLASH.name)
    session = Session(lambda: Choice(embedded, threads=1))
    later = Session(lambda: Choice(replace(embedded, build="a later build"), threads=1))
    try:
        load(session, target)
        shutil.copyfile(DEMO_DFLASH, drafter)
        load(later, target)
        assert later.loaded
        assert later.loaded.spec.kind is DrafterKind.DFLASH
    finally:
        session.stop()
        later.stop()


def test_a_drafter_that_crashes_the_engine_is_remembered_as_such(
    session: Session, embedded: EngineSpec, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafter = write_dflash_of_another_target(target.parent / DEMO_DFLASH.name)
    monkeypatch.setattr("slipstream.drafters.pairing.RULES", _no_rules())
    falls = [event for event in load(session, target) if isinstance(event, FellBack)]
    assert falls[-1].now == PLAIN
    seen = verdict_on(target, drafter, DrafterKind.DFLASH, embedded.build)
    assert seen
    assert not seen.ok
    assert seen.reason == falls[-1].reason


UNUSUAL = {
    "extra": ModelSettings(extra="--no-warmup"),
    "template": ModelSettings(chat_template="{{ messages[0].content }}"),
    "flash attention": ModelSettings(flash_attention="on"),
    "type of the cache": ModelSettings(kv_type="q8_0"),
    "layers": ModelSettings(gpu_layers=0),
}


@pytest.mark.parametrize("settings", UNUSUAL.values(), ids=UNUSUAL)
def test_only_an_ordinary_launch_tells_of_a_drafter(
    session: Session, embedded: EngineSpec, demo: Path, settings: ModelSettings
) -> None:
    def seen() -> Verdict | None:
        return verdict_on(demo, None, DrafterKind.MTP, embedded.build)

    save_settings(demo, settings)
    load(session, demo)
    assert session.loaded
    assert session.loaded.spec.kind is DrafterKind.MTP
    assert seen() is None


def test_arguments_that_stop_a_drafter_do_so_only_as_long_as_they_are_there(
    session: Session, embedded: EngineSpec, demo: Path
) -> None:
    save_settings(demo, ModelSettings(extra="--spec-draft-n-min 64"))
    falls = [event for event in load(session, demo) if isinstance(event, FellBack)]
    assert (falls[-1].code, falls[-1].now) == ("drafter_idle", PLAIN)
    save_settings(demo, ModelSettings())
    again = load(session, demo)
    assert not [event for event in again if isinstance(event, FellBack | Unfit)]
    assert session.loaded
    assert session.loaded.spec.kind is DrafterKind.MTP
    kept = verdict_on(demo, None, DrafterKind.MTP, embedded.build)
    assert kept
    assert kept.ok


def test_a_head_that_failed_is_told_apart_from_the_model_that_holds_it(
    session: Session, embedded: EngineSpec, tmp_path: Path
) -> None:
    model, reason = Path(shutil.copy(DEMO_SMALL, tmp_path)), "It crashed."
    failed = Verdict(False, reason, 0, 0, embedded.build, 0.0)
    record(model, None, DrafterKind.MTP, failed)
    (left_out,) = [event for event in load(session, model) if isinstance(event, Unfit)]
    assert isinstance(left_out, Unfit)
    assert left_out.inside
    assert not_used(left_out) == f"The MTP head of {model.name} is not used. {reason}"
    beside = Unfit(DrafterKind.MTP, Path("mtp-head.gguf"), reason, missed=True)
    assert not_used(beside) == f"mtp-head.gguf is not used. {reason}"


def test_a_pair_is_checked_by_starting_it_once(
    embedded: EngineSpec, home: None, target: Path
) -> None:
    def check() -> Checked:
        return check_pair(target, CancelToken(), lambda: Choice(embedded, threads=1))

    assert check() == Checked(PLAIN)
    drafter = write_dflash_without_sense(target.parent / DEMO_DFLASH.name)
    bad = check()
    assert bad.spec == PLAIN
    assert bad.verdict
    assert not bad.verdict.ok
    assert bad.fell
    assert bad.fell.code == "drafter_rejected"
    shutil.copyfile(DEMO_DFLASH, drafter)
    good = check()
    assert good.spec.drafter == drafter
    assert good.verdict
    assert good.verdict.ok
    assert good.fell is None


def _no_rules() -> dict[object, tuple[()]]:
    from slipstream.drafters.rules import RULES

    return dict.fromkeys(RULES, ())
