"""The Compare page: one click measures, the result is told, and can be used."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog

from chat_window import Until, notice
from slipstream.compare.history import kept_runs
from slipstream.drafters.gains import Run, gain_of
from slipstream.drafters.kinds import DrafterKind
from slipstream.engine.model_records import settings_of
from slipstream.ui.app import Running
from slipstream.ui.compare.bench import Stage
from slipstream.ui.compare.page import ComparePage
from slipstream.ui.engine_control import Phase
from slipstream.ui.widgets.choice import Option


@pytest.fixture
def page(demo_alone: Running, own_model: Path) -> ComparePage:
    """The page with a short comparison of a model of the user's."""
    demo_alone.window.resize(1280, 800)
    demo_alone.window.show_page("compare")
    page = demo_alone.window.pages.compare
    page.bench.passes = 1
    page.length.show_choices([Option("16", "16")], "16")
    page.model.show_choices([Option(str(own_model), "My own")], str(own_model))
    return page


def ended(page: ComparePage) -> Callable[[], bool]:
    return lambda: page.bench.stage in (Stage.DONE, Stage.FAILED)


def test_a_model_is_measured_and_what_ran_before_comes_back(
    demo_alone: Running,
    page: ComparePage,
    own_model: Path,
    until: Until,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page.run.click()
    assert page.run.text() == "Stop"
    until(ended(page), 120)
    assert page.bench.error is None
    told = page.table.texts()
    assert [each for each in told if each in ("Plain", "MTP, 3 tokens", "N-gram, 12 tokens")]
    assert "×" in page.verdict.text
    assert len(page.bars.bars) == 8
    until(lambda: bool(page.lanes.right.text.toPlainText()))
    until(lambda: demo_alone.control.phase is Phase.READY)
    assert demo_alone.control.wanted.ref == "demo"
    build = next(kept_runs()).document["engine"]
    assert gain_of(Run(own_model, None, DrafterKind.MTP, build)) is not None
    page.verdict.use.click()
    until(lambda: "is used from now on" in notice(demo_alone))
    assert settings_of(own_model).spec is not None
    file = tmp_path / "mine.csv"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_args: (str(file), ""))
    page._on_export("csv")
    until(file.exists)
    until(lambda: "was written to" in notice(demo_alone))
    assert file.read_text().startswith("mode,draft_tokens,tokens_per_second")


def test_what_was_measured_before_it_was_stopped_is_told(
    demo_alone: Running, page: ComparePage, until: Until
) -> None:
    page.run.click()
    until(lambda: page.bench.far is not None and page.bench.far.done > 9, 60)
    page.run.click()
    until(ended(page), 30)
    assert page.bench.result is not None
    assert not page.bench.result.whole
    assert "stopped before its end" in page.verdict.text
    assert list(kept_runs()) == []
    until(lambda: demo_alone.control.phase is Phase.READY)


def test_loading_a_model_stops_it(demo_alone: Running, page: ComparePage, until: Until) -> None:
    page.run.click()
    until(lambda: page.bench.far is not None and page.bench.far.done > 0, 60)
    demo_alone.window.come_forward("demo-small")
    until(lambda: page.bench.stage is not Stage.RUNNING, 30)
    assert "was stopped, because a model is being loaded" in notice(demo_alone)
    until(lambda: demo_alone.control.phase is Phase.READY)
    assert demo_alone.control.wanted.ref == "demo-small"


def test_a_model_that_is_gone_is_told(
    demo_alone: Running, page: ComparePage, own_model: Path, until: Until
) -> None:
    own_model.unlink()
    page.run.click()
    until(ended(page), 30)
    assert page.bench.stage is Stage.FAILED
    assert "There is no model at" in str(page.bench.error)
    until(lambda: demo_alone.control.phase is Phase.READY)
