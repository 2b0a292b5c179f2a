"""Icons: SVG files in one colour, tinted when they are loaded and again when the theme changes."""

from functools import lru_cache

import shiboken6
from PySide6.QtCore import QByteArray, QObject, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton

from slipstream import paths
from slipstream.ui.look import Look

CHECK = 14
"""Width of the mark of what is chosen, in pixels at 100 % text size."""

_GAP = 3
"""Pixels between an icon and the words beside it, besides those that Qt leaves."""
_SHARPEST = 3  # device pixels per pixel that a tinted icon still looks sharp at


@lru_cache(maxsize=256)
def pixmap(name: str, colour: str, size: int, gap: int = 0) -> QPixmap:
    """The icon as a picture.

    Args:
        name: file in ``resources/icons`` without its ending.
        colour: ``#rrggbb`` for its lines.
        size: width and height in pixels.
        gap: pixels that stay empty to its right.
    """
    svg = (paths.resources() / "icons" / f"{name}.svg").read_bytes()
    renderer = QSvgRenderer(QByteArray(svg.replace(b"currentColor", colour.encode())))
    picture = QPixmap(QSize(size + gap, size) * _SHARPEST)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    renderer.render(painter, QRectF(0, 0, size * _SHARPEST, size * _SHARPEST))
    painter.end()
    picture.setDevicePixelRatio(_SHARPEST)
    return picture


def app_icon() -> QIcon:
    """The icon of the application itself."""
    return QIcon(pixmap("slipstream", "", 128))


def check(look: Look) -> QPixmap:
    """The mark of what is chosen in a menu."""
    return pixmap("check", look.theme.accent_text, look.px(CHECK))


def dot(colour: str, size: int) -> QIcon:
    """A round dot that shows a state, ``size`` pixels wide."""
    picture = _empty(size)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawEllipse(QRectF(0, 0, size, size))
    painter.end()
    return QIcon(picture)


def _empty(size: int) -> QPixmap:
    picture = QPixmap(QSize(size, size) * _SHARPEST)
    picture.fill(Qt.GlobalColor.transparent)
    picture.setDevicePixelRatio(_SHARPEST)
    return picture


def wear(
    button: QAbstractButton, name: str, look: Look, *, role: str, checked: str = "", size: int = 16
) -> None:
    """Give a button an icon that follows theme and text size.

    Args:
        button: the button.
        name: file in ``resources/icons`` without its ending.
        look: what to follow.
        role: name of the theme's colour for it.
        checked: name of the colour while the button is checked, where it differs.
        size: width and height in pixels at 100 % text size.
    """

    def tint() -> None:
        pixels, gap = look.px(size), look.px(_GAP) if button.text() else 0
        icon = QIcon(pixmap(name, getattr(look.theme, role), pixels, gap))
        if checked:
            on = pixmap(name, getattr(look.theme, checked), pixels, gap)
            icon.addPixmap(on, QIcon.Mode.Normal, QIcon.State.On)
        button.setIcon(icon)
        button.setIconSize(QSize(pixels + gap, pixels))

    tint()
    following = look.changed.connect(tint)

    def leave() -> None:
        if shiboken6.isValid(look):
            QObject.disconnect(following)

    button.destroyed.connect(leave)
