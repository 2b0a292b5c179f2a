"""Several chats: replies go on where the user is not looking; chats are renamed and deleted."""

import threading
import time

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from chat_window import (
    LONG,
    STORY,
    Start,
    Until,
    chats_database,
    notice,
    page_text,
    say,
    send,
)
from slipstream.ui.app import Running
from slipstream.ui.engine_control import Phase


def open_chat(running: Running) -> int:
    chat = running.window.conversation.chat
    assert chat is not None
    return chat.id


def streaming(running: Running) -> bool:
    return bool(running.window.chat.transcript.current_text())


def roles(running: Running, chat_id: int) -> list[str]:
    return [each.role for each in running.store.messages(chat_id)]


def test_a_reply_goes_on_while_another_chat_is_open(demo: Running, until: Until) -> None:
    window = demo.window
    send(demo, LONG)
    until(lambda: streaming(demo))
    first = open_chat(demo)
    until(lambda: bool(window.sidebar.answering()))
    window.new_chat()
    assert page_text(demo) == ""
    assert not window.conversation.busy
    assert window.sidebar.answering() == [first]
    until(lambda: not window.sidebar.answering())
    assert page_text(demo) == ""
    reply = demo.store.messages(first)[-1]
    assert reply.finish == "stop"
    window.sidebar.chosen.emit(first)
    until(lambda: window.chat.transcript.current_text() == reply.content)


def test_a_chat_that_is_opened_again_shows_its_reply_growing(demo: Running, until: Until) -> None:
    window = demo.window
    send(demo, LONG)
    until(lambda: streaming(demo))
    first = open_chat(demo)
    window.new_chat()
    window.sidebar.chosen.emit(first)
    until(lambda: window.conversation.busy)
    assert LONG in page_text(demo)
    shown = window.chat.transcript.current_text()
    assert shown
    until(lambda: not window.conversation.busy)
    reply = demo.store.messages(first)[-1]
    assert window.chat.transcript.current_text() == reply.content
    assert len(reply.content) > len(shown)
    assert "tok/s" in page_text(demo)


def test_a_chat_that_is_read_does_not_come_back_over_a_new_one(demo: Running, until: Until) -> None:
    """Chats are read in the background: what the user did last counts."""
    window = demo.window
    say(demo, until, "Hello")
    first = open_chat(demo)
    window.new_chat()
    window.sidebar.chosen.emit(first)
    window.new_chat()
    until(lambda: demo.work.idle)
    assert window.conversation.chat is None
    assert page_text(demo) == ""


def test_two_chats_are_answered_one_after_the_other(demo: Running, until: Until) -> None:
    window = demo.window
    send(demo, LONG)
    until(lambda: streaming(demo))
    first = open_chat(demo)
    window.new_chat()
    send(demo, STORY)
    until(lambda: not window.conversation.busy)
    assert roles(demo, first) == ["user", "assistant"]
    assert demo.store.messages(first)[-1].finish == "stop"
    assert "Once upon a time" in window.chat.transcript.current_text()


def test_escape_stops_the_reply_that_is_seen_and_no_other(demo: Running, until: Until) -> None:
    window = demo.window
    send(demo, LONG)
    until(lambda: streaming(demo))
    first = open_chat(demo)
    window.new_chat()
    send(demo, STORY)
    QTest.keySequence(window, "Esc")
    until(lambda: not window.conversation.busy, 5)
    until(lambda: not window.sidebar.answering())
    assert demo.store.messages(first)[-1].finish == "stop"


def test_arrow_keys_move_in_the_list_and_enter_opens(demo: Running, until: Until) -> None:
    window = demo.window
    say(demo, until, "Hello")
    first = open_chat(demo)
    window.new_chat()
    say(demo, until, STORY)
    second = open_chat(demo)
    window.sidebar.list.setFocus()
    QTest.keyClick(window.sidebar.list, Qt.Key.Key_Down)
    assert open_chat(demo) == second
    QTest.keyClick(window.sidebar.list, Qt.Key.Key_Return)
    until(lambda: open_chat(demo) == first)


def test_delete_removes_a_chat_and_undo_brings_it_back(demo: Running, until: Until) -> None:
    window = demo.window
    say(demo, until, STORY)
    window.sidebar.list.setFocus()
    QTest.keyClick(window.sidebar.list, Qt.Key.Key_Delete)
    until(lambda: window.sidebar.titles() == [])
    assert page_text(demo) == ""
    assert STORY in notice(demo)
    assert window.notices.notice is not None
    assert window.notices.notice.button == "Undo"
    window.notices.act()
    until(lambda: window.sidebar.titles() == ["Today", STORY])


