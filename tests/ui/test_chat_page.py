"""The chat with the real engine: what a user does on the chat page, and what they see."""

from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from chat_window import (
    LONG,
    STORY,
    Start,
    Until,
    choose,
    kill_engines,
    notice,
    page_text,
    say,
    send,
)
from slipstream import paths
from slipstream.chats.records import Message
from slipstream.chats.store import open_chats
from slipstream.drafters.kinds import DrafterKind
from slipstream.ui.answering import numbers_of
from slipstream.ui.app import Running
from slipstream.ui.engine_control import Phase


def said(running: Running) -> list[Message]:
    chat = running.window.conversation.chat
    assert chat is not None
    return running.store.messages(chat.id)


def roles(running: Running) -> list[str]:
    return [each.role for each in said(running)]


def test_the_first_start_is_honest_about_the_demo(demo: Running) -> None:
    chat = demo.window.chat
    assert chat.welcome.isVisible()
    assert "3 million parameters" in chat.welcome.text
    assert chat.composer.field.placeholderText() == "Message Demo"


def test_an_example_is_answered_with_its_numbers(demo: Running, until: Until) -> None:
    chat = demo.window.chat
    chat.welcome.example_chosen.emit(STORY)
    until(lambda: not demo.window.conversation.busy)
    text = page_text(demo)
    assert STORY in text
    assert "fox" in text.split(STORY)[1]
    assert "tok/s" in text
    assert "MTP, 3 draft tokens" in text
    assert len(chat.speed.shares) == 3
    assert chat.speed.accepted.endswith("%")
    assert chat.transcript.current_spans()


def test_sending_before_the_model_is_loaded_waits_for_it(start: Start, until: Until) -> None:
    running = start()
    running.window.begin("")
    send(running, STORY)
    assert running.control.phase is Phase.LOADING
    assert STORY in page_text(running)
    until(lambda: not running.window.conversation.busy)
    assert "tok/s" in page_text(running)


def test_escape_stops_at_once_and_the_text_stays(demo: Running, until: Until) -> None:
    send(demo, LONG)
    until(lambda: bool(demo.window.chat.transcript.current_text()))
    QTest.keySequence(demo.window, "Esc")
    until(lambda: not demo.window.conversation.busy, 5)
    assert demo.window.chat.transcript.current_text()
    assert "stopped" in page_text(demo)


def test_plain_and_drafted_replies_say_the_same_and_how_they_were_made(
    demo: Running, until: Until
) -> None:
    say(demo, until, STORY)
    drafted = demo.window.chat.transcript.current_text()
    demo.window.chat.speed.speculation_chosen.emit("off", 0)
    assert "Restarting without a drafter" in page_text(demo)
    until(lambda: demo.control.phase is Phase.READY)
    demo.window.new_chat()
    say(demo, until, STORY)
    assert demo.window.chat.transcript.current_text() == drafted
    assert "no drafter" in page_text(demo)
    assert demo.window.chat.speed.shares == ()


def test_another_number_of_draft_tokens_restarts_and_keeps_the_chat(
    demo: Running, until: Until
) -> None:
    say(demo, until, STORY)
    demo.window.chat.speed.speculation_chosen.emit("dflash", 5)
    until(lambda: demo.control.phase is Phase.READY)
    assert demo.control.loaded is not None
    assert demo.control.loaded.spec.kind is DrafterKind.DFLASH
    assert demo.control.loaded.spec.draft_tokens == 5
    assert STORY in page_text(demo)
    assert "Restarting" not in page_text(demo)
    assert "Restarted with DFlash, 5 draft tokens." in page_text(demo)
    say(demo, until, "Hello")
    assert page_text(demo).count("DFlash, 5 draft tokens") == 2


def test_another_way_to_speculate_while_a_reply_streams_is_told_as_it_is(
    demo: Running, until: Until
) -> None:
    send(demo, LONG)
    until(lambda: bool(demo.window.chat.transcript.current_text()))
    demo.window.chat.speed.speculation_chosen.emit("dflash", 0)
    assert "Restarting with DFlash…" in page_text(demo)
    until(lambda: "Restarted with DFlash, 5 draft tokens." in page_text(demo))
    assert "It was not restarted" not in page_text(demo)
    assert demo.window.chat.header.mode.text() == "DFlash · 5 tokens"


