"""How the window looks now: theme and text size, followed by everything that paints."""

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QApplication

from slipstream import paths
from slipstream.ui import style
from slipstream.ui.theme import DARK, LIGHT, Theme

SANS = "Inter"
MONO = "JetBrains Mono"


def load_fonts() -> None:
    """Make the shipped fonts known, so that the window looks the same everywhere."""
    for file in sorted((paths.resources() / "fonts").glob("*.[ot]tf")):
        QFontDatabase.addApplicationFont(str(file))


def tabular(font: QFont) -> QFont:
    """The font with digits of one width, for numbers that change in place."""
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


class Look(QObject):
    """The theme and the text size that are in force.

    Attributes:
        changed: emitted after either changed; repaint and re-tint then.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.theme: Theme = LIGHT
        self.percent = 100
        self._choice = "system"
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_system_changed)

    def choose(self, choice: str, percent: int) -> None:
        """Take over the user's choice for what is built next, without repainting anything."""
        self._choice = choice
        self.percent = percent
        self.theme = _theme(choice)

    def apply(self, choice: str, percent: int) -> None:
        """Take over the user's choice everywhere.

        Args:
            choice: "system", "light" or "dark".
            percent: text size, 100 is normal.
        """
        self.choose(choice, percent)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.setPalette(style.palette(self.theme))
            app.setFont(self.font(14))
            app.setStyleSheet(style.style_sheet(self.theme, percent))
        self.changed.emit()

    def px(self, pixels: float) -> int:
        """A measure at 100 % text size, at the present one."""
        return style.scaled(pixels, self.percent)

    def font(self, pixels: float, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
        """The window's font; ``pixels`` at 100 % text size."""
        font = QFont(SANS)
        font.setPixelSize(self.px(pixels))
        font.setWeight(weight)
        return font

    def mono(self, pixels: float) -> QFont:
        """The font for code; ``pixels`` at 100 % text size."""
        font = QFont(MONO)
        font.setPixelSize(self.px(pixels))
        return font

    def _on_system_changed(self) -> None:
        if self._choice == "system":
            self.apply(self._choice, self.percent)


def _theme(choice: str) -> Theme:
    """The theme for a choice; "system" is light where the system does not say."""
    if choice == "system":
        dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return DARK if dark else LIGHT
    return DARK if choice == "dark" else LIGHT
