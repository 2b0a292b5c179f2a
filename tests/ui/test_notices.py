"""Notices: a sentence, and on demand the facts as people read them."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QApplication

from slipstream.errors import SlipstreamError
from slipstream.ui.look import Look
from slipstream.ui.widgets import notice_bar
from slipstream.ui.widgets.notice_bar import (
    Level,
    Notice,
    NoticeBar,
    Notices,
    notice_of,
    warning_of,
)
from slipstream.ui.widgets.trouble import Trouble


@pytest.fixture
def bar(qapp: QApplication) -> NoticeBar:
    made = NoticeBar(Look())
    made.show()
    return made


def test_facts_are_words_and_sizes_and_only_shown_when_asked_for(bar: NoticeBar) -> None:
    error = SlipstreamError(
        "not_enough_memory",
        "There is not enough memory.",
        facts={"needed": 5_000_000_000, "free": None, "log": "loading\nout of memory"},
        action="Close other programs.",
    )
    bar.show_notice(notice_of(error))
    assert bar.details_text == ""
    bar.details.click()
    assert bar.details_text == "Needed: 5.0 GB\nloading\nout of memory"


def test_without_facts_there_are_no_details(bar: NoticeBar) -> None:
    error = SlipstreamError("x", "It broke.", facts={"free": None}, action="Try again.")
    bar.show_notice(notice_of(error))
    assert not bar.details.isVisible()


def test_news_does_not_take_the_way_back_away(qapp: QApplication) -> None:
    notices = Notices(Look())
    notices.show()
    undone: list[str] = []
    removed = Notice(
        "x was removed.", button="Undo", undoes="model", act=lambda: undone.append("x")
    )
    chat = Notice("The chat was deleted.", button="Undo", undoes="chat")
    news = Notice("y was downloaded.")
    for each in (removed, chat, news):
        notices.show_notice(each)
    assert list(notices.shown) == [news, removed, chat]
    other = replace(removed, text="y was removed.")
    notices.show_notice(other)
    assert list(notices.shown) == [news, other, chat]
    notices.withdraw(chat)
    assert list(notices.shown) == [news, other]
    notices.act()
    assert undone == ["x"]
    assert notices.notice is news


def test_the_way_back_is_not_offered_for_ever(
    qapp: QApplication, until: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notice_bar, "UNDO_MS", 20)
    notices = Notices(Look())
    news = Notice("y was downloaded.")
    notices.show_notice(Notice("The chat was deleted.", button="Undo", undoes="chat"))
    notices.show_notice(news)
    until(lambda: notices.shown == (news,))


@pytest.mark.parametrize(
    ("about", "opened", "stays"),
    [
        (None, 7, True),  # about the engine
        (None, None, True),
        (7, 7, True),
        (7, 8, False),
        (7, None, False),  # a new chat
        (0, None, False),  # a chat that was never kept
        (0, 7, False),
    ],
)
def test_what_is_about_a_chat_goes_when_another_one_is_opened(
    bar: NoticeBar, about: int | None, opened: int | None, stays: bool
) -> None:
    bar.show_notice(Notice("It did not work.", chat_id=about))
    bar.enter_chat(opened)
    assert bar.isVisible() is stays


def test_what_was_refused_is_a_warning_and_a_bug_is_not() -> None:
    refused = SlipstreamError("x", "It is in use.", action="Close it.")
    assert warning_of(refused).level is Level.WARNING
    assert warning_of(KeyError("x")).level is Level.ERROR


def test_a_failure_that_is_told_again_keeps_the_button_somebody_may_be_on(
    qapp: QApplication,
) -> None:
    done: list[str] = []
    trouble = Trouble()
    error = SlipstreamError("x", "It broke.", action="Try again.")
    trouble.show_error(error, [("Try again", lambda: done.append("once"))])
    (button,) = trouble.buttons()
    trouble.show_error(error, [("Try again", lambda: done.append("again"))])
    assert trouble.buttons() == [button]
    button.click()
    assert done == ["again"]
    trouble.show_error(error, [("Open its page", done.clear)], about="Some model")
    assert [each.accessibleName() for each in trouble.buttons()] == ["Open its page: Some model"]
