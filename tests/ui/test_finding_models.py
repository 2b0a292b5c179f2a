"""The list of what the Hub has: it fills the room there is, and goes on where it was cut off."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLabel

from hub_server import GgufFacts, HubFile, HubServer, Repo
from local_stores import in_cache, own_stores
from slipstream.ui.app import Running
from slipstream.ui.picker.finder import Finder, Tab
from slipstream.ui.picker.search import Stage

Until = Callable[..., None]
TALL, LOW = 2400, 700
THERE = 150


def repo(number: int) -> Repo:
    name = f"maker/Small-{number:03}-1B-GGUF"
    facts = GgufFacts(1_000_000_000, "qwen35", 4096)
    return Repo(name, [HubFile("m-Q4_K_M.gguf", b"GGUF")], gguf=facts, trending=THERE - number)


@pytest.fixture(autouse=True)
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    folder = tmp_path / "computer"
    folder.mkdir()
    own_stores(folder, monkeypatch)
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")
    with HubServer(*map(repo, range(THERE))) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        yield server


@pytest.fixture
def finder(start: Callable[[], Running]) -> Finder:
    running = start()
    running.window.resize(1280, LOW)
    running.window.show_page("models")
    return running.window.pages.models.finder


def search(finder: Finder, until: Until) -> None:
    QTest.keyClicks(finder.field, "small")
    QTest.keyClick(finder.field, Qt.Key.Key_Return)
    until(lambda: finder._search.stage is Stage.MORE and bool(finder.results.names()))


def to_the_end(finder: Finder, until: Until) -> None:
    bar = finder.results.verticalScrollBar()
    until(lambda: bar.maximum() > 0)
    bar.setValue(bar.maximum())


def rests(finder: Finder, hub: HubServer) -> bool:
    """Whether nothing more is asked for."""
    asked = len(hub.asked("/api/models"))
    QTest.qWait(300)
    return len(hub.asked("/api/models")) == asked and finder._search.stage is Stage.MORE


def test_a_tall_list_is_filled_and_no_more_than_that(
    finder: Finder, until: Until, hub: HubServer
) -> None:
    finder.window().resize(1280, TALL)
    search(finder, until)
    bar = finder.results.verticalScrollBar()
    until(lambda: bar.maximum() > 0 and finder._search.stage is Stage.MORE)
    assert 20 < len(finder.results.names()) < THERE // 2
    assert rests(finder, hub)


def test_a_list_that_becomes_taller_is_filled(finder: Finder, until: Until, hub: HubServer) -> None:
    search(finder, until)
    assert len(finder.results.names()) == 20
    assert rests(finder, hub)
    finder.window().resize(1280, TALL)
    until(lambda: len(finder.results.names()) > 20)
    until(lambda: finder.results.verticalScrollBar().maximum() > 0)


@pytest.mark.parametrize("key", [Qt.Key.Key_F, Qt.Key.Key_K])
def test_the_keys_for_a_search_lead_to_it_from_anywhere(
    start: Callable[[], Running], key: Qt.Key
) -> None:
    window = start().window
    QTest.keyClick(window, key, Qt.KeyboardModifier.ControlModifier)
    assert window.pages.models.finder.field.hasFocus()


def test_all_keys_for_a_search_are_listed(start: Callable[[], Running]) -> None:
    window = start().window
    QTest.keyClick(window, Qt.Key.Key_Slash, Qt.KeyboardModifier.ControlModifier)
    (listed,) = window.findChildren(QDialog)
    assert "Ctrl+F, Ctrl+K" in [each.text() for each in listed.findChildren(QLabel)]


def test_the_end_of_the_list_brings_more(finder: Finder, until: Until) -> None:
    search(finder, until)
    to_the_end(finder, until)
    until(lambda: len(finder.results.names()) == 40)


def test_what_was_looked_at_has_no_further_pages(
    finder: Finder, until: Until, hub: HubServer
) -> None:
    search(finder, until)
    finder.show_recent([f"maker/Small-{number:03}-1B-GGUF" for number in range(30)])
    finder.tab_chosen.emit(Tab.RECENT)
    hub.forget()
    to_the_end(finder, until)
    QTest.qWait(200)
    assert hub.requests == []


def test_what_is_on_this_computer_is_marked_as_soon_as_it_is(
    start: Callable[[], Running], until: Until, own_model: Path
) -> None:
    here = "maker/Small-003-1B-GGUF"
    running = start()
    running.window.show_page("models")
    finder = running.window.pages.models.finder
    search(finder, until)
    assert marked(finder) == []
    in_cache(Path(os.environ["HF_HUB_CACHE"]), here, own_model)
    running.stock.shelf.refresh()
    until(lambda: marked(finder) == [here])
    finder.show_recent([here, "maker/Small-004-1B-GGUF"])
    finder.tab_chosen.emit(Tab.RECENT)
    assert marked(finder) == [here]


def marked(finder: Finder) -> list[str]:
    """The repositories that are said to be on this computer."""
    rows = finder.results.rows
    return [row.key for row in rows if row.pills and row.pills[0].words == "On this computer"]


def test_a_page_that_failed_is_asked_for_again_and_what_is_there_stays(
    finder: Finder, until: Until, hub: HubServer
) -> None:
    search(finder, until)
    first = finder.results.names()
    hub.faults.api = [404]
    to_the_end(finder, until)
    until(finder.again.isVisible)
    assert finder.results.names() == first
    assert rests_failed(finder, hub)
    finder.again.click()
    assert finder.results.names() == first
    until(lambda: len(finder.results.names()) == 40)
    assert finder.results.names()[:20] == first
    assert len(set(finder.results.names())) == 40
    assert not finder.again.isVisible()
    to_the_end(finder, until)
    until(lambda: len(finder.results.names()) == 60)


def rests_failed(finder: Finder, hub: HubServer) -> bool:
    """Whether a Hub that failed is left alone until somebody asks."""
    asked = len(hub.requests)
    QTest.qWait(200)
    return len(hub.requests) == asked and finder._search.stage is Stage.FAILED
