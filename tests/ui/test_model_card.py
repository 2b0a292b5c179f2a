"""A model's card is read as text, beside the way to its page and the way back."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from browsing import Browser, browsing
from hub_server import HubServer
from hub_server.layouts import embedded, quantizations
from local_stores import own_stores
from slipstream.cancel import CancelToken
from slipstream.hub.connection import connect
from slipstream.hub.files import Listing
from slipstream.hub.listing import read_listing
from slipstream.ui.app import Running
from slipstream.ui.look import Look
from slipstream.ui.picker.card_view import CardView
from slipstream.ui.picker.model_look import Stage
from slipstream.ui.work import Work

Until = Callable[..., None]
FIRST, SECOND = quantizations().id, embedded().id


@pytest.fixture(autouse=True)
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    folder = tmp_path / "computer"
    folder.mkdir()
    own_stores(folder, monkeypatch)
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")
    with HubServer(quantizations(), embedded()) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        yield server


@pytest.fixture
def browser() -> Iterator[Browser]:
    with browsing() as made:
        yield made


@pytest.fixture
def card(qapp: QApplication) -> Iterator[CardView]:
    work = Work()
    made = CardView(Look(), work)
    made.show()
    yield made
    work.stop(5)
    made.close()


def listed(repo: str) -> Listing:
    with connect() as connection:
        return read_listing(repo, connection, CancelToken())


def open_outside(card: CardView) -> None:
    buttons = card.findChildren(QPushButton)
    next(each for each in buttons if each.text() == "Open in the browser").click()


def test_the_browser_shows_the_repository_whose_card_is_still_read(
    card: CardView, until: Until, hub: HubServer, browser: Browser
) -> None:
    first, second = listed(FIRST), listed(SECOND)
    card.show_card(first)
    until(card.transcript.isVisible)
    hub.faults.latency = 5
    card.show_card(second)
    open_outside(card)
    assert browser.opened == [f"{hub.endpoint}/{SECOND}"]
    hub.faults.latency = 0


def test_the_browser_is_a_way_out_where_the_card_cannot_be_read(
    card: CardView, until: Until, hub: HubServer, browser: Browser
) -> None:
    listing = listed(FIRST)
    hub.faults.resolve = [404]
    card.show_card(listing)
    until(card.trouble.isVisible)
    open_outside(card)
    assert browser.opened == [f"{hub.endpoint}/{FIRST}"]


def test_escape_leaves_the_card_for_the_model(start: Callable[[], Running], until: Until) -> None:
    running = start()
    running.window.show_page("models")
    page = running.window.pages.models
    page.show_repository(FIRST)
    until(lambda: page.model.stage is Stage.SHOWN)
    for ready in (lambda: True, lambda: page.card.transcript.isVisible()):  # read, or not yet
        page.view.card.click()
        until(ready)
        at = running.window.focusWidget()
        assert at is not None
        QTest.keyClick(at, Qt.Key.Key_Escape)
        assert page.view.isVisible()
        assert page.view.card.hasFocus()


def test_no_card_is_offered_where_the_hub_was_not_asked(
    start: Callable[[], Running], until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = start()
    running.window.show_page("models")
    running.stock.start()
    page = running.window.pages.models
    page.show_repository(FIRST)
    until(lambda: page.model.stage is Stage.SHOWN)
    assert page.view.card.isVisible()
    page.view.banner.buttons.press()
    until(lambda: page.view.banner.buttons.words() == ["Chat"])
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    page.show_repository(FIRST)
    until(lambda: page.model.stage is Stage.SHOWN and not page.model.looking_further)
    assert page.view.banner.buttons.words() == ["Chat"]
    assert not page.view.card.isVisible()