def test_regenerating_replaces_the_answer(demo: Running, until: Until) -> None:
    say(demo, until, STORY)
    demo.window.chat.transcript.regenerate_requested.emit()
    until(lambda: not demo.window.conversation.busy)
    assert page_text(demo).count("tok/s") == 1
    assert roles(demo) == ["user", "assistant"]


def test_a_chat_is_reopened_exactly_as_it_was(demo: Running, start: Start, until: Until) -> None:
    say(demo, until, STORY)
    seen, spans = page_text(demo), demo.window.chat.transcript.current_spans()
    demo.window.close()
    demo.end()
    again = start()
    again.window.begin("")
    until(lambda: page_text(again) == seen)
    assert again.window.chat.transcript.current_spans() == spans
    until(lambda: again.control.phase is Phase.READY)


def test_files_that_are_no_models_are_named_and_the_demo_still_works(
    demo: Running, until: Until, tmp_path: Path
) -> None:
    say(demo, until, STORY)
    text = tmp_path / "notes.gguf"
    text.write_text("These are my notes.")
    half = tmp_path / "half.gguf"
    whole = paths.resources() / "demo" / "Slipstream-Demo-3M-Q8_0.gguf"
    half.write_bytes(whole.read_bytes()[:1_000_000])
    drafter = paths.resources() / "demo" / "dflash-Slipstream-Demo-3M-Q8_0.gguf"
    sentences = set()
    for file in (text, half, drafter, tmp_path / "missing.gguf"):
        demo.window.notices.clear()
        demo.window.come_forward(str(file))
        until(lambda: bool(notice(demo)))
        sentences.add(notice(demo))
    assert len(sentences) == 4
    assert STORY in page_text(demo)
    until(lambda: demo.control.phase is not Phase.LOADING)
    if demo.control.phase is not Phase.READY:
        demo.window.notices.act()
    until(lambda: demo.control.phase is Phase.READY)
    say(demo, until, "Hello")
    assert page_text(demo).count("tok/s") == 2


def test_an_engine_that_is_killed_leaves_the_text_and_offers_a_restart(
    demo: Running, until: Until
) -> None:
    send(demo, LONG)
    until(lambda: bool(demo.window.chat.transcript.current_text()))
    kill_engines()
    until(lambda: not demo.window.conversation.busy)
    assert demo.window.chat.transcript.current_text()
    shown = demo.window.notices.notice
    assert shown is not None
    assert shown.button == "Restart"
    demo.window.sidebar.new_chat.emit()
    assert demo.window.notices.notice is shown  # it is about the engine, not about the chat
    told_while_loading: list[str] = []

    def listen() -> None:
        if demo.control.phase is Phase.LOADING:
            told_while_loading.append(notice(demo))

    demo.control.changed.connect(listen)
    say(demo, until, "Hello")  # starts the engine again too
    assert told_while_loading
    assert not any(told_while_loading)


def test_the_restart_that_is_offered_works(demo: Running, until: Until) -> None:
    kill_engines()
    until(lambda: bool(notice(demo)))
    demo.window.notices.act()
    until(lambda: demo.control.phase is Phase.READY)
    say(demo, until, "Hello")


def stored_chat(*said: tuple[str, str]) -> int:
    """A chat as an app that was killed leaves it."""
    store = open_chats().store
    chat = store.create_chat(model="demo")
    for role, text in said:
        store.add_message(chat.id, role, text)
    store.mark_opened(chat.id)
    store.close()
    return chat.id


def test_a_reply_that_was_cut_short_says_so(start: Start, until: Until) -> None:
    stored_chat(("user", STORY), ("assistant", "A fox went"))
    running = start()
    running.window.begin("")
    until(lambda: "interrupted" in page_text(running))
    assert "0 tokens" not in page_text(running)
    assert running.window.chat.composer.field.placeholderText() == "Message Demo"


