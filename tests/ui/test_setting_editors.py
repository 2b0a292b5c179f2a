"""A text that is too long for its setting is not taken, and that is said."""

import time
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from slipstream.engine.model_settings import ModelSettings
from slipstream.settings import Value, declared
from slipstream.ui.look import Look
from slipstream.ui.settings_form import SettingsForm

Until = Callable[..., None]
MOST = 2_000
SAID = "At most 2,000 characters fit here: what was added last was left out."


class Form(QWidget):
    """A form with the extra arguments, and a field to go to."""

    def __init__(self) -> None:
        super().__init__()
        self.reported: list[Value] = []
        extra = [each for each in declared(ModelSettings) if each.key == "extra"]
        self.form = SettingsForm(Look(), extra, lambda _key, value: self.reported.append(value))
        self.elsewhere = QLineEdit()
        column = QVBoxLayout(self)
        column.addWidget(self.form)
        column.addWidget(self.elsewhere)

    @property
    def field(self) -> QPlainTextEdit:
        found = self.form.editors["extra"].widget
        assert isinstance(found, QPlainTextEdit)
        return found

    def said(self) -> list[str]:
        return [each.text() for each in self.findChildren(QLabel) if each.isVisible()]

    def paste(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.field.setFocus()
        QTest.keyClick(self.field, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)


@pytest.fixture
def form(qapp: QApplication) -> Iterator[Form]:
    made = Form()
    made.resize(700, 300)
    made.show()
    assert QTest.qWaitForWindowActive(made)
    yield made
    made.close()


def test_a_text_that_fits_is_pasted_and_reported(form: Form, until: Until) -> None:
    form.paste("x" * MOST)
    until(lambda: form.reported == ["x" * MOST])
    assert SAID not in form.said()


def test_a_line_that_would_stop_the_window_is_not_pasted(form: Form) -> None:
    QTest.keyClicks(form.field, "--no-warmup")
    began = time.perf_counter()
    form.paste("x" * 1_000_000)
    QApplication.processEvents()
    assert time.perf_counter() - began < 5  # it took minutes
    assert form.field.toPlainText() == "--no-warmup"
    assert SAID in form.said()
    form.elsewhere.setFocus()
    assert form.reported == ["--no-warmup"]
    assert SAID not in form.said()


def test_what_is_pasted_over_a_selection_needs_only_the_room_that_is_left(form: Form) -> None:
    form.paste("x" * MOST)
    form.field.selectAll()
    form.paste("y" * MOST)
    assert form.field.toPlainText() == "y" * MOST
    form.paste("z")
    assert form.field.toPlainText() == "y" * MOST
    assert SAID in form.said()


@pytest.mark.parametrize(("there", "typed"), [(MOST, "z"), (MOST - 1, "\N{FOX FACE}")])
def test_a_character_too_many_is_not_taken_and_the_others_stay(
    form: Form, there: int, typed: str
) -> None:
    form.paste("x" * there)
    form.field.insertPlainText(typed)  # as a keyboard or an input method does
    assert SAID in form.said()
    form.elsewhere.setFocus()
    assert form.reported == ["x" * there]


def test_a_text_that_a_program_sets_is_not_taken_either(form: Form) -> None:
    form.field.setPlainText("x" * (MOST + 1))
    form.form.flush()
    assert form.reported in ([], [""])
    assert form.field.toPlainText() == ""


def test_after_a_refusal_what_is_typed_is_taken_again(form: Form) -> None:
    form.paste("x" * MOST)
    QTest.keyClicks(form.field, "y")
    assert SAID in form.said()
    assert form.field.toPlainText() == "x" * MOST
    QTest.keyClick(form.field, Qt.Key.Key_Backspace)
    assert SAID not in form.said()
    QTest.keyClicks(form.field, "y")
    assert form.field.toPlainText() == "x" * (MOST - 1) + "y"


def test_a_refusal_is_not_shown_with_the_next_value(form: Form) -> None:
    form.paste("x" * (MOST + 1))
    assert SAID in form.said()
    form.form.flush()
    form.form.show_value("extra", "")
    assert SAID not in form.said()
