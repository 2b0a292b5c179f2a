"""The rail on the left: one button per page."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QLabel, QToolButton, QVBoxLayout, QWidget

from slipstream.ui import icons
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look

_WIDTH = 68


class Rail(QWidget):
    """Chooses the page.

    Attributes:
        chosen: the name of the page the user wants.
    """

    chosen = Signal(str)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.setObjectName("rail")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._buttons: dict[str, QToolButton] = {}
        self._group = QButtonGroup(self)
        self._logo = QLabel()
        self._logo.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._above_settings = QVBoxLayout()
        column = QVBoxLayout(self)
        column.setContentsMargins(5, 14, 5, 12)
        column.setSpacing(8)
        column.addWidget(self._logo)
        column.addSpacing(4)
        column.addWidget(self._button("chat", "message-square", tr("Chat"), "Ctrl+1"))
        column.addWidget(self._button("models", "box", tr("Models"), "Ctrl+2"))
        column.addWidget(self._button("compare", "chart-column", tr("Compare"), "Ctrl+3"))
        column.addStretch()
        column.addLayout(self._above_settings)
        column.addWidget(self._button("settings", "settings", tr("Settings"), "Ctrl+,"))
        look.changed.connect(self._fit)
        self._fit()

    def show_page(self, name: str) -> None:
        """Mark the page that is shown."""
        self._buttons[name].setChecked(True)

    def add(self, widget: QWidget) -> None:
        """Put something above the settings."""
        self._above_settings.addWidget(widget)

    def _button(self, name: str, icon: str, title: str, keys: str) -> QToolButton:
        button = QToolButton()
        button.setProperty("kind", "rail")
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        button.setText(title)
        button.setToolTip(f"{title} ({keys})")
        button.setAccessibleName(title)
        button.setCheckable(True)
        icons.wear(button, icon, self._look, role="text_muted", checked="accent_text", size=20)
        button.clicked.connect(lambda: self.chosen.emit(name))
        self._group.addButton(button)
        self._buttons[name] = button
        return button

    def _fit(self) -> None:
        self.setFixedWidth(self._look.px(_WIDTH))
        side = self._look.px(36)
        self._logo.setPixmap(icons.pixmap("slipstream", "", side))
        for button in self._buttons.values():
            button.setFixedSize(QSize(self._look.px(_WIDTH) - 10, self._look.px(48)))
