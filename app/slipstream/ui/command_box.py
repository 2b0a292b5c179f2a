"""A command as text that can be copied."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from slipstream.ui import icons
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look

_HEIGHT = 110


class CommandBox(QWidget):
    """Shows one command.

    Attributes:
        text: the command.
        copy: the button that copies it.
    """

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.text = QPlainTextEdit()
        self.text.setObjectName("settingText")
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(tr("The command that starts the engine"))
        self.copy = QPushButton(tr("Copy"))
        self.copy.setAccessibleName(tr("Copy the command"))
        icons.wear(self.copy, "copy", look, role="text_muted", size=14)
        self.copy.clicked.connect(self._on_copy)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.text)
        column.addWidget(self.copy, 0, Qt.AlignmentFlag.AlignLeft)
        look.changed.connect(self._fit)
        self._fit()

    def show_command(self, command: str) -> None:
        """Show a command; empty for none."""
        self.text.setPlainText(command)
        self.copy.setEnabled(bool(command))

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text.toPlainText())

    def _fit(self) -> None:
        self.text.setFixedHeight(self._look.px(_HEIGHT))
        self.text.setFont(self._look.mono(12))
