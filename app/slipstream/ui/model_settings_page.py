"""The settings of one model, and the command that they make. A change is kept at once."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QVBoxLayout, QWidget

from slipstream.drafters.kinds import spec_choice
from slipstream.engine.model_records import save_settings, settings_of
from slipstream.engine.model_settings import ModelSettings
from slipstream.engine.requests import LoadRequest
from slipstream.errors import SlipstreamError
from slipstream.settings import Value, declared
from slipstream.ui.command_box import CommandBox
from slipstream.ui.i18n import tr
from slipstream.ui.in_turn import InTurn
from slipstream.ui.look import Look
from slipstream.ui.settings_form import SettingsForm
from slipstream.ui.widgets.centred import Centred
from slipstream.ui.widgets.labels import label
from slipstream.ui.widgets.notice_bar import notice_of
from slipstream.ui.widgets.page_head import page_head
from slipstream.ui.wording import our_fault
from slipstream.ui.work import Job, Work


class ModelSettingsPage(QWidget):
    """Edits the record of one model.

    Attributes:
        closed: the user wants back.
        changed: the path of the model, when a change of it that can run needs a reload.
        noticed: a Notice for the user, of a model that is not shown any more.
        form: the settings.
        command: what the engine would be started with.
        trouble: what is wrong with a setting.
    """

    closed = Signal()
    changed = Signal(object)
    noticed = Signal(object)

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
        self._restarts = False  # what was saved takes effect at the next load, and nobody was told
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
        self._box = CommandBox(look)
        self.command, self.copy = self._box.text, self._box.copy
        self._lay_out(back)

    def show_model(self, path: Path, title: str) -> None:
        """Show the settings of a model.

        Args:
            path: the first of its files.
            title: its name for people.
        """
        self.form.flush()
        self.form.setEnabled(False)  # which ends what is being typed: it is still the other model's
        self._stop_making()
        self._told()
        self._path, self._record = path, ModelSettings()
        self._title.setText(title)
        self._show_record()
        self._box.show_command("")
        self._say("")
        self._read()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: D102, N802
        self.form.flush()
        super().hideEvent(event)

    def _read(self, unsaved: str = "") -> None:
        """Show what is kept for the model, unless something is chosen meanwhile.

        Args:
            unsaved: why that is not what was chosen.
        """
        path, record = self._path, self._record

        def on_read(kept: ModelSettings) -> None:
            if path == self._path and record is self._record:
                self._record = kept
                self.form.setEnabled(True)
                self._show_record()
                self._make_command("" if kept == record else unsaved)

        def on_error(error: BaseException) -> None:
            if path == self._path:
                self._say(_words(error))

        self._tasks.run(lambda: settings_of(path), on_read, on_error=on_error)

    def _on_edited(self, key: str, value: Value) -> None:
        chosen: Any = spec_choice(str(value)) if key == "spec" and value is not None else value
        self._change(replace(self._record, **{key: chosen}))

    def _change(self, record: ModelSettings) -> None:
        """Keep another record."""
        path, before, title, self._record = self._path, self._record, self._title.text(), record
        restarting = (each.key for each in declared(ModelSettings) if each.restarts_engine)
        restarts = any(getattr(before, key) != getattr(record, key) for key in restarting)
        self._stop_making()
        self._show_record()
        self._tasks.run(
            lambda: save_settings(path, record),
            lambda _: self._on_saved(path, restarts),
            on_error=lambda error: self._on_unsaved(path, title, error),
        )

    def _on_saved(self, path: Path, restarts: bool) -> None:
        if path == self._path:
            self._restarts = self._restarts or restarts
            self._make_command()
        elif restarts:
            self.changed.emit(path)

    def _on_unsaved(self, path: Path, title: str, error: BaseException) -> None:
        if path != self._path or not self.isVisible():
            notice = notice_of(error)
            self.noticed.emit(replace(notice, text=f"{title}: {notice.text}"))
        if path == self._path:
            self._say(_words(error))
            self._read(_words(error))

    def _show_record(self) -> None:
        for setting in declared(ModelSettings):
            self.form.show_value(setting.key, getattr(self._record, setting.key))
        self.reset.setEnabled(self._record != ModelSettings())

    def _make_command(self, unsaved: str = "") -> None:
        """Find out what the engine would be started with."""
        self._stop_making()
        path, record = self._path, self._record

        def on_made(command: str) -> None:
            self._box.show_command(command)
            self._say(unsaved)
            self._told()

        def on_error(error: BaseException) -> None:
            self._restarts = False  # it could not run
            self._box.show_command("")
            self._say("\n".join(filter(None, (unsaved, _words(error)))))

        self._job = self._work.start(
            lambda _cancel: _command(path, record),
            on_values=lambda values: on_made(values[-1]),
            on_error=on_error,
        )

    def _stop_making(self) -> None:
        if self._job is not None:
            self._job.abandon()
        self._job = None

    def _told(self) -> None:
        """Tell that the model must be loaded again, if it must."""
        if self._restarts:
            self._restarts = False
            self.changed.emit(self._path)

    def _say(self, words: str) -> None:
        """Say what is wrong with what was chosen; nothing, if nothing is."""
        self.trouble.setText(words)
        self.trouble.setVisible(bool(words))

    def _lay_out(self, back: QPushButton) -> None:
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(28, 10, 28, 24)
        column.setSpacing(8)
        column.addWidget(self.form)
        column.addSpacing(14)
        column.addWidget(label(tr("Command"), "section"))
        column.addWidget(self._box)
        column.addStretch()
        area = QScrollArea()
        area.setObjectName("settingsArea")
        area.setAccessibleName(tr("Settings of this model"))
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(Centred(inner, self._look))
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(page_head(back, self._title, self.reset))
        whole.addWidget(self.trouble)
        whole.addWidget(area, 1)


def _words(error: BaseException) -> str:
    if isinstance(error, SlipstreamError):
        return f"{error.message} {error.action}"
    return our_fault()


def _command(path: Path, record: ModelSettings) -> Iterator[str]:
    """Raises: SlipstreamError, as loading the model would."""
    from slipstream.engine.launch import command_of
    from slipstream.engine.spec import chosen

    yield command_of(LoadRequest(path), chosen(), record)
