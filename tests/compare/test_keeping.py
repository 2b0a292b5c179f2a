"""What a comparison showed is told on pages, and used by launches where somebody asks for it."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from gguf_files import DEMO_DFLASH, DEMO_SMALL
from slipstream.compare.keeping import keep, use
from slipstream.compare.modes import PLAIN_MODE, Mode
from slipstream.compare.prompts import Prompt, PromptSet
from slipstream.compare.report import Measured, report
from slipstream.compare.runner import Launched, Plan
from slipstream.compare.samples import Sample, Token
from slipstream.drafters.attached import attached
from slipstream.drafters.gains import Run, gain_of
from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecConfig
from slipstream.engine.events import ReplyNumbers
from slipstream.engine.model_records import settings_of
from slipstream.engine.requests import Loaded, LoadRequest

FOX = Prompt("story", "Tell me a story about a fox.")


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    shutil.copy(DEMO_DFLASH, tmp_path)
    return Path(shutil.copy(DEMO_SMALL, tmp_path))


def measured(model: Path, *ways: tuple[SpecConfig, float]) -> Measured:
    """A comparison in which a token took so many seconds in each way."""
    modes = tuple(Mode(spec.kind, spec.draft_tokens or None) for spec, _ in ways)
    made = Measured(Plan(model, modes, PromptSet(((FOX,),)), passes=2, tokens=5))
    for mode, (spec, seconds) in enumerate(ways):
        loaded = Loaded(LoadRequest(model), "Demo", 4096, spec, (), None, "b1")
        made.take(Launched(mode, loaded, 0))
        tokens = tuple(Token(0.1 + at * seconds, "a", drafted=False) for at in range(5))
        for number in range(2):
            made.take(Sample(mode, number, 0, FOX, tokens, ReplyNumbers(tokens=5)))
    return made


def test_the_best_of_each_drafter_is_told(model: Path) -> None:
    three, five = (SpecConfig(DrafterKind.MTP, None, tokens) for tokens in (3, 5))
    found = measured(model, (PLAIN, 0.1), (three, 0.05), (five, 0.08))
    keep(found, report(found))
    gain = gain_of(Run(model, None, DrafterKind.MTP, "b1"))
    assert gain is not None
    assert gain.speedup == pytest.approx(2.0)
    assert (gain.draft_tokens, gain.sure) == (3, True)


def test_without_plain_there_is_no_gain_to_tell(model: Path) -> None:
    three, five = (SpecConfig(DrafterKind.MTP, None, tokens) for tokens in (3, 5))
    found = measured(model, (three, 0.1), (five, 0.05))
    keep(found, report(found))
    assert gain_of(Run(model, None, DrafterKind.MTP, "b1")) is None


def test_the_verdict_is_used_wherever_the_model_is_loaded(model: Path) -> None:
    dflash = SpecConfig(DrafterKind.DFLASH, model.with_name(DEMO_DFLASH.name), 4)
    found = measured(model, (PLAIN, 0.1), (dflash, 0.05))
    use(found, report(found))
    own = settings_of(model)
    assert (own.spec, own.draft_tokens) == (DrafterKind.DFLASH, 4)
    assert attached(model).choice == dflash.drafter


def test_where_nothing_helps_plain_decoding_is_used(model: Path) -> None:
    mtp = SpecConfig(DrafterKind.MTP, None, 3)
    found = measured(model, (PLAIN, 0.1), (mtp, 0.1))
    told = report(found)
    assert told.verdict.use == PLAIN_MODE
    use(found, told)
    assert settings_of(model).spec == "off"
    use(found, replace(told, verdict=replace(told.verdict, use=Mode(mtp.kind, 3), draft_tokens=3)))
    assert settings_of(model).spec == DrafterKind.MTP
