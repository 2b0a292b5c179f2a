"""The page of a model on this computer, while other programs and the user change what is there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from chat_window import Until, notice
from gguf_files import DEMO_SMALL
from hub_server import HubServer
from hub_server.layouts import quantizations
from hub_server.splitting import quantized
from local_stores import own_stores
from models_page import opened, press_row, shown
from slipstream.engine.model_records import save_settings
from slipstream.engine.model_settings import ModelSettings
from slipstream.ui.app import Running
from slipstream.ui.engine_control import Phase
from slipstream.ui.picker.finder import Tab
from slipstream.ui.picker.model_look import Stage
from slipstream.ui.picker.page import ModelsPage

REPO = quantizations().id


@pytest.fixture(autouse=True)
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    folder = tmp_path / "computer"
    folder.mkdir()
    own_stores(folder, monkeypatch)
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")
    with HubServer(quantizations()) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        yield server


@pytest.fixture
def page(demo: Running, until: Until, own_model: Path) -> ModelsPage:
    """The page, and one model on this computer."""
    demo.preferences.set("model_folders", (str(own_model.parent),))
    until(lambda: len(demo.stock.shelf.library.models) == 1)
    return opened(demo)


def show(page: ModelsPage, until: Until, path: Path) -> None:
    """Open the page of a model on this computer, from the list of them."""
    page.finder.tab_chosen.emit(Tab.HERE)
    library = page._shelf.library
    page.local.picked.emit(next(one for one in library.models if one.path == path))
    until(lambda: page.model.stage in (Stage.SHOWN, Stage.FAILED))
    until(lambda: not page.model.looking_further)


def labels(page: ModelsPage) -> list[str]:
    return [row.line.label for row in page.view.rows.rows if row.line]


def here(page: ModelsPage) -> dict[str, Path]:
    """The quantizations of the page that are on this computer."""
    picture = page.model.picture
    return {line.label: line.path for line in (picture.lines if picture else ()) if line.path}


def add_quantization(own_model: Path) -> Path:
    path = own_model.with_name("My-Own-3M-Q4_0.gguf")
    path.write_bytes(quantized(DEMO_SMALL, "Q4_0"))
    return path


def remove(demo: Running, page: ModelsPage, path: Path, until: Until) -> None:
    shelf = demo.stock.shelf
    shelf.propose(next(one for one in shelf.library.models if one.path == path))
    until(page.overview.question.remove.isVisible)
    page.overview.question.remove.click()


def test_a_quantization_that_comes_or_goes_is_seen_on_the_page(
    demo: Running, page: ModelsPage, until: Until, own_model: Path
) -> None:
    show(page, until, own_model)
    assert labels(page) == ["Q8_0"]
    other = add_quantization(own_model)
    demo.stock.shelf.refresh()
    until(lambda: labels(page) == ["Q4_0", "Q8_0"])
    other.unlink()
    demo.stock.shelf.refresh()
    until(lambda: labels(page) == ["Q8_0"])


def test_the_page_of_a_model_that_is_gone_is_left(
    demo: Running, page: ModelsPage, until: Until, own_model: Path
) -> None:
    show(page, until, own_model)
    own_model.unlink()
    demo.stock.shelf.refresh()
    until(lambda: page.model.stage is Stage.EMPTY)
    assert page.view.isHidden()
    page.settings.closed.emit()
    assert page.view.isHidden()


def test_a_model_is_not_offered_while_its_removal_can_be_undone(
    demo: Running, page: ModelsPage, until: Until, own_model: Path
) -> None:
    other = add_quantization(own_model)
    demo.stock.shelf.refresh()
    until(lambda: len(demo.stock.shelf.library.models) == 2)
    show(page, until, own_model)
    remove(demo, page, other, until)
    until(lambda: labels(page) == ["Q8_0"])
    remove(demo, page, own_model, until)
    until(lambda: page.model.stage is Stage.EMPTY)


def test_a_damaged_model_that_was_replaced_by_a_good_one_is_shown(
    demo: Running, page: ModelsPage, until: Until, own_model: Path
) -> None:
    good = own_model.read_bytes()
    own_model.write_bytes(good[:-100_000])
    demo.stock.shelf.refresh()
    until(lambda: demo.stock.shelf.library.models[0].problem is not None)
    show(page, until, own_model)
    assert "cannot be run" in page.view.trouble.text
    own_model.write_bytes(good)
    demo.stock.shelf.refresh()
    until(lambda: page.model.stage is Stage.SHOWN)
    assert page.view.banner.buttons.words() == ["Chat"]


def test_try_again_looks_at_the_file_as_it_is_now(
    demo: Running, page: ModelsPage, until: Until, own_model: Path
) -> None:
    good = own_model.read_bytes()
    own_model.write_bytes(good[:-100_000])
    demo.stock.shelf.refresh()
    until(lambda: demo.stock.shelf.library.models[0].problem is not None)
    show(page, until, own_model)
    page.finder.tab_chosen.emit(Tab.FOR_YOU)  # nobody watches the disk
    until(lambda: demo.work.idle)
    own_model.write_bytes(good)
    next(b for b in page.view.trouble.buttons() if b.text() == "Try again").click()
    until(lambda: page.model.stage is Stage.SHOWN)


def test_a_file_that_was_replaced_is_looked_at_again_when_it_is_picked(
    demo: Running, page: ModelsPage, until: Until, own_model: Path
) -> None:
    show(page, until, own_model)
    before = page.model.model
    own_model.write_bytes(quantized(DEMO_SMALL, "F16"))
    demo.stock.shelf.refresh()
    until(lambda: page.model.model != before)
    until(lambda: not page.model.looking_further)
    assert page.model.picture is not None
    assert page.model.picture.lines[0].bytes == own_model.stat().st_size


def test_a_downloaded_model_is_not_offered_while_its_removal_can_be_undone(
    demo: Running, page: ModelsPage, until: Until
) -> None:
    shown(page, until, REPO)
    page.view.banner.buttons.press()
    until(lambda: page.view.banner.buttons.words() == ["Chat"])
    line = page.view.line
    assert line is not None
    assert line.path is not None
    page.show_repository(REPO)
    until(lambda: page.view.banner.buttons.words() == ["Chat"])
    remove(demo, page, line.path, until)
    page.finder.results.choose(REPO)
    shown(page, until, REPO)
    assert page.view.banner.buttons.words() == []
    demo.stock.shelf.undo()
    assert page.view.banner.buttons.words() == ["Chat"]
    remove(demo, page, line.path, until)
    shown(page, until, REPO)
    demo.stock.shelf._removals._finalise()
    until(lambda: page.view.banner.buttons.words() == ["Download · 2 MB"])


def test_chat_with_a_model_that_is_gone_says_so_and_looks_again(
    demo: Running, page: ModelsPage, until: Until, own_model: Path
) -> None:
    page.show_library()
    until(lambda: demo.work.idle)
    model = demo.stock.shelf.library.models[0]
    page.overview.list.select(str(model.path))
    own_model.unlink()
    page.overview.thing_actions.chat.click()
    until(lambda: "is not on this computer any more" in notice(demo))
    until(lambda: not demo.stock.shelf.library.models)
    assert demo.window.pages.currentWidget() is page


def test_a_repository_opens_with_the_settings_of_the_quantization_that_is_loaded(
    demo: Running, page: ModelsPage, until: Until
) -> None:
    shown(page, until, REPO)
    for label in ("Q4_0", "F16"):
        press_row(page, label)
        until(lambda label=label: label in here(page))
    page.load_wanted.emit(here(page)["Q4_0"], False)
    until(lambda: demo.stock.shelf.loaded == here(page)["Q4_0"])
    until(lambda: demo.control.phase is Phase.READY)
    save_settings(here(page)["F16"], ModelSettings(context=3072))
    save_settings(here(page)["Q4_0"], ModelSettings(context=2048))
    shown(page, until, REPO)
    assert page.view.knobs.knobs.context == 2048
