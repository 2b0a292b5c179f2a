"""The Models page as a newcomer uses it: from a search to a chat, with a real Hub and engine."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QWidget

from chat_window import Until, choose, notice, page_text, say
from downloading import item_of
from hub_server import HubServer
from hub_server.layouts import drafter_only, gated, mtp_folder, quantizations, root_mtp, sisters
from local_stores import own_stores
from slipstream.drafters.kinds import DrafterKind
from slipstream.engine.model_records import save_settings, settings_of
from slipstream.engine.model_settings import ModelSettings
from slipstream.hub.downloads.orders import Order
from slipstream.hub.reference import resolve
from slipstream.ui.app import Running
from slipstream.ui.engine_control import Phase
from slipstream.ui.picker.finder import Tab
from slipstream.ui.picker.model_look import Model, Stage
from slipstream.ui.picker.page import ModelsPage
from slipstream.ui.widgets.eliding_button import ElidingButton

REPO = "slipstream-demo/Slipstream-Demo-3M-GGUF"
GATED = "gated/Slipstream-Demo-3M-GGUF"
DRAFTERS = "drafters/Slipstream-Demo-3M-DFlash-GGUF"
SISTER = "sisters/Slipstream-Demo-3M-GGUF"


@pytest.fixture(autouse=True)
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """A Hub with a few repositories, and a computer without models."""
    folder = tmp_path / "computer"
    folder.mkdir()
    own_stores(folder, monkeypatch)
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")
    with HubServer(quantizations(), gated(), drafter_only(), *sisters()) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        yield server


@pytest.fixture
def page(demo: Running, until: Until) -> ModelsPage:
    """The page, with what the Hub has for this computer."""
    demo.window.resize(1280, 800)
    demo.window.show_page("models")
    page = demo.window.pages.models
    until(lambda: bool(page.finder.results.names()))
    return page


def shown(page: ModelsPage, until: Until, repo: str = REPO) -> ModelsPage:
    """The page of a repository, when there is no more to find out."""
    page.show_repository(repo)
    until(lambda: page.model.stage in (Stage.SHOWN, Stage.FAILED))
    until(lambda: not page.model.looking_further)
    return page


def totals(page: ModelsPage) -> list[int]:
    return [row.line.plan.placement.need.total for row in page.view.rows.rows if row.line]


def test_from_a_search_to_a_chat_with_the_drafter(
    demo: Running, page: ModelsPage, until: Until
) -> None:
    QTest.keyClicks(page.finder.field, "demo-3m")
    QTest.keyClick(page.finder.field, Qt.Key.Key_Return)
    until(lambda: "Slipstream-Demo-3M-GGUF" in page.finder.results.names())
    page.finder.results.choose(REPO)
    until(lambda: page.model.stage is Stage.SHOWN)
    assert page.view.banner.headline.text().startswith("Q4_0 fits in main memory with 4k context")
    assert page.view.banner.buttons.words()[0].startswith("Download · ")
    page.view.banner.buttons.press()
    until(lambda: not page.tray.isHidden() and not page.tray.chat.isHidden())
    assert "Chat now" in page.tray.chat.text()
    page.tray.chat.click()
    until(
        lambda: demo.control.phase is Phase.READY and "Q4_0" in demo.window.chat.header.model_text
    )
    say(demo, until, "Tell me a story about a fox.")
    loaded = demo.control.loaded
    assert loaded is not None
    assert loaded.spec.kind is DrafterKind.MTP
    assert "accepted" in page_text(demo)


def test_the_slider_moves_every_bar_and_the_engine_confirms(page: ModelsPage, until: Until) -> None:
    shown(page, until)
    before = totals(page)
    page.view.knobs.slider.setValue(0)
    until(lambda: all(new < old for new, old in zip(totals(page), before, strict=True)))
    until(lambda: page.model.picture is not None and page.model.picture.exact)
    assert page.model.picture is not None
    assert page.model.picture.knobs.context == 2048


def test_another_drafter_and_none_change_what_is_planned_and_downloaded(
    page: ModelsPage, until: Until
) -> None:
    shown(page, until)
    chip = next(c for c in page.view.drafters.chips() if c.text().startswith("DFlash, dflash-"))
    chip.click()
    line = page.view.line
    assert line is not None
    until(lambda: page.view.line is not None and page.view.line.plan.setup.spec.kind == "dflash")
    order = page.model.order(page.view.line) if page.view.line else None
    assert order is not None
    assert order.pairing is not None
    assert order.pairing.path.startswith("dflash-")
    choose(page.view.knobs.drafter, "No drafter")
    until(lambda: page.view.line is not None and page.view.line.plan.setup.spec.kind is None)
    order = page.model.order(page.view.line) if page.view.line else None
    assert order is not None
    assert order.pairing is None


def test_a_drafter_of_another_repository_is_named_with_it(page: ModelsPage, until: Until) -> None:
    shown(page, until, SISTER)
    assert any(
        "sisters/Slipstream-Demo-3M-MTP-GGUF" in chip.text() for chip in page.view.drafters.chips()
    )


def test_a_row_opens_its_breakdown_and_reads_as_text(page: ModelsPage, until: Until) -> None:
    shown(page, until)
    row = page.view.rows.rows[-1]
    assert row.line is not None
    assert "gigabytes" in row.accessibleName()
    row.setFocus()
    QTest.keyClick(row, Qt.Key.Key_Space)
    text = page.view.rows.breakdown.text
    for part in ("weights", "context", "compute", "drafter", "kept free", "Laid out by the engine"):
        assert part in text
    assert page.view.rows.breakdown.buttons.words()[0].startswith("Download · ")
    QTest.keyClick(row, Qt.Key.Key_Space)
    assert page.view.rows.breakdown.isHidden()


def test_a_model_on_this_computer_is_loaded_as_its_knobs_stand(
    demo: Running, page: ModelsPage, until: Until, own_model: Path
) -> None:
    demo.preferences.set("model_folders", (str(own_model.parent),))
    until(lambda: len(demo.stock.shelf.library.models) == 1)
    page.show_model(Model(demo.stock.shelf.library.models[0], demo.stock.shelf.library, "My own"))
    until(lambda: page.model.stage is Stage.SHOWN)
    assert page.view.banner.buttons.words() == ["Chat"]
    page.view.knobs.slider.setValue(0)
    choose(page.view.knobs.kv_type, "q8_0")
    until(lambda: page.model.picture is not None and page.model.picture.knobs.kv_type == "q8_0")
    page.view.banner.buttons.press()
    until(lambda: demo.control.model_in_use == own_model and demo.control.phase is Phase.READY)
    assert demo.control.loaded is not None
    assert demo.control.loaded.context == 2048
    assert settings_of(own_model).kv_type == "q8_0"


def test_what_was_downloaded_is_loaded_and_set_from_its_page(
    demo: Running, page: ModelsPage, until: Until
) -> None:
    shown(page, until)
    page.view.banner.buttons.press()
    until(lambda: page.view.banner.buttons.words() == ["Chat"])
    page.view.settings.click()
    until(lambda: "Q4_0.gguf" in page.settings.command.toPlainText())
    page.settings.closed.emit()
    page.view.banner.buttons.press()
    until(lambda: "Q4_0" in demo.window.chat.header.model_text)
    until(lambda: demo.control.phase is Phase.READY)
    loaded = demo.control.model_in_use
    assert loaded is not None
    assert loaded.name == "Slipstream-Demo-3M-Q4_0.gguf"


def test_settings_are_those_of_the_quantization_that_is_loaded(
    demo: Running, page: ModelsPage, until: Until
) -> None:
    shown(page, until)
    for label in ("Q4_0", "F16"):
        row = next(one for one in page.view.rows.rows if one.line and one.line.label == label)
        row.click()
        page.view.rows.breakdown.buttons.press()
    until(lambda: len(demo.stock.shelf.library.models) == 2)
    loaded = next(one.path for one in demo.stock.shelf.library.models if one.quant == "F16")
    page.load_wanted.emit(loaded, False)
    until(lambda: demo.stock.shelf.loaded == loaded and demo.control.phase is Phase.READY)
    demo.window.show_page("models")
    page.view.settings.click()
    until(lambda: "F16.gguf" in page.settings.command.toPlainText())


def test_a_file_that_another_program_deleted_can_be_downloaded_again(
    page: ModelsPage, until: Until
) -> None:
    shown(page, until)
    page.view.banner.buttons.press()
    until(lambda: page.view.banner.buttons.words() == ["Chat"])
    line = page.view.line
    assert line is not None
    assert line.path is not None
    line.path.resolve().unlink()
    page.view.banner.buttons.press()
    until(lambda: page.view.banner.buttons.words()[:1] == ["Download · 2 MB"])


def test_what_another_repository_brought_is_added_without_a_download(
    demo: Running, page: ModelsPage, until: Until, hub: HubServer
) -> None:
    for repo in (root_mtp(), mtp_folder()):
        hub.repos[repo.id] = repo
    shown(page, until, root_mtp().id)
    page.view.banner.buttons.press()
    until(lambda: page.view.banner.buttons.words() == ["Chat"])
    shown(page, until, mtp_folder().id)
    page.view.knobs.projector.click()
    until(lambda: page.view.banner.buttons.words() == ["Add · nothing to download"])
    page.view.banner.buttons.press()
    until(lambda: page.view.banner.buttons.words() == ["Chat"])
    page.view.banner.buttons.press()
    until(lambda: "Slipstream-Demo-3M" in str(demo.control.model_in_use))
    until(lambda: demo.control.phase is Phase.READY)
    assert demo.control.loaded is not None
    assert demo.control.loaded.spec.kind is DrafterKind.MTP


def test_a_row_that_is_open_is_not_open_on_the_next_model(page: ModelsPage, until: Until) -> None:
    shown(page, until)
    page.view.rows.rows[1].click()
    assert page.view.rows.breakdown.isVisible()
    shown(page, until, SISTER)
    assert page.view.rows.breakdown.isHidden()
    assert page.view.rows.chosen is None


def test_a_damaged_model_is_not_recommended(
    demo: Running, page: ModelsPage, until: Until, own_model: Path
) -> None:
    own_model.write_bytes(own_model.read_bytes()[:-100_000])
    demo.preferences.set("model_folders", (str(own_model.parent),))
    until(lambda: len(demo.stock.shelf.library.models) == 1)
    page.show_model(Model(demo.stock.shelf.library.models[0], demo.stock.shelf.library, "My own"))
    until(lambda: page.model.stage is Stage.FAILED)
    assert "cannot be run" in page.view.trouble.text
    assert "incomplete" in page.view.trouble.text


def test_undoing_a_removal_loads_the_model_again(
    demo: Running, page: ModelsPage, until: Until, own_model: Path
) -> None:
    demo.preferences.set("model_folders", (str(own_model.parent),))
    until(lambda: len(demo.stock.shelf.library.models) == 1)
    page.load_wanted.emit(own_model, False)
    until(lambda: demo.control.model_in_use == own_model and demo.control.phase is Phase.READY)
    demo.window.show_page("models")
    page.show_library()
    demo.stock.shelf.propose(demo.stock.shelf.library.models[0])
    until(page.overview.question.remove.isVisible)
    page.overview.question.remove.click()
    until(lambda: demo.control.phase is Phase.EMPTY)
    demo.window.notices.act()
    until(lambda: demo.control.model_in_use == own_model and demo.control.phase is Phase.READY)


def test_keys_are_enough_from_a_search_to_a_chat(
    demo: Running, page: ModelsPage, until: Until
) -> None:
    def press(*keys: Qt.Key) -> None:
        for key in keys:
            at = demo.window.focusWidget()
            assert at is not None
            QTest.keyClick(at, key)

    def tab_to(wanted: Callable[[QWidget], bool]) -> None:
        for _ in range(60):
            at = demo.window.focusWidget()
            assert at is not None
            assert at.accessibleName() or getattr(at, "text", str)(), f"{at} has no name"
            if wanted(at):
                return
            press(Qt.Key.Key_Tab)
        raise AssertionError("the key Tab does not lead there")

    page.focus_search()
    QTest.keyClicks(page.finder.field, REPO)
    until(lambda: page.finder.results.names()[:1] == ["Slipstream-Demo-3M-GGUF"])
    press(Qt.Key.Key_Down, Qt.Key.Key_Return)
    until(lambda: page.model.stage is Stage.SHOWN and not page.model.looking_further)
    tab_to(lambda at: at is page.view.banner.buttons.buttons[0])
    press(Qt.Key.Key_Return)
    until(page.tray.chat.isVisible)
    tab_to(lambda at: at is page.tray.chat)
    press(Qt.Key.Key_Space)
    until(lambda: demo.control.phase is Phase.READY and demo.control.model_in_use is not None)
    until(lambda: "Q4_0" in demo.window.chat.header.model_text)
    assert demo.window.focusWidget() is demo.window.chat.composer.field
    say(demo, until, "Tell me a story about a fox.")


def test_the_card_of_a_model_is_read_as_text(page: ModelsPage, until: Until) -> None:
    shown(page, until)
    page.view.card.click()
    until(page.card.transcript.isVisible)
    assert "It shows how things work" in page.card.transcript.toPlainText()
    page.card.closed.emit()
    assert page.view.isVisible()


@pytest.mark.parametrize("text", ["> " * 30_000, "[" * 15_000])
def test_a_card_that_takes_long_to_format_is_read_as_it_was_written(
    page: ModelsPage, until: Until, hub: HubServer, text: str
) -> None:
    hub.repos[REPO].card = f"# A long card\n{text}"
    shown(page, until)
    page.view.card.click()
    until(page.card.plain.isVisible)
    assert page.card.plain.toPlainText().startswith(f"# A long card\n{text[:9]}")


def test_the_buttons_stand_below_the_recommendation_where_there_is_no_room(
    demo: Running, page: ModelsPage, until: Until
) -> None:
    shown(page, until)
    banner = page.view.banner
    assert banner.buttons.x() > banner.headline.geometry().right()
    demo.window.resize(1000, 700)
    demo.preferences.set("text_size", 150)
    until(lambda: banner.buttons.y() > banner.headline.geometry().bottom())


def test_a_gated_repository_says_what_to_do(page: ModelsPage, until: Until) -> None:
    shown(page, until, GATED)
    assert page.model.stage is Stage.FAILED
    assert "accepted its conditions" in page.view.trouble.text
    buttons = [button.text() for button in page.view.trouble.buttons()]
    assert buttons == ["Enter a token", "Open its page", "Try again"]


def test_a_repository_of_drafters_leads_to_its_model(page: ModelsPage, until: Until) -> None:
    shown(page, until, DRAFTERS)
    assert "has drafters only" in page.view.trouble.text
    (search,) = page.view.trouble.buttons()
    assert search.text() == "Search for “Slipstream Demo 3M”"
    search.click()
    assert page.finder.field.text() == "Slipstream Demo 3M"


def test_a_download_waits_for_the_drafter_that_is_still_looked_for(
    demo: Running, page: ModelsPage, until: Until, hub: HubServer
) -> None:
    hub.faults.latency = 0.5
    page.show_repository(SISTER)
    until(lambda: page.model.stage is Stage.SHOWN)
    assert page.model.looking_further
    page.view.banner.buttons.press()
    assert page.view.banner.buttons.words() == ["Finding its drafter… · download now"]
    hub.faults.latency = 0
    until(
        lambda: (
            bool(page.view.banner.buttons.words()) and "Chat" in page.view.banner.buttons.words()
        )
    )
    (one,) = demo.stock.board.standings
    assert [item.repo for item in one.entry.record.order.items] == [
        SISTER,
        "sisters/Slipstream-Demo-3M-MTP-GGUF",
    ]


def test_what_is_shown_stays_when_the_hub_goes_away(
    demo: Running, page: ModelsPage, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown(page, until)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    page.model.again()
    until(lambda: not page.model.looking_further)
    assert page.model.stage is Stage.SHOWN
    assert page.view.banner.headline.isVisible()
    assert "cannot be reached" in notice(demo)


def test_a_hub_that_is_away_is_told_and_asked_again(
    page: ModelsPage, until: Until, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    shown(page, until)
    assert "cannot be reached" in page.view.trouble.text
    page.finder.field.setText("fox")
    until(lambda: "cannot be reached" in page.finder.trouble.text)
    again, here = page.finder.trouble.buttons()
    assert (again.text(), here.text()) == ("Try again", "Show what is on this computer")
    monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
    next(b for b in page.view.trouble.buttons() if b.text() == "Try again").click()
    until(lambda: page.model.stage is Stage.SHOWN)


def test_what_was_looked_at_is_listed_again_after_a_restart(
    demo: Running, page: ModelsPage, until: Until, start: Callable[..., Running]
) -> None:
    shown(page, until)
    demo.window.close()
    demo._save_state()
    again = start()
    again.window.show_page("models")
    finder = again.window.pages.models.finder
    finder.tab_chosen.emit(Tab.RECENT)
    assert finder.results.names()[:1] == ["Slipstream-Demo-3M-GGUF"]


def test_the_card_is_shown_as_text(page: ModelsPage, until: Until, hub: HubServer) -> None:
    hub.repos[REPO].card = "# About\n\nA small model. ![picture](https://example.org/x.png)"
    shown(page, until)
    page.view.card.click()
    until(lambda: "A small model." in page.card.transcript.plain_text())
    page.card.closed.emit()
    assert page.view.isVisible()


def test_settings_of_a_model_make_its_command(
    demo: Running, page: ModelsPage, until: Until
) -> None:
    path = resolve("demo")
    page.show_settings(path, "Demo")
    until(lambda: "--ctx-size" in page.settings.command.toPlainText())
    context = page.settings.form.editors["context"].widget
    context.setValue(1024)  # type: ignore[attr-defined]
    until(lambda: "--ctx-size 1024" in page.settings.command.toPlainText())
    assert settings_of(path).context == 1024
    assert notice(demo) == "This takes effect when the model is loaded again."
    page.settings.form.editors["extra"].widget.setPlainText("--port 80")  # type: ignore[attr-defined]
    until(lambda: "--port" in page.settings.trouble.text())
    assert not page.settings.command.toPlainText()
    page.settings.reset.click()
    until(lambda: "--ctx-size" in page.settings.command.toPlainText())
    assert settings_of(path).context is None


def test_a_folder_that_is_dropped_is_asked_about_and_shown(
    demo: Running, until: Until, own_model: Path
) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(own_model.parent))])
    drop(demo, data)
    until(lambda: "holds models" in notice(demo))
    demo.window.notices.act()
    assert str(own_model.parent) in demo.preferences.values.model_folders
    until(lambda: len(demo.stock.shelf.library.models) == 1)
    assert demo.window.pages.models.overview.isVisible()


def drop(running: Running, data: QMimeData) -> None:
    event = QDropEvent(
        QPointF(10, 10),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    running.window.dropEvent(event)


def test_the_first_steps_are_shown_once(
    start: Callable[..., Running], until: Until, home: Path
) -> None:
    state = home / "config" / "window.json"
    state.write_text(json.dumps({**json.loads(state.read_text()), "welcomed": False}))
    first = start()
    first.window.begin("")
    assert not first.window.chat.isVisible()
    until(lambda: first.control.phase is Phase.READY)  # the demo is ready at once
    steps = first.window.pages.first_steps
    assert steps is not None
    QTest.mouseClick(steps.skip, Qt.MouseButton.LeftButton)
    assert first.window.chat.isVisible()
    first.window.close()
    first.end()
    again = start()
    again.window.begin("")
    assert again.window.chat.isVisible()


def test_a_folder_chosen_on_the_first_page_is_shown_there(
    start: Callable[..., Running], until: Until, own_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = start()
    running.window.pages.welcome()
    steps = running.window.pages.first_steps
    assert steps is not None
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_args: str(own_model.parent))
    steps.folder.click()
    until(lambda: any("My Own 3M" in row.accessibleName() for row in steps.stores.rows))
    assert running.preferences.values.model_folders == (str(own_model.parent),)
    assert running.window.pages.currentWidget() is steps
    steps.folder.click()
    assert running.preferences.values.model_folders == (str(own_model.parent),)


def test_a_download_of_the_first_page_goes_on_and_says_where_it_is_seen(
    start: Callable[..., Running], hub: HubServer
) -> None:
    running = start()
    running.window.pages.welcome()
    steps = running.window.pages.first_steps
    assert steps is not None
    order = Order((item_of(hub.repos[REPO]),))
    steps.download_wanted.emit(order, "Demo 3M")
    steps.skip.click()
    assert running.window.chat.isVisible()
    assert notice(running).startswith("Demo 3M is being downloaded")
    running.window.notices.act()
    assert running.window.pages.models.downloads.isVisible()


def test_leaving_the_first_steps_by_the_rail_is_leaving_them(
    start: Callable[..., Running], home: Path
) -> None:
    state = home / "config" / "window.json"
    state.write_text(json.dumps({**json.loads(state.read_text()), "welcomed": False}))
    running = start()
    running.window.begin("")
    running.window.show_page("settings")
    assert running.window.pages.first_steps is None
    assert running.window.state.welcomed
    running.window.pages.settings.first_steps_wanted.emit()
    running.window.pages.settings.first_steps_wanted.emit()
    assert running.window.pages.currentWidget() is running.window.pages.first_steps


def test_a_knob_does_not_wait_for_other_repositories(
    page: ModelsPage, until: Until, hub: HubServer
) -> None:
    page.show_repository(SISTER)
    until(lambda: page.model.picture is not None and page.model.picture.exact)
    hub.faults.latency = 5  # what is asked of the Hub from now on takes that long
    began = time.monotonic()
    choose(page.view.knobs.kv_type, "q8_0")
    until(lambda: page.model.picture is not None and page.model.picture.knobs.kv_type == "q8_0")
    assert page.model.looking_further
    assert time.monotonic() - began < hub.faults.latency
    hub.faults.latency = 0


def test_what_is_found_out_later_is_shown_for_the_knobs_as_they_stand(
    page: ModelsPage, until: Until
) -> None:
    page.show_repository(SISTER)
    until(lambda: page.model.stage is Stage.SHOWN)
    page.view.knobs.slider.setValue(1)
    until(lambda: not page.model.looking_further)
    until(lambda: page.model.picture is not None and page.model.picture.exact)
    assert page.model.picture is not None
    assert page.model.picture.knobs.context == 3072
    assert any(option.repo for option in page.model.picture.drafters)


def test_searching_from_the_models_here_searches_the_hub(
    demo: Running, page: ModelsPage, until: Until
) -> None:
    page.show_library()
    demo.window.pages.search()
    QTest.keyClicks(page.finder.field, "demo-3m")
    until(lambda: "Slipstream-Demo-3M-GGUF" in page.finder.results.names())
    assert page.finder.tab is Tab.FOUND


def test_delete_in_the_list_on_the_left_asks_where_it_can_be_seen(
    demo: Running, page: ModelsPage, until: Until, own_model: Path
) -> None:
    demo.preferences.set("model_folders", (str(own_model.parent),))
    until(lambda: len(demo.stock.shelf.library.models) == 1)
    page.finder.tab_chosen.emit(Tab.HERE)
    page.show_model(Model(demo.stock.shelf.library.models[0], demo.stock.shelf.library))
    demo.stock.shelf.propose(demo.stock.shelf.library.models[0])
    until(lambda: page.overview.question.isVisible())


def test_what_is_typed_into_a_setting_is_kept_whatever_is_done_next(
    page: ModelsPage, until: Until, own_model: Path
) -> None:
    page.show_settings(own_model, "My own")
    until(page.settings.form.isEnabled)
    form = page.settings.form
    form.editors["chat_template"].widget.setPlainText("{{ messages }}")  # type: ignore[attr-defined]
    form.editors["context"].widget.setValue(1024)  # type: ignore[attr-defined]
    page.show_settings(resolve("demo"), "Demo")
    until(lambda: settings_of(own_model).chat_template == "{{ messages }}")
    assert settings_of(own_model).context == 1024
    assert not settings_of(resolve("demo")).chat_template


def test_what_was_typed_last_is_kept_when_the_window_is_closed_at_once(
    demo_alone: Running, until: Until, own_model: Path
) -> None:
    demo_alone.window.show_page("models")
    page = demo_alone.window.pages.models
    page.show_settings(own_model, "My own")
    until(page.settings.form.isEnabled)
    page.settings.form.editors["chat_template"].widget.setPlainText("{{ last }}")  # type: ignore[attr-defined]
    demo_alone.window.close()
    demo_alone.end()
    assert settings_of(own_model).chat_template == "{{ last }}"


def test_what_is_missing_comes_with_the_knobs_as_they_stand(
    demo: Running, page: ModelsPage, until: Until
) -> None:
    shown(page, until)
    page.view.banner.buttons.press()
    until(lambda: page.view.banner.buttons.words() == ["Chat"])
    until(lambda: len(demo.stock.shelf.library.models) == 1)
    until(lambda: not page.model.looking_further)

    def dflash() -> list[ElidingButton]:
        return [c for c in page.view.drafters.chips() if c.text().startswith("DFlash, dflash-")]

    until(lambda: bool(dflash()))
    dflash()[0].click()
    choose(page.view.knobs.kv_type, "q8_0")
    until(lambda: any("Get what is missing" in each for each in page.view.banner.buttons.words()))
    until(lambda: page.model.picture is not None and page.model.picture.knobs.kv_type == "q8_0")
    page.view.banner.buttons.press(1)
    until(lambda: page.view.banner.buttons.words() == ["Chat"])
    page.load_wanted.emit(page.view.line.path if page.view.line else None, False)
    until(lambda: demo.control.phase is Phase.READY and demo.control.loaded is not None)
    assert demo.control.loaded is not None
    assert demo.control.loaded.spec.kind is DrafterKind.DFLASH
    assert demo.control.model_in_use is not None
    assert settings_of(demo.control.model_in_use).kv_type == "q8_0"


def test_a_kind_that_the_settings_name_is_shown_as_chosen(
    demo: Running, page: ModelsPage, until: Until, own_model: Path
) -> None:
    save_settings(own_model, ModelSettings(spec=DrafterKind.MTP))
    demo.preferences.set("model_folders", (str(own_model.parent),))
    until(lambda: len(demo.stock.shelf.library.models) == 1)
    page.show_model(Model(demo.stock.shelf.library.models[0], demo.stock.shelf.library, "My own"))
    until(lambda: page.model.stage is Stage.SHOWN)
    assert page.view.knobs.drafter.text() == "MTP head, inside the file"
