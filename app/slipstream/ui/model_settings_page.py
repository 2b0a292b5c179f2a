"""The settings of one model, and the command that they make. A change is kept at once."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QHideEvent
from PySide6.QtWidgets import (
    QFrame,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from slipstream.drafters.kinds import spec_choice
from slipstream.engine.model_records import save_settings, settings_of
from slipstream.engine.model_settings import ModelSettings
from slipstream.engine.requests import LoadRequest
from slipstream.errors import SlipstreamError
from slipstream.settings import Value, declared
from slipstream.ui import icons
from slipstream.ui.i18n import tr
from slipstream.ui.in_turn import InTurn
from slipstream.ui.look import Look
from slipstream.ui.settings_form import SettingsForm
from slipstream.ui.widgets.centred import Centred
from slipstream.ui.widgets.labels import label
from slipstream.ui.widgets.page_head import page_head
from slipstream.ui.work import Job, Work

_COMMAND_HEIGHT = 110


class ModelSettingsPage(QWidget):
    """Edits the record of one model.

    Attributes:
        closed: the user wants back.
        changed: the path of the model, when a change of it that can run needs a reload.
        form: the settings.
        command: what the engine would be started with.
        trouble: what is wrong with a setting.
    """

    closed = Signal()
    changed = Signal(object)

    def __init__(
        self, look: Look, work: Work, tasks: InTurn, parent: QWidget | None = None
    ) -> None:
        """Prepare.

        Args:
            look: colours and sizes.
            work: the background work.
            tasks: reads and keeps what is chosen.
            parent: as Qt has it.
        """
        super().__init__(parent)
        self.setObjectName("page")
        self._look, self._work, self._tasks = look, work, tasks
        self._path = Path()
        self._record = ModelSettings()
        self._restarts = False  # something changed that takes effect at the next load
        self._job: Job | None = None
        self._title = label("", "section", wrap=True)
        back = QPushButton(tr("Back"))
        back.clicked.connect(self.closed)
        self.reset = QPushButton(tr("Back to the defaults"))
        self.reset.clicked.connect(lambda: self._change(ModelSettings()))
        self.form = SettingsForm(look, declared(ModelSettings), self._on_edited)
        self.trouble = label("", "trouble", wrap=True)
        self.trouble.setContentsMargins(28, 10, 28, 0)
        self.trouble.hide()
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
        self.form.flush()
        self._restarts = False
        self._path = path
        self._title.setText(title)
        self.form.setEnabled(False)
        self._tasks.run(lambda: settings_of(path), self._on_read, on_error=self._tell)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: D102, N802
        self.form.flush()
        super().hideEvent(event)

    def _on_read(self, record: ModelSettings) -> None:
        self._record = record
        self.form.setEnabled(True)
        self._show()

    def _on_edited(self, key: str, value: Value) -> None:
        chosen: Any = spec_choice(str(value)) if key == "spec" and value is not None else value
        self._change(replace(self._record, **{key: chosen}))

    def _change(self, record: ModelSettings) -> None:
        """Keep another record."""
        path, before, self._record = self._path, self._record, record
        restarting = (each.key for each in declared(ModelSettings) if each.restarts_engine)
        if any(getattr(before, key) != getattr(record, key) for key in restarting):
            self._restarts = True
        self._show()
        self._tasks.run(lambda: save_settings(path, record), on_error=self._tell)

    def _show(self) -> None:
        """Show the record, and the command that it makes."""
        for setting in declared(ModelSettings):
            self.form.show_value(setting.key, getattr(self._record, setting.key))
        self.reset.setEnabled(self._record != ModelSettings())
        if self._job is not None:
            self._job.abandon()
        path, record = self._path, self._record
        self._job = self._work.start(
            lambda _cancel: _command(path, record),
            on_values=lambda values: self._on_command(values[-1]),
            on_error=self._tell,
        )

    def _on_command(self, command: str) -> None:
        self.command.setPlainText(command)
        self.copy.setEnabled(True)
        self.trouble.hide()
        if self._restarts:
            self._restarts = False
            self.changed.emit(self._path)

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
        self.command.setFixedHeight(self._look.px(_COMMAND_HEIGHT))
        self.command.setFont(self._look.mono(12))

    def _lay_out(self, back: QPushButton) -> None:
        column = QVBoxLayout(self._inner)
        column.setContentsMargins(28, 10, 28, 24)
        column.setSpacing(8)
        column.addWidget(self.form)
        column.addSpacing(14)
        column.addWidget(label(tr("Command"), "section"))
        column.addWidget(self.command)
        column.addWidget(self.copy, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch()
        area = QScrollArea()
        area.setObjectName("settingsArea")
        area.setAccessibleName(tr("Settings of this model"))
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(Centred(self._inner, self._look))
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(page_head(back, self._title, self.reset))
        whole.addWidget(self.trouble)
        whole.addWidget(area, 1)


def _command(path: Path, record: ModelSettings) -> Iterator[str]:
    """Raises: SlipstreamError, as loading the model would."""
    from slipstream.engine.launch import command_of
    from slipstream.engine.spec import chosen

    yield command_of(LoadRequest(path), chosen(), record)
