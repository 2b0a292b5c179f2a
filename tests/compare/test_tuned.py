"""What tuning found is known as long as nothing changes that it depends on."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gguf_files import DEMO_DFLASH, DEMO_SMALL
from slipstream import paths
from slipstream.cancel import CancelToken
from slipstream.compare import tuned
from slipstream.compare.tuned import Best, Tried, Tuning, document, key_of, remember, remembered
from slipstream.drafters.kinds import DrafterKind
from slipstream.engine.model_records import save_settings
from slipstream.engine.model_settings import ModelSettings
from slipstream.engine.spec import Choice, EngineSpec

MTP = DrafterKind.MTP
FOUND = Tuning(
    engine="b1",
    tried=(
        Tried("plain", None, 0, 0.0, confirmed=False, tokens_per_second=20.5),
        Tried("mtp=4", MTP, 4, 0.0, False, 30.0, None, None, (0.8, 0.5), (1.2, 1.4), "Good."),
        Tried("mtp=3", MTP, 3, 0.6, True, 31.0, 1.5, (1.4, 1.6), (0.8,), (), "Better."),
    ),
    best=Best(MTP, 3, 0.6, 31.0, 1.5, (1.4, 1.6)),
    reason="MTP is faster.",
    drift=-0.01,
    seconds=80.5,
    when=1_700_000_000.25,
)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    shutil.copy(DEMO_DFLASH, tmp_path)
    return Path(shutil.copy(DEMO_SMALL, tmp_path))


def test_a_result_is_known_again() -> None:
    remember("one", FOUND)
    remember("other", replace(FOUND, reason="Another."))
    assert remembered("one") == FOUND
    assert remembered("none") is None
    remember("one", replace(FOUND, seconds=1.0))
    found = remembered("one")
    assert found is not None
    assert found.seconds == 1.0


def test_the_last_ones_are_kept(monkeypatch: pytest.MonkeyPatch, model: Path) -> None:
    monkeypatch.setattr(tuned, "MOST", 2)
    for name in "abc":
        remember(name, FOUND)
    assert [remembered(name) is not None for name in "abc"] == [False, True, True]


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ('"tokens_per_second": 31.0', '"tokens_per_second": "fast"'),
        ('"speedup": 1.5', '"speedup": null'),
        ('"kind": "mtp"', '"kind": "warp"'),
        ('"reason": "Good."', '"reason": 1'),
        ('"seconds"', '"minutes"'),
    ],
)
def test_a_damaged_result_is_none(model: Path, good: str, bad: str) -> None:
    remember("one", FOUND)
    text = paths.tuned_file().read_text()
    assert good in text
    paths.tuned_file().write_text(text.replace(good, bad))
    assert remembered("one") is None


def test_the_document_is_the_contract() -> None:
    told = json.loads(json.dumps(document("/models/m.gguf", FOUND, known=True)))
    assert set(told) >= {"model", "tried", "best", "seconds"}
    assert told["best"] == {
        "kind": "mtp",
        "draft_tokens": 3,
        "p_min": 0.6,
        "tokens_per_second": 31.0,
        "speedup": 1.5,
        "interval": [1.4, 1.6],
    }
    assert (told["when"], told["remembered"]) == ("2023-11-14T22:13:20Z", True)


def test_what_a_result_depends_on(model: Path, embedded: EngineSpec) -> None:
    choice = Choice(embedded, threads=1)

    def key(choice: Choice = choice, measured: object = 128) -> str | None:
        return key_of(model, measured, lambda: choice, CancelToken())

    def changed(change: Callable[[], object]) -> bool:
        before = key()
        change()
        return key() != before

    assert key() is not None
    assert key() == key()
    assert key(measured=64) != key()
    assert key(replace(choice, threads=2)) != key()
    assert key(replace(choice, context=2048)) != key()
    assert key(replace(choice, engine=replace(embedded, build="b2"))) != key()
    assert changed(lambda: save_settings(model, ModelSettings(kv_type="q8_0")))
    assert changed(lambda: os.utime(model.with_name(DEMO_DFLASH.name), (1, 1)))
    assert changed(lambda: os.utime(model, (1, 1)))
    assert not changed(lambda: save_settings(model, ModelSettings(kv_type="q8_0", temperature=0.5)))
