"""The settings of one model, and the command that they make. A change is kept at once."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from slipstream.drafters.kinds import spec_choice
from slipstream.engine.model_settings import ModelSettings, save_settings, settings_of
from slipstream.engine.requests import LoadRequest
from slipstream.errors import SlipstreamError
from slipstream.settings import Value, declared
from slipstream.ui import icons
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.settings_form import SettingsForm
from slipstream.ui.widgets.labels import label
from slipstream.ui.work import Job, Work

_WIDEST = 760  # pixels at 100 % text size
_COMMAND_HEIGHT = 110


class ModelSettingsPage(QWidget):
    """Edits the record of one model.

    Attributes:
        closed: the user wants back.
        changed: the path of the model, when a change of it needs a reload.
        form: the settings.
        command: what the engine would be started with.
        trouble: what is wrong with a setting.
    """

    closed = Signal()
    changed = Signal(object)

    def __init__(self, look: Look, work: Work, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._look, self._work = look, work
        self._path = Path()
        self._record = ModelSettings()
        self._job: Job | None = None
        self._title = label("", "section", wrap=True)
        back = QPushButton(tr("Back"))
        back.clicked.connect(self.closed)
        self.reset = QPushButton(tr("Back to the defaults"))
        self.reset.clicked.connect(lambda: self._change(ModelSettings()))
        self.form = SettingsForm(look, declared(ModelSettings), self._on_edited)
        self.trouble = label("", "trouble", wrap=True)
        self.command = QPlainTextEdit()
        self.command.setObjectName("settingText")
        self.command.setReadOnly(True)
        self.command.setTabChangesFocus(True)
        self.command.setAccessibleName(tr("The command that starts the engine"))
        self.copy = QPushButton(tr("Copy"))
        self.copy.setAccessibleName(tr("Copy the command"))
        icons.wear(self.copy, "copy", look, role="text_muted", size=14)
        self.copy.clicked.connect(self._on_copy)
        self._inner = QWidget()
        self._lay_out(back)
        look.changed.connect(self._fit)
        self._fit()

    def show_model(self, path: Path, title: str) -> None:
        """Show the settings of a model.

        Args:
            path: the first of its files.
            title: its name for people.
        """
        self._path = path
        self._title.setText(title)
        self._take(settings_of(path))

    def _on_edited(self, key: str, value: Value) -> None:
        chosen: Any = spec_choice(str(value)) if key == "spec" and value is not None else value
        self._change(replace(self._record, **{key: chosen}))

    def _change(self, record: ModelSettings) -> None:
        """Keep another record."""
        before = self._record
        try:
            save_settings(self._path, record)
        except SlipstreamError as error:
            self._take(before)
            self._tell(error)
            return
        self._take(record)
        restarting = (each.key for each in declared(ModelSettings) if each.restarts_engine)
        if any(getattr(before, key) != getattr(record, key) for key in restarting):
            self.changed.emit(self._path)

    def _take(self, record: ModelSettings) -> None:
        """Show a record, and what it makes of the command."""
        self._record = record
        for setting in declared(ModelSettings):
            self.form.show_value(setting.key, getattr(record, setting.key))
        self.reset.setEnabled(record != ModelSettings())
        if self._job is not None:
            self._job.cancel()
        path = self._path
        job = self._work.start(
            lambda _cancel: _command(path),
            on_values=lambda values: self._on_command(values[-1]) if job is self._job else None,
            on_error=lambda error: self._tell(error) if job is self._job else None,
        )
        self._job = job

    def _on_command(self, command: str) -> None:
        self.command.setPlainText(command)
        self.copy.setEnabled(True)
        self.trouble.hide()

    def _tell(self, error: BaseException) -> None:
        """What is wrong with what was chosen; the command is not one that would run."""
        words = f"{error.message} {error.action}" if isinstance(error, SlipstreamError) else ""
        self.trouble.setText(words or tr("The command cannot be shown; the log has the details."))
        self.trouble.show()
        self.command.setPlainText("")
        self.copy.setEnabled(False)

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self.command.toPlainText())

    def _fit(self) -> None:
        self._inner.setMaximumWidth(self._look.px(_WIDEST))
        self.command.setFixedHeight(self._look.px(_COMMAND_HEIGHT))
        self.command.setFont(self._look.mono(12))

    def _lay_out(self, back: QPushButton) -> None:
        head = QWidget()
        head.setObjectName("header")
        head.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = QHBoxLayout(head)
        row.setContentsMargins(18, 10, 18, 10)
        row.setSpacing(12)
        row.addWidget(back)
        row.addWidget(self._title, 1)
        row.addWidget(self.reset)
        column = QVBoxLayout(self._inner)
        column.setContentsMargins(28, 10, 28, 24)
        column.setSpacing(8)
        column.addWidget(self.form)
        column.addSpacing(14)
        column.addWidget(label(tr("Command"), "section"))
        column.addWidget(self.trouble)
        column.addWidget(self.command)
        column.addWidget(self.copy, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch()
        page = QWidget()
        page.setObjectName("page")
        middle = QHBoxLayout(page)
        middle.setContentsMargins(0, 0, 0, 0)
        middle.addStretch(1)
        middle.addWidget(self._inner, 1000)
        middle.addStretch(1)
        area = QScrollArea()
        area.setObjectName("settingsArea")
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(page)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(head)
        whole.addWidget(area, 1)


def _command(path: Path) -> Iterator[str]:
    """Raises: SlipstreamError, as loading the model would."""
    from slipstream.engine.launch import command_of
    from slipstream.engine.spec import chosen

    yield command_of(LoadRequest(path), chosen())
