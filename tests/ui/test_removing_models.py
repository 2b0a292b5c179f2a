"""Removing models while a real engine has them loaded."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from chat_window import Until, page_text, say
from local_stores import own_stores
from slipstream.ui.app import Running
from slipstream.ui.engine_control import Phase
from slipstream.ui.picker.page import ModelsPage
from slipstream.ui.widgets.notice_bar import Notice


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    computer = tmp_path / "computer"
    computer.mkdir()
    own_stores(computer, monkeypatch)
    return computer


@pytest.fixture
def page(
    folder: Path, demo: Running, until: Until, own_model: Path, monkeypatch: pytest.MonkeyPatch
) -> ModelsPage:
    """The page with two models, one of which is loaded."""
    own_model.with_name("other.gguf").write_bytes(own_model.read_bytes()[:-100_000])
    demo.preferences.set("model_folders", (str(own_model.parent),))
    demo.window.show_page("models")
    page = demo.window.pages.models
    until(lambda: len(demo.stock.shelf.library.models) == 2)
    page.load_wanted.emit(own_model, False)
    until(lambda: demo.control.model_in_use == own_model and demo.control.phase is Phase.READY)
    demo.window.show_page("models")
    page.show_library()
    return page


def remove(demo: Running, page: ModelsPage, path: Path, until: Until) -> None:
    shelf = demo.stock.shelf
    shelf.propose(next(one for one in shelf.library.models if one.path == path))
    until(page.overview.question.remove.isVisible)
    page.overview.question.remove.click()


def test_undo_at_once_loads_the_model_again(
    demo: Running, page: ModelsPage, own_model: Path, until: Until
) -> None:
    remove(demo, page, own_model, until)
    demo.window.notices.act()
    until(lambda: demo.control.phase is Phase.READY and demo.control.model_in_use == own_model)
    assert own_model.exists()


def test_the_loaded_model_and_another_one_can_be_removed_at_once(
    demo: Running, page: ModelsPage, own_model: Path, until: Until
) -> None:
    other = own_model.with_name("other.gguf")
    remove(demo, page, own_model, until)
    remove(demo, page, other, until)
    until(lambda: not own_model.exists())
    until(lambda: demo.work.idle)
    assert other.exists()
    demo.window.show_notice(Notice("Something else happened."))
    undo = next(one for one in demo.window.notices.shown if one.undoes == "model")
    assert undo.act is not None
    undo.act()
    assert [one.path for one in demo.stock.shelf.library.models] == [other]


def test_removing_the_loaded_model_and_quitting_removes_it(
    demo: Running, page: ModelsPage, own_model: Path, until: Until
) -> None:
    remove(demo, page, own_model, until)
    demo.window.close()
    demo.end()
    assert not own_model.exists()


def test_the_question_and_undo_are_at_the_keyboard(
    demo: Running, page: ModelsPage, own_model: Path, until: Until
) -> None:
    other = own_model.with_name("other.gguf")
    question = page.overview.question
    page.overview.list.select(str(other))
    page.overview.list.setFocus()
    QTest.keyClick(page.overview.list, Qt.Key.Key_Delete)
    until(question.keep.hasFocus)
    QTest.keyClick(question.keep, Qt.Key.Key_Escape)
    assert not question.isVisible()
    page.overview.list.setFocus()
    QTest.keyClick(page.overview.list, Qt.Key.Key_Delete)
    until(question.keep.hasFocus)
    question.remove.setFocus()
    QTest.keyClick(question.remove, Qt.Key.Key_Return)
    undo = demo.window.focusWidget()
    assert isinstance(undo, QPushButton)
    assert undo.text() == "Undo"
    QTest.keyClick(undo, Qt.Key.Key_Return)
    assert len(demo.stock.shelf.library.models) == 2
    assert other.exists()


def test_a_model_is_talked_to_in_a_chat_of_its_own(
    demo: Running, page: ModelsPage, own_model: Path, until: Until
) -> None:
    demo.window.show_page("chat")
    say(demo, until, "Hello")
    begun = demo.window.conversation.chat
    demo.window.show_page("models")
    page.load_wanted.emit(own_model, False)
    assert "Hello" not in page_text(demo)
    say(demo, until, "Hello again")
    now = demo.window.conversation.chat
    assert begun is not None
    assert now is not None
    assert now.id != begun.id
