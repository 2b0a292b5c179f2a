"""The first page: this computer, models that suit it, the demo, and what is there already."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton

from downloading import get
from gguf_files import DEMO
from hub_server import HubServer
from hub_server.first_models import for_any_computer
from local_stores import own_stores
from slipstream import settings
from slipstream.engine.first_models import trusted
from slipstream.hub.downloads.orders import Order
from slipstream.ui.first_cards import Card
from slipstream.ui.first_run import FirstRun
from slipstream.ui.look import Look
from slipstream.ui.widgets.labels import Pill
from slipstream.ui.work import Work

Until = Callable[..., None]


@pytest.fixture(scope="module")
def served() -> Iterator[HubServer]:
    names = [one.repo for one in trusted()]
    with HubServer(*for_any_computer(names)) as hub:
        yield hub


@pytest.fixture(scope="module")
def kept_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is learnt of the engine is learnt once."""
    return tmp_path_factory.mktemp("kept") / "slipstream"


@pytest.fixture(autouse=True)
def computer(
    home: Path,
    kept_home: Path,
    served: HubServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """A computer without models, and a Hub with those that are suggested; its home folder."""
    folder = tmp_path / "computer"
    folder.mkdir()
    _, own = own_stores(folder, monkeypatch)
    monkeypatch.setenv("SLIPSTREAM_HOME", str(kept_home))
    monkeypatch.setenv("HF_ENDPOINT", served.endpoint)
    settings.save({"threads": 1})
    return own


@pytest.fixture
def work(qapp: QApplication) -> Iterator[Work]:
    made = Work()
    yield made
    made.stop(10)


@pytest.fixture
def folders() -> list[str]:
    return []


@pytest.fixture
def page(work: Work, folders: list[str]) -> Iterator[FirstRun]:
    look = Look()
    look.apply("light", 100)
    made = FirstRun(look, work, lambda: folders)
    made.resize(936, 700)
    yield made
    made.hide()


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")


def lm_studio(home: Path, *names: str) -> list[Path]:
    folder = home / ".lmstudio" / "models" / "owner" / "Model-GGUF"
    folder.mkdir(parents=True)
    files = [Path(shutil.copy(DEMO, folder / name)) for name in names]
    for file in files:
        with file.open("ab") as end:
            end.write(file.name.encode())  # each another model
    return files


def shown(page: FirstRun, work: Work, until: Until) -> FirstRun:
    page.show()
    until(lambda: work.idle)
    return page


def spies(page: FirstRun) -> dict[str, QSignalSpy]:
    names = ("demo_wanted", "download_wanted", "open_model", "browse_wanted", "closed")
    return {name: QSignalSpy(getattr(page, name)) for name in names}


def emitted(spied: dict[str, QSignalSpy]) -> dict[str, list[object]]:
    return {name: spy.at(0) for name, spy in spied.items() if spy.count()}


def visible(page: FirstRun) -> list[QPushButton]:
    return [each for each in page.findChildren(QPushButton) if each.isVisibleTo(page)]


def test_the_page_is_there_at_once_and_fills_itself(
    page: FirstRun, work: Work, until: Until
) -> None:
    page.show()
    assert page.about.text() == "Looking at this computer…"
    assert page.demo.button.isEnabled()
    assert page.stores.text == "Looking on this computer…"
    until(lambda: work.idle)
    assert "GB of" in page.about.text()
    assert page.about.text().endswith(".")
    assert 2 <= len(page.cards) <= 3
    assert not page.state.isVisible()
    assert not page.trouble.isVisible()


def test_a_suggestion_names_its_drafter_and_is_downloaded_with_one_button(
    page: FirstRun, work: Work, until: Until
) -> None:
    shown(page, work, until)
    card = page.cards[0]
    assert "with the MTP head" in card.text
    assert card.button.text().startswith("Download · ")
    spied = spies(page)
    card.button.click()
    told = emitted(spied)
    assert set(told) == {"download_wanted", "closed"}
    order, name = told["download_wanted"]
    assert isinstance(order, Order)
    assert order.items[0].files
    assert card.text.startswith(str(name))


def test_the_words_on_a_card_are_explained(page: FirstRun, work: Work, until: Until) -> None:
    shown(page, work, until)
    assert "quantization" in page.words.text()
    assert "drafter" in page.words.text()
    quant, drafter = page.cards[0].findChildren(Pill)
    assert drafter.text() == "MTP drafter"
    for pill, meaning in ((quant, "how many bits"), (drafter, "proposes the next tokens")):
        assert meaning in pill.toolTip()
        assert meaning in pill.accessibleDescription()
        assert meaning in page.cards[0].button.accessibleDescription()


def test_what_was_downloaded_is_opened_instead(
    page: FirstRun, work: Work, until: Until, served: HubServer
) -> None:
    shown(page, work, until)
    orders: list[Order] = []
    page.download_wanted.connect(lambda order, _name: orders.append(order))
    page.cards[0].button.click()
    get(served, order=orders[0])
    page.hide()
    shown(page, work, until)
    assert page.cards[0].button.text() == "Chat now"
    assert "It is on this computer already." in page.cards[0].text
    spied = spies(page)
    page.cards[0].button.click()
    (path,) = emitted(spied)["open_model"]
    assert Path(str(path)).is_file()


@pytest.mark.usefixtures("nowhere")
def test_offline_says_so_and_still_works_with_what_is_there(
    page: FirstRun, work: Work, until: Until, computer: Path
) -> None:
    lm_studio(computer, "Qwen3-4B-Q8_0.gguf")
    shown(page, work, until)
    assert page.trouble.isVisible()
    assert "cannot be reached. What is on this computer works all the same." in page.trouble.text
    assert [row.text for row in page.stores.rows] == [
        "Found 1 model in LM Studio Qwen3 4B Q8_0. It stays where it is; nothing is copied."
    ]
    spied = spies(page)
    page.demo.button.click()
    assert set(emitted(spied)) == {"demo_wanted", "closed"}


def test_trying_again_finds_the_hub(
    page: FirstRun,
    work: Work,
    until: Until,
    served: HubServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    shown(page, work, until)
    assert "Offline mode is on" in page.trouble.text
    monkeypatch.delenv("HF_HUB_OFFLINE")
    page.trouble.button.click()
    until(lambda: work.idle)
    assert page.cards
    assert not page.trouble.isVisible()


@pytest.mark.usefixtures("nowhere")
def test_one_model_of_another_program_is_opened_in_place(
    page: FirstRun, work: Work, until: Until, computer: Path
) -> None:
    (file,) = lm_studio(computer, "Qwen3-4B-Q8_0.gguf")
    shown(page, work, until)
    spied = spies(page)
    page.stores.rows[0].button.click()
    assert emitted(spied) == {"open_model": [str(file)], "closed": []}


@pytest.mark.usefixtures("nowhere")
def test_of_several_models_one_is_chosen(
    page: FirstRun, work: Work, until: Until, computer: Path
) -> None:
    files = lm_studio(computer, "Qwen3-4B-Q8_0.gguf", "Llama-3-8B-Q8_0.gguf")
    shown(page, work, until)
    row = page.stores.rows[0]
    assert row.text.startswith("Found 2 models in LM Studio Llama 3 8B Q8_0, Qwen3 4B Q8_0.")
    spied = spies(page)
    actions = row.button.menu().actions()
    next(each for each in actions if each.text().startswith("Qwen3 4B")).trigger()
    assert emitted(spied)["open_model"] == [str(files[0])]


@pytest.mark.usefixtures("nowhere")
def test_a_chosen_folder_is_told_and_what_is_in_it_appears(
    page: FirstRun, work: Work, until: Until, folders: list[str], own_model: Path
) -> None:
    shown(page, work, until)
    assert page.stores.text.startswith("None were found")
    page.folder_chosen.connect(folders.append)

    def choose() -> None:
        (asked,) = page.findChildren(QFileDialog)
        asked.setDirectory(str(own_model.parent))
        asked.accept()

    QTimer.singleShot(200, choose)
    page.folder.click()
    until(lambda: work.idle)
    assert folders == [str(own_model.parent)]
    assert page.stores.rows[0].text.startswith("Found 1 model in your folders")


@pytest.mark.usefixtures("nowhere")
@pytest.mark.parametrize(("way", "told"), [("browse", "browse_wanted"), ("skip", "")])
def test_every_way_out_closes_the_page(page: FirstRun, way: str, told: str) -> None:
    page.show()
    spied = spies(page)
    getattr(page, way).click()
    assert set(emitted(spied)) == {"closed", *filter(None, [told])}


def test_leaving_ends_what_is_looked_for(page: FirstRun, work: Work, until: Until) -> None:
    page.show()
    page.hide()
    until(lambda: work.idle)
    assert page.cards == []
    shown(page, work, until)
    assert page.cards


def test_the_keyboard_goes_from_top_to_bottom(
    page: FirstRun, work: Work, until: Until, computer: Path
) -> None:
    lm_studio(computer, "Qwen3-4B-Q8_0.gguf")
    shown(page, work, until)
    wanted = [card.button for card in (*page.cards, page.demo, *page.stores.rows)]
    wanted += [page.folder, page.browse, page.skip]
    page.activateWindow()
    assert QTest.qWaitForWindowActive(page)
    wanted[0].setFocus()
    reached = []
    for _ in wanted:
        reached.append(QApplication.focusWidget())
        QTest.keyClick(page, Qt.Key.Key_Tab)
    assert reached == wanted


def test_every_button_has_words_and_every_card_a_name(
    page: FirstRun, work: Work, until: Until
) -> None:
    shown(page, work, until)
    assert all(each.text() for each in visible(page))
    cards = [each for each in page.findChildren(Card) if each.isVisibleTo(page)]
    assert all(each.accessibleName() for each in cards)


@pytest.mark.parametrize("percent", [100, 150])
def test_nothing_is_wider_than_the_page(
    page: FirstRun, work: Work, until: Until, percent: int
) -> None:
    page._look.apply("dark", percent)
    shown(page, work, until)
    assert page.horizontalScrollBar().maximum() == 0
