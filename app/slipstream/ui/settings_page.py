"""The settings page, made from the declaration of the settings. A change applies at once."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QVBoxLayout, QWidget

from slipstream.errors import SlipstreamError
from slipstream.settings import Value, declared
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.preferences import Preferences
from slipstream.ui.setting_editors import Editor
from slipstream.ui.settings_form import SettingsForm
from slipstream.ui.widgets.centred import Centred
from slipstream.ui.widgets.labels import label
from slipstream.ui.widgets.notice_bar import notice_of


class SettingsPage(QScrollArea):
    """Every declared setting under its heading.

    Attributes:
        noticed: a Notice for the user.
        first_steps_wanted: the user wants to see the first page again.
    """

    noticed = Signal(object)
    first_steps_wanted = Signal()

    def __init__(self, look: Look, preferences: Preferences, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self.setObjectName("settingsArea")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(tr("Settings"))
        self._form = SettingsForm(look, declared(), self._on_edited)
        for setting in declared():
            self._form.show_value(setting.key, preferences.get(setting.key))
        preferences.changed.connect(self._on_changed)
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(28, 24, 28, 24)
        column.setSpacing(8)
        column.addWidget(label(tr("Settings"), "title"))
        column.addWidget(self._form)
        column.addSpacing(14)
        again = QPushButton(tr("Show the first steps again"))
        again.clicked.connect(self.first_steps_wanted)
        column.addWidget(again, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch()
        self.setWidget(Centred(inner, look))

    @property
    def editors(self) -> dict[str, Editor]:
        """The editors by the keys of their settings."""
        return self._form.editors

    def _on_edited(self, key: str, value: Value) -> None:
        try:
            self._preferences.set(key, value)
        except SlipstreamError as error:
            self.noticed.emit(notice_of(error))

    def _on_changed(self, key: str) -> None:
        self._form.show_value(key, self._preferences.get(key))
