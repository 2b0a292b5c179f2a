"""The window as a whole: pages, chats, panels, keys, files that are dropped."""

from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QStyleOptionViewItem, QWidget

from slipstream import paths
from slipstream.chats.store import open_chats
from slipstream.ui import window_state
from slipstream.ui.app import Running
from slipstream.ui.chat_rows import MOMENT, Rows, day_name, moment_name
from slipstream.ui.main_window import MainWindow

Start = Callable[[], Running]
Until = Callable[..., None]


def press(window: QWidget, keys: str) -> None:
    QTest.keySequence(window, keys)


def test_pages_by_key(start: Start) -> None:
    window = start().window
    press(window, "Ctrl+,")
    assert window.pages.settings.isVisible()
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


def test_chats_are_listed_under_their_days(start: Start, until: Until) -> None:
    store = open_chats().store
    store.create_chat(title="Trip to Porto")
    store.close()
    sidebar = start().window.sidebar
    until(lambda: sidebar.titles() == ["Today", "Trip to Porto"])
    today = date(2026, 3, 10)
    assert day_name(datetime(2026, 3, 9, 23, 59), today) == "Yesterday"
    assert day_name(datetime(2026, 3, 8, 1, 0), today) == "Earlier"


def test_chats_of_one_title_are_told_apart_by_their_moment(start: Start, until: Until) -> None:
    store = open_chats().store
    for _ in range(2):
        store.create_chat(title="A story about a fox that never wants to end")
    store.close()
    rows = start().window.sidebar.list
    until(lambda: rows.count() > 0)
    moments = [rows.item(i).data(MOMENT) for i in range(rows.count())]
    assert moments == [None, *moments[1:]]  # the heading has none
    assert all(moments[1:])
    assert rows.item(1).data(Qt.ItemDataRole.AccessibleTextRole).endswith(moments[1])
    today = date(2026, 3, 10)
    assert moment_name(datetime(2026, 3, 10, 9, 5), today) == "09:05"
    assert moment_name(datetime(2026, 3, 9, 23, 59), today) == "23:59"
    assert moment_name(datetime(2026, 2, 28, 23, 59), today) == "28 Feb"
    assert moment_name(datetime(2025, 12, 31, 8, 0), today) == "31 Dec 2025"


def test_the_title_of_a_chat_stops_before_its_moment(start: Start, until: Until) -> None:
    store = open_chats().store
    store.create_chat(title="A story about a fox that never wants to end")
    store.close()
    rows = start().window.sidebar.list
    until(lambda: rows.count() > 0)
    item = rows.item(1)
    option = QStyleOptionViewItem()
    option.rect = rows.visualItemRect(item)
    delegate = rows.itemDelegate()
    assert isinstance(delegate, Rows)
    delegate.initStyleOption(option, rows.indexFromItem(item))
    assert option.text.endswith("…")
    assert QFontMetrics(option.font).horizontalAdvance(option.text) < option.rect.width() - 50


def test_the_whole_box_is_there_to_write_in(start: Start) -> None:
    composer = start().window.chat.composer
    composer.tint.setFocus()
    QTest.mouseClick(composer, Qt.MouseButton.LeftButton, pos=QPoint(composer.width() // 2, 4))
    assert composer.field.hasFocus()


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