def test_a_question_without_an_answer_offers_one(start: Start, until: Until) -> None:
    stored_chat(("user", STORY))
    running = start()
    running.window.begin("")
    until(lambda: "There is no answer yet." in page_text(running))
    running.window.chat.transcript.anchorClicked.emit(QUrl("slipstream:regenerate#0"))
    until(lambda: "There is no answer yet." not in page_text(running))
    until(lambda: not running.window.conversation.busy)
    assert "fox" in page_text(running).split(STORY)[1]


def test_a_prompt_longer_than_the_context_is_refused_and_nothing_is_lost(
    demo: Running, until: Until
) -> None:
    say(demo, until, "word " * 20_000)
    assert notice(demo)
    assert demo.control.phase is Phase.READY
    assert roles(demo) == ["user"]
    chat = demo.window.conversation.chat
    assert chat is not None
    demo.window.sidebar.chosen.emit(chat.id)
    until(lambda: demo.work.idle)
    assert notice(demo)
    demo.window.new_chat()
    assert not notice(demo)


def test_the_pill_above_the_chat_changes_how_it_speculates(demo: Running, until: Until) -> None:
    pill = demo.window.chat.header.mode
    assert pill.text() == "MTP · 3 tokens"
    assert pill.toolTip().startswith("MTP head inside the model, 3 draft tokens.")
    choose(pill, "Off")
    until(lambda: demo.control.phase is Phase.READY)
    assert demo.window.chat.header.mode.text() == "No drafter"
    assert demo.window.chat.speed.choice == "off"


@pytest.mark.parametrize("percent", [100, 150])
@pytest.mark.parametrize("width", [760, 1000])
def test_the_pill_above_the_chat_is_whole_where_there_is_little_room(
    demo: Running, qapp: QApplication, width: int, percent: int
) -> None:
    demo.preferences.set("text_size", percent)
    demo.window.resize(width, 700)
    qapp.processEvents()
    header = demo.window.chat.header
    for button in (header.mode, header.speed):
        assert button.isVisible()
        assert button.width() >= button.sizeHint().width()


def test_what_the_user_chose_is_still_shown_when_the_engine_has_ended(
    demo: Running, until: Until
) -> None:
    demo.window.chat.speed.speculation_chosen.emit("dflash", 5)
    until(lambda: demo.control.phase is Phase.READY)
    kill_engines()
    until(lambda: demo.control.phase is Phase.FAILED)
    assert demo.window.chat.speed.choice == "dflash"


def test_tinting_is_remembered(demo: Running, start: Start) -> None:
    demo.window.chat.composer.tint.click()
    demo.window.close()
    demo.end()
    assert start().window.chat.composer.tint.isChecked()


def test_a_reply_is_saved_while_it_grows(
    demo: Running, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slipstream.ui.answering._SAVE_EVERY", 0.05)
    send(demo, LONG)
    conversation, transcript = demo.window.conversation, demo.window.chat.transcript
    until(lambda: len(transcript.current_text()) > 100)
    assert conversation.chat is not None
    other = open_chats().store  # what a crash now would leave
    reply = other.messages(conversation.chat.id)[-1]
    other.close()
    assert conversation.busy
    assert reply.role == "assistant"
    assert reply.finish == ""
    assert reply.content
    assert sum(length for length, _ in reply.pieces) == len(reply.content)
    until(lambda: not conversation.busy)
    assert transcript.current_text().startswith(reply.content)


def test_a_finished_reply_is_kept_with_its_numbers(demo: Running, until: Until) -> None:
    say(demo, until, STORY)
    reply = said(demo)[-1]
    numbers = numbers_of(reply)
    assert numbers is not None
    assert numbers.tokens > 0
    assert reply.spec == {"kind": "mtp", "draft_tokens": 3, "fallback": None}


def test_a_long_prompt_shows_how_far_it_was_read(demo: Running, until: Until) -> None:
    seen: list[tuple[int, int]] = []
    demo.window.conversation.reading.connect(lambda done, total: seen.append((done, total)))
    send(demo, "fox " * 1_500)
    until(lambda: bool(seen) and seen[-1][0] == seen[-1][1])
    demo.window.conversation.stop()
    until(lambda: not demo.window.conversation.busy)
