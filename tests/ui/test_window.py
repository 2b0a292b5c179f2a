"""The window as a whole: pages, chats, panels, keys, files that are dropped."""

from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from slipstream import paths
from slipstream.chats.store import open_chats
from slipstream.ui import window_state
from slipstream.ui.app import Running
from slipstream.ui.main_window import MainWindow
from slipstream.ui.sidebar import day_name

Start = Callable[[], Running]
Until = Callable[..., None]


def press(window: QWidget, keys: str) -> None:
    QTest.keySequence(window, keys)


def test_pages_by_key(start: Start) -> None:
    window = start().window
    press(window, "Ctrl+,")
    assert window.settings.isVisible()
    assert not window.sidebar.isVisible()
    press(window, "Ctrl+1")
    assert window.chat.isVisible()


def test_both_side_panels_can_be_hidden_and_stay_so(start: Start) -> None:
    running = start()
    window = running.window
    press(window, "Ctrl+B")
    window.chat.header.speed.click()
    assert not window.sidebar.isVisible()
    assert not window.chat.speed.isVisible()
    again = start().window
    assert again.state.sidebar  # not saved yet
    window.close()
    running.end()
    saved = window_state.load(paths.window_file())
    assert not saved.sidebar
    assert not saved.speed_panel


def test_the_speed_panel_yields_where_there_is_no_room(start: Start) -> None:
    window = start().window
    sides = (window.sidebar, window.chat.speed)
    window.resize(1280, 800)
    assert [each.isVisible() for each in sides] == [True, True]
    window.resize(760, 700)
    assert [each.isVisible() for each in sides] == [True, False]
    window.chat.header.speed.click()
    assert [each.isVisible() for each in sides] == [False, True]
    press(window, "Ctrl+B")
    assert [each.isVisible() for each in sides] == [True, False]
    window.chat.header.speed.click()
    window.resize(1280, 800)
    assert [each.isVisible() for each in sides] == [True, True]


def test_the_list_of_chats_stays_with_large_text(start: Start) -> None:
    running = start()
    window = running.window
    running.preferences.set("text_size", 150)
    window.resize(1280, 800)
    assert window.sidebar.isVisible()
    assert window.chat.header.speed.isVisible()


@pytest.mark.parametrize("percent", [100, 150])
@pytest.mark.parametrize("width", [760, 1000, 1280])
def test_the_pill_below_the_message_is_whole_while_a_reply_runs(
    start: Start, qapp: QApplication, percent: int, width: int
) -> None:
    running = start()
    composer = running.window.chat.composer
    running.preferences.set("text_size", percent)
    running.window.resize(width, 700)
    composer.show_context(1840, 131_072)
    composer.show_busy(True)
    qapp.processEvents()
    assert composer.tint.width() >= composer.tint.sizeHint().width()


@pytest.mark.parametrize("percent", [100, 150, 200])
def test_nothing_is_cut_at_a_small_size(start: Start, qapp: QApplication, percent: int) -> None:
    running = start()
    window = running.window
    running.preferences.set("text_size", percent)
    window.resize(1000, 700)
    qapp.processEvents()
    assert window.width() == 1000
    for button in window.findChildren(QAbstractButton):
        if button.isVisible() and button.text():
            assert button.width() >= button.minimumSizeHint().width(), button.text()


def test_every_control_has_a_name_for_screen_readers(start: Start) -> None:
    window = start().window
    for page in ("settings", "chat"):
        window.show_page(page)
        for button in window.findChildren(QAbstractButton):
            if button.isVisible():
                assert button.accessibleName() or button.text(), button


def test_chats_are_listed_under_their_days(start: Start) -> None:
    store = open_chats().store
    store.create_chat(title="Trip to Porto")
    store.close()
    assert start().window.sidebar.titles() == ["Today", "Trip to Porto"]
    today = date(2026, 3, 10)
    assert day_name(datetime(2026, 3, 9, 23, 59), today) == "Yesterday"
    assert day_name(datetime(2026, 3, 8, 1, 0), today) == "Earlier"


def drop(window: MainWindow, *files: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(each)) for each in files])
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dropEvent(event)


def test_a_dropped_model_is_opened(
    start: Start, until: Until, tmp_path: Path, own_model: Path
) -> None:
    running = start()
    drop(running.window, tmp_path / "a.txt", own_model)
    until(lambda: running.control.loaded is not None)
    assert running.control.loaded is not None
    assert running.control.loaded.request.model == own_model
    assert str(own_model) in running.window.state.recent


def test_a_dropped_file_that_is_no_model_is_told(
    start: Start, until: Until, tmp_path: Path
) -> None:
    window = start().window
    broken = tmp_path / "notes.gguf"
    broken.write_text("not a model")
    drop(window, broken)
    until(lambda: window.notices.notice is not None)


def test_geometry_comes_back(start: Start) -> None:
    first = start()
    first.window.resize(780, 600)
    first.window.close()
    first.end()
    again = start().window
    assert (again.width(), again.height()) == (780, 600)
