"""The settings page follows the declaration, and changes apply at once."""

from collections.abc import Callable

from PySide6.QtWidgets import QApplication, QPushButton, QSpinBox

from chat_window import choose
from slipstream import settings
from slipstream.settings import Kind, declared
from slipstream.ui.app import Running
from slipstream.ui.theme import DARK
from slipstream.ui.widgets.choice import ChoiceButton

Start = Callable[[], Running]


def test_every_declared_setting_has_an_editor(start: Start) -> None:
    page = start().window.pages.settings
    assert list(page.editors) == [setting.key for setting in declared()]


def test_the_theme_changes_at_once_and_is_kept(start: Start, qapp: QApplication) -> None:
    running = start()
    editor = running.window.pages.settings.editors["theme"].widget
    assert isinstance(editor, ChoiceButton)
    choose(editor, "Dark")
    assert qapp.palette().window().color().name() == DARK.page
    assert settings.load().settings.theme == "dark"


def test_the_text_grows_at_once(start: Start, qapp: QApplication) -> None:
    running = start()
    box = running.window.pages.settings.editors["text_size"].widget
    assert isinstance(box, QSpinBox)
    box.setValue(150)
    assert qapp.font().pixelSize() == 21
    box.setValue(100)
    assert qapp.font().pixelSize() == 14


def test_numbers_are_written_as_everywhere(start: Start) -> None:
    box = start().window.pages.settings.editors["default_context"].widget
    assert isinstance(box, QSpinBox)
    assert box.text() == "16,384 tokens"


def test_a_switch_is_kept(start: Start) -> None:
    running = start()
    for setting in declared():
        if setting.kind is Kind.SWITCH:
            editor = running.window.pages.settings.editors[setting.key].widget
            assert isinstance(editor, QPushButton)
            editor.click()
            assert settings.load().settings != settings.Settings()
            assert getattr(settings.load().settings, setting.key) is not setting.default


def test_a_setting_that_needs_a_restart_offers_one(start: Start) -> None:
    running = start()
    box = running.window.pages.settings.editors["threads"].widget
    assert isinstance(box, QSpinBox)
    box.setValue(2)
    notice = running.window.notices.notice
    assert notice is not None
    assert notice.button == "Reload now"


def test_tint_in_the_chat_and_on_the_page_are_one_setting(start: Start) -> None:
    running = start()
    running.window.chat.composer.tint.click()
    editor = running.window.pages.settings.editors["show_drafted_tokens"].widget
    assert isinstance(editor, QPushButton)
    assert editor.isChecked()
    assert settings.load().settings.show_drafted_tokens