def test_a_chat_that_is_answered_can_be_deleted(demo: Running, until: Until) -> None:
    window = demo.window
    send(demo, LONG)
    until(lambda: streaming(demo) and bool(window.sidebar.answering()))
    window.sidebar.list.setFocus()
    QTest.keyClick(window.sidebar.list, Qt.Key.Key_Delete)
    until(lambda: demo.work.idle)
    until(lambda: window.sidebar.titles() == [])
    say(demo, until, "Hello")
    assert window.sidebar.titles() == ["Today", "Hello"]


def test_a_chat_is_renamed_in_its_place(demo: Running, until: Until) -> None:
    sidebar = demo.window.sidebar
    say(demo, until, STORY)
    sidebar.list.setFocus()
    QTest.keyClick(sidebar.list, Qt.Key.Key_F2)
    editor = sidebar.list.focusWidget()
    assert editor is not None
    QTest.keyClick(editor, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(editor, "A fox")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    until(lambda: sidebar.titles() == ["Today", "A fox"])
    until(lambda: demo.store.list_chats()[0].title == "A fox")


def test_a_menu_offers_to_rename_and_delete(demo: Running, until: Until) -> None:
    say(demo, until, STORY)
    sidebar = demo.window.sidebar
    menu = sidebar.menu_of(open_chat(demo))
    assert menu is not None
    assert [each.text() for each in menu.actions()] == ["Rename", "Delete"]
    menu.actions()[1].trigger()
    until(lambda: sidebar.titles() == [])


def test_a_busy_file_of_chats_does_not_stop_the_window(demo: Running, until: Until) -> None:
    other = chats_database()
    other.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    send(demo, STORY)
    assert time.monotonic() - began < 1
    assert STORY in page_text(demo)
    assert demo.window.conversation.busy
    other.execute("COMMIT")
    other.close()
    until(lambda: not demo.window.conversation.busy)
    assert "tok/s" in page_text(demo)


def test_a_question_that_cannot_be_kept_comes_back_to_the_field(
    demo: Running, until: Until
) -> None:
    say(demo, until, "Hello")
    other = chats_database()
    other.execute("PRAGMA foreign_keys = ON")
    other.execute("DELETE FROM chats")
    other.close()
    say(demo, until, STORY)
    assert "does not exist any more" in notice(demo)
    assert demo.window.chat.composer.field.toPlainText() == STORY
    until(lambda: STORY not in page_text(demo))
    demo.window.chat.composer.field.clear()
    demo.window.new_chat()
    say(demo, until, "Hello")
    other = chats_database()
    other.execute("BEGIN EXCLUSIVE")
    send(demo, STORY)  # the file is busy for longer than is waited for
    until(lambda: "busy" in notice(demo))
    other.execute("COMMIT")
    other.close()
    until(lambda: STORY not in page_text(demo))
    assert demo.window.chat.composer.field.toPlainText() == STORY
    QTest.keyClick(demo.window.chat.composer.field, Qt.Key.Key_Return)
    until(lambda: "fox named Max" in page_text(demo))


def test_writing_happens_in_a_worker_thread(
    demo: Running, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: set[threading.Thread] = set()
    changing = type(demo.store)._changing

    def watched(store: object) -> object:
        threads.add(threading.current_thread())
        return changing(store)  # type: ignore[arg-type]

    monkeypatch.setattr(type(demo.store), "_changing", watched)
    say(demo, until, "Hello")
    demo.window.new_chat()
    say(demo, until, STORY)
    demo.window.sidebar.chosen.emit(demo.store.list_chats()[1].id)
    demo.window.sidebar.delete_wanted.emit(open_chat(demo), "")
    until(lambda: demo.work.idle)
    assert threads
    assert threading.main_thread() not in threads


def test_a_last_chat_that_cannot_be_read_does_not_keep_the_model_from_opening(
    start: Start, demo: Running, until: Until
) -> None:
    say(demo, until, STORY)
    demo.window.close()
    demo.end()
    other = chats_database()
    other.execute("UPDATE messages SET pieces = 'nonsense'")
    other.close()
    again = start()
    again.window.begin("")
    until(lambda: again.control.phase is Phase.READY)
    assert "could not be read" in notice(again)
    say(again, until, "Hello")
