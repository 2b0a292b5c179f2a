"""Downloads that are ordered on the page of a model, whatever the user does next."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hub_server import HubServer
from hub_server.layouts import quantizations, sisters
from local_stores import own_stores
from models_page import Until, opened, press_row, shown
from slipstream.engine.model_records import settings_of
from slipstream.hub.downloads.orders import Order, target_path
from slipstream.hub.downloads.records import Records
from slipstream.paths import downloads_folder
from slipstream.ui.app import Running
from slipstream.ui.picker.model_look import Stage
from slipstream.ui.picker.page import ModelsPage

REPO = quantizations().id
SISTER, ITS_DRAFTER = (repo.id for repo in sisters())


@pytest.fixture(autouse=True)
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    folder = tmp_path / "computer"
    folder.mkdir()
    own_stores(folder, monkeypatch)
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")
    with HubServer(quantizations(), *sisters()) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        yield server


@pytest.fixture
def page(demo: Running, until: Until) -> ModelsPage:
    page = opened(demo)
    until(lambda: bool(page.finder.results.names()))
    return page


def still_looking(page: ModelsPage, until: Until, hub: HubServer, repo: str) -> None:
    """Open a model whose drafters take long to be found."""
    hub.faults.latency = 0.5
    page.show_repository(repo)
    until(lambda: page.model.stage is Stage.SHOWN)
    assert page.model.looking_further


def kept() -> list[Order]:
    return [record.order for record in Records(downloads_folder()).all()]


def files(orders: list[Order]) -> list[str]:
    return sorted(order.items[0].files[0].path for order in orders)


def test_two_downloads_wait_for_the_drafter_and_both_come(
    demo: Running, page: ModelsPage, until: Until, hub: HubServer
) -> None:
    still_looking(page, until, hub, REPO)
    press_row(page, "Q4_0")
    press_row(page, "F16")
    assert not kept()
    hub.faults.latency = 0
    until(lambda: len(kept()) == 2)
    assert files(kept()) == ["Slipstream-Demo-3M-F16.gguf", "Slipstream-Demo-3M-Q4_0.gguf"]


def test_what_waited_brings_the_drafter_that_was_found(
    page: ModelsPage, until: Until, hub: HubServer
) -> None:
    still_looking(page, until, hub, SISTER)
    page.view.banner.buttons.press()
    assert not kept()
    hub.faults.latency = 0
    until(lambda: len(kept()) == 1)
    (order,) = kept()
    assert [item.repo for item in order.items] == [SISTER, ITS_DRAFTER]
    assert order.pairing is not None


def test_whoever_does_not_want_to_wait_presses_again_and_the_other_waits_on(
    page: ModelsPage, until: Until, hub: HubServer
) -> None:
    still_looking(page, until, hub, REPO)
    press_row(page, "Q4_0")
    press_row(page, "F16")
    press_row(page, "F16")
    until(lambda: len(kept()) == 1)
    assert page.model.looking_further
    assert files(kept()) == ["Slipstream-Demo-3M-F16.gguf"]
    hub.faults.latency = 0
    until(lambda: len(kept()) == 2)


def test_leaving_the_model_downloads_all_that_waits_for_its_drafter(
    page: ModelsPage, until: Until, hub: HubServer
) -> None:
    still_looking(page, until, hub, REPO)
    press_row(page, "Q4_0")
    press_row(page, "F16")
    page.show_repository(SISTER)
    until(lambda: len(kept()) == 2)
    hub.faults.latency = 0


def test_a_download_is_ordered_also_where_the_window_is_closed_at_once(
    demo: Running, page: ModelsPage, until: Until
) -> None:
    shown(page, until, REPO)
    page.view.knobs.slider.setValue(0)
    until(lambda: page.model.picture is not None and page.model.picture.knobs.context == 2048)
    until(lambda: page.view.line is not None and page.view.line.plan.setup.context == 2048)
    page.view.banner.buttons.press()
    demo.window.close()
    demo.end()
    (order,) = kept()
    assert files([order]) == ["Slipstream-Demo-3M-Q4_0.gguf"]
    assert settings_of(target_path(order)).context == 2048


def test_what_waits_for_its_drafter_is_ordered_when_the_window_is_closed(
    demo: Running, page: ModelsPage, until: Until, hub: HubServer
) -> None:
    still_looking(page, until, hub, REPO)
    press_row(page, "Q4_0")
    press_row(page, "F16")
    page.view.knobs.slider.setValue(0)
    until(lambda: page.model.picture is not None and page.model.picture.knobs.context == 2048)
    demo.window.close()
    demo.end()
    assert files(kept()) == ["Slipstream-Demo-3M-F16.gguf", "Slipstream-Demo-3M-Q4_0.gguf"]
    assert {settings_of(target_path(order)).context for order in kept()} == {2048}
