"""The settings of one model: what the page shows is what is kept, and of the model it names."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QSpinBox

from slipstream import paths
from slipstream.engine.model_records import save_settings, settings_of
from slipstream.engine.model_settings import ModelSettings
from slipstream.ui.in_turn import InTurn
from slipstream.ui.look import Look
from slipstream.ui.model_settings_page import ModelSettingsPage
from slipstream.ui.widgets.notice_bar import Notice
from slipstream.ui.work import Work

Until = Callable[..., None]


@pytest.fixture
def other_model(own_model: Path) -> Path:
    return Path(shutil.copy(own_model, own_model.with_name("Another-3M-Q8_0.gguf")))


@pytest.fixture
def work(qapp: QApplication) -> Iterator[Work]:
    made = Work()
    yield made
    made.stop(10)


@pytest.fixture
def page(work: Work) -> Iterator[ModelSettingsPage]:
    made = ModelSettingsPage(Look(), work, InTurn(work))
    made.resize(900, 700)
    made.show()
    yield made
    made.close()


def context(page: ModelSettingsPage) -> QSpinBox:
    editor = page.form.editors["context"].widget
    assert isinstance(editor, QSpinBox)
    return editor


def extra(page: ModelSettingsPage) -> QPlainTextEdit:
    editor = page.form.editors["extra"].widget
    assert isinstance(editor, QPlainTextEdit)
    return editor


def settled(page: ModelSettingsPage, work: Work, until: Until, path: Path) -> None:
    """Open the settings of a model, and wait until there is no more to come."""
    page.show_model(path, path.stem)
    until(lambda: page.form.isEnabled() and work.idle)


def nothing_can_be_saved() -> None:
    paths.models_file().unlink(missing_ok=True)
    paths.models_file().mkdir()


def everything_can_be_saved() -> None:
    paths.models_file().rmdir()


def heard(page: ModelSettingsPage) -> list[Path]:
    told: list[Path] = []
    page.changed.connect(told.append)
    return told


def test_a_setting_that_could_not_be_saved_is_shown_as_it_is_on_disk(
    page: ModelSettingsPage, work: Work, until: Until, own_model: Path
) -> None:
    settled(page, work, until, own_model)
    told = heard(page)
    nothing_can_be_saved()
    context(page).setValue(1024)
    until(lambda: page.trouble.isVisible() and work.idle)
    assert "could not be saved" in page.trouble.text()
    assert context(page).text() == "As in Settings"
    assert "--ctx-size 1024" not in page.command.toPlainText()
    assert not page.reset.isEnabled()
    assert told == []
    everything_can_be_saved()
    context(page).setValue(2048)
    until(lambda: "--ctx-size 2048" in page.command.toPlainText())
    assert not page.trouble.isVisible()
    assert settings_of(own_model).context == 2048
    assert told == [own_model]


def test_what_was_chosen_after_a_failed_save_stays(
    page: ModelSettingsPage, work: Work, until: Until, own_model: Path
) -> None:
    settled(page, work, until, own_model)
    nothing_can_be_saved()
    context(page).setValue(1024)
    until(page.trouble.isVisible)  # the page reads what is kept
    everything_can_be_saved()
    context(page).setValue(4096)
    until(lambda: work.idle)
    assert context(page).value() == 4096
    assert settings_of(own_model).context == 4096


def test_no_moment_shows_one_model_under_the_title_of_another(
    page: ModelSettingsPage, work: Work, until: Until, own_model: Path, other_model: Path
) -> None:
    save_settings(own_model, ModelSettings(context=1024))
    save_settings(other_model, ModelSettings(context=2048))
    settled(page, work, until, own_model)
    page.show_model(own_model, "Own")  # it is read, and its command made, while
    page.show_model(other_model, "Other")  # another one is opened

    def right() -> bool:
        assert context(page).value() != 1024
        assert not page.reset.isEnabled() or context(page).value() == 2048
        assert own_model.name not in page.command.toPlainText()
        return work.idle and page.form.isEnabled()

    until(right)
    assert other_model.name in page.command.toPlainText()


def test_a_number_that_is_still_being_typed_is_that_of_its_own_model(
    page: ModelSettingsPage, work: Work, until: Until, own_model: Path, other_model: Path
) -> None:
    save_settings(other_model, ModelSettings(context=2048, extra="--threads-batch 4"))
    settled(page, work, until, own_model)
    line = context(page).lineEdit()
    context(page).setFocus()
    line.selectAll()
    QTest.keyClicks(line, "4096")
    settled(page, work, until, other_model)
    assert settings_of(own_model).context == 4096
    assert settings_of(other_model).context == 2048
    assert settings_of(other_model).extra == "--threads-batch 4"
    assert context(page).value() == 2048


def test_a_command_that_is_late_is_not_that_of_the_next_model(
    page: ModelSettingsPage, work: Work, until: Until, own_model: Path, other_model: Path
) -> None:
    page.show_model(own_model, "Own")
    until(page.form.isEnabled)  # its command is being made
    page.show_model(other_model, "Other")

    def right() -> bool:
        assert own_model.name not in page.command.toPlainText()
        return other_model.name in page.command.toPlainText()

    until(right)
    page.copy.click()
    assert other_model.name in QGuiApplication.clipboard().text()


def test_that_a_model_must_be_loaded_again_is_told_whatever_is_opened_next(
    page: ModelSettingsPage, work: Work, until: Until, own_model: Path, other_model: Path
) -> None:
    settled(page, work, until, own_model)
    told = heard(page)
    context(page).setValue(1024)
    page.show_model(other_model, "Other")  # before it is saved
    until(lambda: work.idle)
    assert told == [own_model]
    context(page).setValue(2048)
    until(lambda: settings_of(other_model).context == 2048)  # its command is not there yet
    settled(page, work, until, own_model)
    assert told == [own_model, other_model]


def test_a_save_that_fails_after_its_page_was_left_is_told_with_the_name(
    page: ModelSettingsPage, work: Work, until: Until, own_model: Path, other_model: Path
) -> None:
    notices: list[Notice] = []
    page.noticed.connect(notices.append)
    settled(page, work, until, own_model)
    nothing_can_be_saved()
    context(page).setValue(1024)
    settled(page, work, until, other_model)
    (notice,) = notices
    assert notice.text.startswith(f"{own_model.stem}: ")
    assert "could not be saved" in notice.text
    assert not page.trouble.isVisible()
    assert other_model.name in page.command.toPlainText()


def test_settings_that_cannot_be_read_show_nothing_of_another_model(
    page: ModelSettingsPage, work: Work, until: Until, own_model: Path
) -> None:
    save_settings(own_model, ModelSettings(context=1024, extra="--no-warmup"))
    settled(page, work, until, own_model)
    assert page.reset.isEnabled()
    page.show_model(Path("no\0name.gguf"), "Odd")  # no file can be called so
    assert not page.reset.isEnabled()
    until(lambda: page.trouble.isVisible() and work.idle)
    assert not page.form.isEnabled()
    assert not page.reset.isEnabled()
    assert context(page).text() == "As in Settings"
    assert extra(page).toPlainText() == ""
    assert page.command.toPlainText() == ""
    assert not page.copy.isEnabled()


def test_a_change_that_cannot_run_is_kept_but_asks_for_no_reload(
    page: ModelSettingsPage, work: Work, until: Until, own_model: Path, other_model: Path
) -> None:
    settled(page, work, until, own_model)
    told = heard(page)
    extra(page).setPlainText("--port 80")
    until(lambda: "--port" in page.trouble.text())
    assert not page.copy.isEnabled()
    settled(page, work, until, other_model)
    assert settings_of(own_model).extra == "--port 80"
    assert told == []
