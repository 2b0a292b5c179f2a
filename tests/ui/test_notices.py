"""Notices: a sentence, and on demand the facts as people read them."""

import pytest
from PySide6.QtWidgets import QApplication

from slipstream.errors import SlipstreamError
from slipstream.ui.look import Look
from slipstream.ui.widgets.notice_bar import Notice, NoticeBar, notice_of


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
