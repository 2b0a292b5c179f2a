"""Pasting texts with very long lines, such as Base64 or minified JSON."""

from collections.abc import Callable, Iterator
from time import perf_counter

import pytest
from PySide6.QtCore import QMimeData, QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from slipstream.ui.composer import MessageField

LONG = "x" * 1_000_000


@pytest.fixture
def field(qapp: QApplication) -> Iterator[MessageField]:
    made = MessageField()
    made.resize(QSize(600, 200))
    made.show()
    assert QTest.qWaitForWindowExposed(made)
    yield made
    made.close()


def paste(field: MessageField, text: str) -> None:
    QGuiApplication.clipboard().setText(text)
    field.paste()


def seconds(action: Callable[[], None]) -> float:
    start = perf_counter()
    action()
    QApplication.processEvents()
    return perf_counter() - start


def test_a_very_long_line_does_not_stop_the_field_and_is_sent_whole(field: MessageField) -> None:
    assert seconds(lambda: paste(field, LONG)) < 2  # it was 90
    assert seconds(lambda: QTest.keyClicks(field, " explain")) < 2  # each key took 15
    assert max(len(line) for line in field.toPlainText().split("\n")) < 100
    assert field.message == f"{LONG} explain"


@pytest.mark.parametrize(
    "text", ["a\u00a0b", "a\u2028b", f" {LONG}\n", f"{LONG}\n\n\tb", "\ufffc", "😀" * 20_000]
)
def test_text_between_other_text_is_sent_as_it_was_pasted(field: MessageField, text: str) -> None:
    QTest.keyClicks(field, "what is ")
    paste(field, text)
    QTest.keyClicks(field, " and ")
    paste(field, LONG)
    QTest.keyClicks(field, "?")
    assert field.message == f"what is {text} and {LONG}?"


def test_many_pastes_do_not_make_a_long_line(field: MessageField) -> None:
    for _ in range(20):
        paste(field, "y" * 5000)
    assert len(field.toPlainText()) < 11_000
    assert field.message == "y" * 100_000


def test_a_pasted_sign_can_be_deleted_and_brought_back(field: MessageField) -> None:
    paste(field, LONG)
    QTest.keyClick(field, Qt.Key.Key_Backspace)
    assert field.message == ""
    field.undo()
    assert field.message == LONG


def test_a_pasted_sign_is_copied_as_its_text(field: MessageField) -> None:
    paste(field, LONG)
    QTest.keyClicks(field, "!")
    field.selectAll()
    field.cut()
    assert QGuiApplication.clipboard().text() == f"{LONG}!"
    field.paste()
    assert field.message == f"{LONG}!"


def test_text_with_many_lines_stays_text(field: MessageField) -> None:
    text = "some words\n" * 5000
    data = QMimeData()
    data.setText(text)
    field.insertFromMimeData(data)
    assert field.toPlainText() == text
