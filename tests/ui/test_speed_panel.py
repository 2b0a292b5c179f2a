"""The speed panel: nothing moves while numbers come and go, and the curve has a scale."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QSpinBox, QWidget

from slipstream.drafters.kinds import PLAIN, Drafter, DrafterKind, SpecConfig
from slipstream.engine.events import ReplyNumbers
from slipstream.engine.requests import Loaded, LoadRequest
from slipstream.ui.look import Look
from slipstream.ui.speed_panel import SpeedPanel
from slipstream.ui.widgets.choice import ChoiceButton, Option
from slipstream.ui.widgets.sparkline import Sparkline, round_above

MTP = SpecConfig(DrafterKind.MTP, draft_tokens=3)
DRAFTED = ReplyNumbers(
    tokens=38,
    tokens_per_second=63.4,
    speed_now=60.0,
    first_token=0.31,
    prompt_per_second=1840.0,
    drafted=50,
    accepted=39,
    steps=12,
    by_position=(0.9, 0.8, 0.7),
)
PLAINLY = ReplyNumbers(tokens=38, tokens_per_second=33.2, speed_now=33.0, first_token=0.3)


def loaded(spec: SpecConfig) -> Loaded:
    drafters = (Drafter(DrafterKind.MTP, None, proven=True, reason=""),)
    return Loaded(LoadRequest(Path("m.gguf")), "M", 4096, spec, drafters, None, "engine 1")


@pytest.fixture
def panel(qapp: QApplication) -> SpeedPanel:
    made = SpeedPanel(Look())
    made.resize(286, 760)
    made.show()
    return made


def place(panel: SpeedPanel, kind: type[QWidget]) -> QPoint:
    QApplication.processEvents()
    widget = panel.findChild(kind)
    assert widget is not None
    assert widget.isVisible()
    return widget.mapTo(panel, QPoint(0, 0))


def test_the_choice_stays_in_its_place(panel: SpeedPanel) -> None:
    panel.show_loaded(loaded(MTP))
    places = [(place(panel, ChoiceButton).y(), place(panel, QSpinBox).y())]
    changes: tuple[Callable[[], None], ...] = (
        lambda: panel.show_live(DRAFTED),
        lambda: panel.show_final(PLAINLY),
        lambda: panel.show_loaded(loaded(PLAIN)),
        lambda: panel.show_loaded(None, DrafterKind.MTP),
        panel.clear,
    )
    for change in changes:
        change()
        places.append((place(panel, ChoiceButton).y(), place(panel, QSpinBox).y()))
    assert len(set(places)) == 1


def test_where_nothing_is_drafted_there_is_a_dash(panel: SpeedPanel) -> None:
    box = panel.findChild(QSpinBox)
    assert box is not None
    panel.show_loaded(loaded(MTP))
    assert (box.text(), box.isEnabled()) == ("3", True)
    panel.show_loaded(loaded(PLAIN))
    assert (box.text(), box.isEnabled()) == ("–", False)
    panel.show_loaded(loaded(MTP))
    assert box.minimum() == 1


def test_the_choice_is_kept_while_nothing_is_loaded(panel: SpeedPanel) -> None:
    panel.show_loaded(None, DrafterKind.DFLASH)
    assert panel.choice == "dflash"
    button = panel.findChild(ChoiceButton)
    assert button is not None
    assert button.text() == "DFlash"
    assert not button.isEnabled()


def test_every_way_to_speculate_is_explained_where_it_is_chosen(panel: SpeedPanel) -> None:
    panel.show_loaded(loaded(MTP))
    button = panel.findChild(ChoiceButton)
    assert button is not None
    menu = button.menu()
    assert menu is not None
    assert [each.text() for each in menu.actions()] == ["Automatic", "MTP", "N-gram", "Off"]
    assert [each.text() for each in menu.actions() if each.isChecked()] == ["Automatic"]
    explained = [each.statusTip() for each in menu.actions()]
    assert all(explained)
    menu.popup(QPoint(0, 0))
    widest = max(menu.fontMetrics().horizontalAdvance(each) for each in explained)
    assert menu.width() > widest * 12 / 14  # they are smaller than the names
    menu.close()


def test_a_choice_is_told_once(qapp: QApplication) -> None:
    button = ChoiceButton("Theme", Look())
    button.show_choices([Option("light", "Light"), Option("dark", "Dark")], "light")
    told: list[str] = []
    button.chosen.connect(told.append)
    menu = button.menu()
    assert menu is not None
    for action in (*menu.actions(), menu.actions()[1]):
        action.trigger()
    assert told == ["dark"]
    assert button.accessibleName() == "Theme: Dark"
    assert [each.isChecked() for each in menu.actions()] == [False, True]


@given(st.floats(0.01, 1e6))
def test_the_scale_ends_a_little_above_the_fastest_moment(value: float) -> None:
    top = round_above(value)
    assert value <= top <= 1.5 * value


def test_the_scale_of_a_curve(qapp: QApplication) -> None:
    curve = Sparkline(Look())
    curve.add(53.2)
    assert curve.top == 0  # one point is no curve
    curve.add(41.0)
    assert curve.top == 60
    curve.clear()
    assert curve.top == 0
