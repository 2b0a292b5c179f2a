"""The parts of the Models page that decide by themselves: stops, rows worth showing, places."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from machines import computer
from slipstream.drafters.gains import Gain
from slipstream.drafters.kinds import DrafterKind
from slipstream.engine.picture import DrafterOption, Knobs, Picture
from slipstream.hub.search import FoundModel
from slipstream.planning.need import Need
from slipstream.ui.look import Look
from slipstream.ui.picker.drafter_chips import DrafterChips
from slipstream.ui.picker.found import Seen, entry
from slipstream.ui.picker.notches import LONGEST, nearest, notches
from slipstream.ui.picker.results import Results
from slipstream.ui.picker.wording import downloads_words, drafter_chip
from slipstream.ui.theme import DARK
from slipstream.ui.widgets.flow import FlowLayout
from slipstream.ui.widgets.memory_bar import largest, parts_of


@given(st.integers(1, LONGEST))
def test_the_stops_of_the_slider_grow_to_the_longest_context(longest: int) -> None:
    stops = notches(longest)
    assert list(stops) == sorted(set(stops))
    assert stops[-1] == longest
    assert all(stops[nearest(stops, stop)] == stop for stop in stops)


@given(st.integers(1, LONGEST), st.integers(1, LONGEST))
def test_the_nearest_stop_is_never_longer_than_what_was_asked_for(longest: int, asked: int) -> None:
    stops = notches(longest)
    found = stops[nearest(stops, asked)]
    assert found <= max(asked, stops[0])


def test_a_bar_has_every_part_that_takes_something() -> None:
    need = Need(10, 5, 2, 0, 0, 1, {"CPU": 18})
    assert [(part.name, part.bytes) for part in parts_of(need, DARK)] == [
        ("weights", 10),
        ("context", 5),
        ("compute", 2),
        ("kept free", 1),
    ]


def test_what_the_colours_mean_is_told_of_every_part_that_any_bar_has() -> None:
    needs = [Need(10, 5, 0, 0, 0, 1, {}), Need(12, 3, 0, 7, 0, 1, {})]
    assert largest(needs) == Need(12, 5, 0, 7, 0, 1, {})
    assert largest([]) == Need(0, 0, 0, 0, 0, 0, {})


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "0 downloads"),
        (1, "1 download"),
        (999, "999 downloads"),
        (1_200, "1.2k downloads"),
        (1_234_567, "1.2M downloads"),
        (45_000_000, "45M downloads"),
    ],
)
def test_downloads_are_told_in_short(number: int, words: str) -> None:
    assert downloads_words(number) == words


def option(**more: object) -> DrafterOption:
    values: dict[str, object] = {
        "key": "k",
        "kind": DrafterKind.DFLASH,
        "title": "DFlash, drafter-Q8_0.gguf",
        "detail": "It fits.",
        "repo": "",
        "proven": True,
        "fits": True,
        "bytes": 9_000_000,
        "memory": None,
    }
    return DrafterOption(**{**values, **more})  # type: ignore[arg-type]


def test_a_drafter_says_what_it_costs_and_how_sure_it_is() -> None:
    assert drafter_chip(option()) == "DFlash, drafter-Q8_0.gguf · 9 MB"
    assert drafter_chip(option(memory=580_000_000)).endswith("+580 MB while in use")
    assert drafter_chip(option(repo="a/b")) == "DFlash · a/b · 9 MB"
    assert drafter_chip(option(proven=False)).endswith("only plausible")
    assert drafter_chip(option(fits=False, proven=False)).endswith("does not fit")
    gain = Gain(1.42, 1.3, 1.55, sure=True, draft_tokens=3, when=0.0)
    assert drafter_chip(option(gain=gain)).endswith("1.42× as fast here")
    assert drafter_chip(option(gain=replace(gain, sure=False))).endswith("no difference here")


def picture(*drafters: DrafterOption, used: str) -> Picture:
    return Picture(
        name="m",
        knobs=Knobs(4096),
        lines=(),
        drafters=drafters,
        drafter=used,
        headline="",
        reason="",
        computer=computer(16),
        devices=(),
        projector=None,
        trained_context=None,
        layers=0,
        exact=True,
        problems=(),
    )


@pytest.fixture
def chips(qapp: QApplication) -> Iterator[DrafterChips]:
    made = DrafterChips()
    made.resize(700, 200)
    made.show()
    assert QTest.qWaitForWindowActive(made)
    yield made
    made.close()


MTP = option(key="mtp", kind=DrafterKind.MTP, title="MTP head, inside every file")
DFLASH = option(key="dflash")
NGRAM = option(key="ngram", kind=DrafterKind.NGRAM, title="n-grams", bytes=0)


def test_the_drafter_in_use_is_marked_and_said_in_words(chips: DrafterChips) -> None:
    chips.show_picture(picture(MTP, DFLASH, used="dflash"), looking=False)
    assert [chip.text()[:2] == "✓ " for chip in chips.chips()] == [False, True]
    assert ["in use" in chip.accessibleName() for chip in chips.chips()] == [False, True]
    chips.show_picture(picture(MTP, DFLASH, used="mtp"), looking=False)
    assert [chip.text()[:2] == "✓ " for chip in chips.chips()] == [True, False]
    assert ["in use" in chip.accessibleName() for chip in chips.chips()] == [True, False]


def test_the_keyboard_stays_at_a_drafter_whatever_is_found_beside_it(chips: DrafterChips) -> None:
    chips.show_picture(picture(MTP, NGRAM, used="mtp"), looking=True)
    QTest.qWait(1)  # Qt shows them
    at = chips.chips()[1]
    at.setFocus()
    chips.show_picture(picture(MTP, NGRAM, used="ngram"), looking=True)
    assert at.hasFocus()
    costlier = replace(DFLASH, memory=580_000_000)
    chips.show_picture(picture(MTP, costlier, NGRAM, used="ngram"), looking=False)
    assert at.hasFocus()
    assert [chip.text() for chip in chips.chips()][1:] == [
        "DFlash, drafter-Q8_0.gguf · +580 MB while in use",
        "✓ n-grams",
    ]
    QTest.qWait(1)
    QTest.keyClick(chips, Qt.Key.Key_Backtab)
    assert chips.chips()[1].hasFocus()  # the keys go as the eyes do
    chips.show_picture(picture(NGRAM, used="ngram"), looking=False)
    assert chips.chips() == [at]


def found(**more: object) -> FoundModel:
    values: dict[str, object] = {
        "repo": "maker/Some-Model-7B-GGUF",
        "downloads": 3000,
        "likes": 1,
        "trending": 0.0,
        "parameters": None,
        "architecture": None,
        "context": None,
        "gated": False,
        "modified": None,
        "drafters": (DrafterKind.MTP,),
        "only_drafters": False,
    }
    return FoundModel(**{**values, **more})  # type: ignore[arg-type]


def pills(*args: object) -> list[str]:
    return [pill.words for pill in entry(*args).pills]  # type: ignore[arg-type]


def test_a_result_says_at_once_what_the_hub_and_its_name_tell() -> None:
    assert pills(found(), None, None) == ["MTP", "7B"]
    assert pills(found(), 8_000_000_000, None) == ["MTP", "fits", "7B"]
    assert pills(found(parameters=70_000_000_000), 8_000_000_000, None)[1] == "too large"
    assert pills(found(gated=True), None, None)[-1] == "gated"


def test_a_result_that_was_looked_into_says_what_was_seen() -> None:
    known = Seen(("MTP inside", "DFlash"), "Fits fully on your GPU", fits=True)
    assert pills(found(), 1, known) == ["MTP inside", "fits", "7B", "DFlash"]


def test_what_is_found_later_is_added_below_and_the_choice_stays(
    qapp: QApplication, until: Callable[..., None]
) -> None:
    results = Results(Look(), "Models")
    results.resize(300, 200)
    results.show()
    first = [entry(found(repo=f"maker/Model-{n}-7B-GGUF"), None, None) for n in range(3)]
    results.show_entries(first)
    chosen: list[str] = []
    results.chosen.connect(chosen.append)
    results.choose("maker/Model-1-7B-GGUF")
    results.show_entries([*first, entry(found(), None, None)])
    assert chosen == ["maker/Model-1-7B-GGUF"]
    assert results.currentIndex().row() == 1
    assert len(results.names()) == 4
    results.close()


def test_widgets_flow_into_rows_and_none_is_wider_than_the_page(qapp: QApplication) -> None:
    page = QWidget()
    flow = FlowLayout(page, gap=4)
    buttons = [QPushButton("x" * length) for length in (3, 5, 200)]
    for button in buttons:
        flow.addWidget(button)
    page.resize(260, 200)
    page.show()
    QTest.qWait(1)
    assert buttons[0].y() == buttons[1].y()
    assert buttons[2].y() > buttons[1].y()
    assert all(button.width() <= 260 for button in buttons)
    buttons[0].hide()
    flow.activate()
    assert buttons[1].x() == 0
    page.close()
