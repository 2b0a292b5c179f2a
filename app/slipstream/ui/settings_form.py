"""Declared settings as rows under their headings, each with its editor."""

from collections.abc import Callable, Sequence
from itertools import groupby

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from slipstream.settings import Kind, Setting, Value
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.setting_editors import Editor, editor_of
from slipstream.ui.widgets.labels import label, line


class SettingsForm(QWidget):
    """Edits some settings.

    Attributes:
        editors: by the keys of their settings.
    """

    def __init__(
        self,
        look: Look,
        settings: Sequence[Setting],
        edited: Callable[[str, Value], None],
        parent: QWidget | None = None,
    ) -> None:
        """Prepare.

        Args:
            look: colours and sizes.
            settings: what can be edited, group by group.
            edited: gets the key and the new value of each that is edited.
            parent: as Qt has it.
        """
        super().__init__(parent)
        self._look = look
        self._edited = edited
        self.editors: dict[str, Editor] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for name, group in groupby(settings, key=lambda each: each.group):
            column.addSpacing(14)
            column.addWidget(label(tr(name), "section"))
            column.addWidget(self._group(list(group)))

    def show_value(self, key: str, value: Value) -> None:
        """Show a value that was set elsewhere."""
        self.editors[key].show(value)

    def flush(self) -> None:
        """Take over what is being typed."""
        for editor in self.editors.values():
            editor.flush()

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

    def _row(self, setting: Setting) -> QHBoxLayout | QVBoxLayout:
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(label(tr(setting.label), wrap=True))
        words.addWidget(label(tr(setting.help), "small", wrap=True))
        editor = editor_of(setting, lambda value: self._edited(setting.key, value), self._look)
        self.editors[setting.key] = editor
        if setting.kind is Kind.TEXT:  # needs the whole width
            column = QVBoxLayout()
            column.setContentsMargins(0, 10, 0, 10)
            column.setSpacing(8)
            column.addLayout(words)
            column.addWidget(editor.widget)
            if editor.note is not None:
                column.addWidget(editor.note)
            return column
        row = QHBoxLayout()
        row.setContentsMargins(0, 10, 0, 10)
        row.setSpacing(20)
        row.addLayout(words, 3)
        row.addWidget(editor.widget, 0, Qt.AlignmentFlag.AlignVCenter)
        return row
