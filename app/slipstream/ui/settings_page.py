"""The settings page, made from the declaration of the settings. A change applies at once."""

from itertools import groupby

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from slipstream.errors import SlipstreamError
from slipstream.settings import Setting, Value, declared
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.preferences import Preferences
from slipstream.ui.setting_editors import Editor, editor_of
from slipstream.ui.widgets.labels import label, line
from slipstream.ui.widgets.notice_bar import notice_of

_WIDEST = 760  # pixels at 100 % text size


class SettingsPage(QScrollArea):
    """Every declared setting under its heading.

    Attributes:
        noticed: a Notice for the user.
    """

    noticed = Signal(object)

    def __init__(self, look: Look, preferences: Preferences, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._preferences = preferences
        self.setObjectName("settingsArea")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(tr("Settings"))
        self._inner = QWidget()
        self._inner.setMaximumWidth(look.px(_WIDEST))
        look.changed.connect(lambda: self._inner.setMaximumWidth(look.px(_WIDEST)))
        self.editors: dict[str, Editor] = {}
        preferences.changed.connect(self._on_changed)
        column = QVBoxLayout(self._inner)
        column.setContentsMargins(28, 24, 28, 24)
        column.setSpacing(8)
        column.addWidget(label(tr("Settings"), "title"))
        for group, settings in groupby(declared(), key=lambda each: each.group):
            column.addSpacing(14)
            column.addWidget(label(tr(group), "section"))
            column.addWidget(self._group(list(settings)))
        column.addStretch()
        page = QWidget()
        page.setObjectName("page")
        row = QHBoxLayout(page)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        row.addWidget(self._inner, 1000)
        row.addStretch(1)
        self.setWidget(page)

    def _group(self, settings: list[Setting]) -> QFrame:
        card = QFrame()
        card.setProperty("kind", "card")
        column = QVBoxLayout(card)
        column.setContentsMargins(16, 6, 16, 6)
        column.setSpacing(0)
        for i, setting in enumerate(settings):
            if i:
                column.addWidget(line())
            column.addLayout(self._row(setting))
        return card

    def _row(self, setting: Setting) -> QHBoxLayout:
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(label(tr(setting.label), wrap=True))
        hint = tr(setting.help)
        if setting.restarts_engine:
            hint += " " + tr("Takes effect when a model is loaded.")
        words.addWidget(label(hint, "small", wrap=True))
        editor = editor_of(setting, lambda value: self._on_edited(setting.key, value), self._look)
        editor.show(self._preferences.get(setting.key))
        self.editors[setting.key] = editor
        row = QHBoxLayout()
        row.setContentsMargins(0, 10, 0, 10)
        row.setSpacing(20)
        row.addLayout(words, 3)
        row.addWidget(editor.widget, 0, Qt.AlignmentFlag.AlignVCenter)
        return row

    def _on_edited(self, key: str, value: Value) -> None:
        try:
            self._preferences.set(key, value)
        except SlipstreamError as error:
            self.noticed.emit(notice_of(error))

    def _on_changed(self, key: str) -> None:
        self.editors[key].show(self._preferences.get(key))
