"""The palette and the style sheet, made from a theme.

In ``resources/themes/window.qss`` a ``$name`` is a colour, and ``sp`` is a pixel that grows with
the text size.
"""

import re
from dataclasses import fields
from string import Template

from PySide6.QtGui import QColor, QPalette

from slipstream import paths
from slipstream.ui.theme import Theme


def palette(theme: Theme) -> QPalette:
    """The colours for everything that Fusion draws itself."""
    role = QPalette.ColorRole
    colours = {
        role.Window: theme.page,
        role.WindowText: theme.text,
        role.Base: theme.surface,
        role.AlternateBase: theme.code,
        role.Text: theme.text,
        role.PlaceholderText: theme.text_faint,
        role.Button: theme.raised,
        role.ButtonText: theme.text,
        role.BrightText: theme.danger,
        role.Highlight: theme.accent,
        role.HighlightedText: theme.on_accent,
        role.Link: theme.accent_text,
        role.LinkVisited: theme.accent_text,
        role.ToolTipBase: theme.raised,
        role.ToolTipText: theme.text,
        role.Accent: theme.accent,
    }
    made = QPalette()
    for each, colour in colours.items():
        made.setColor(each, QColor(colour))
    for each in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, each, QColor(theme.text_faint))
    return made


def scaled(pixels: float, percent: int) -> int:
    """A measure in pixels at 100 % text size, at ``percent``."""
    return round(pixels * percent / 100)


def style_sheet(theme: Theme, percent: int) -> str:
    """The style sheet of the whole application.

    Args:
        theme: the colours.
        percent: text size, 100 is normal.
    """
    colours = {each.name: getattr(theme, each.name) for each in fields(theme)}
    file = paths.resources() / "themes" / "window.qss"
    colours["resources"] = paths.resources().as_posix()
    sheet = Template(file.read_text(encoding="utf-8")).substitute(colours)
    return re.sub(r"(\d+)sp\b", lambda m: f"{scaled(int(m[1]), percent)}px", sheet)
