"""Render the app's icon to PNG in the sizes a desktop asks for: render.py, no arguments.

Run it after resources/icons/slipstream.svg changed, then commit the result.
"""

import os
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "resources" / "icons" / "slipstream.svg"
SIZES = (16, 24, 32, 48, 64, 128, 256, 512)


def render(renderer: QSvgRenderer, size: int) -> QImage:
    """The icon as a square image of ``size`` pixels with a clear background."""
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    return image


def main() -> None:
    """Write slipstream-SIZE.png beside this script."""
    app = QGuiApplication([])
    renderer = QSvgRenderer(str(SOURCE))
    for size in SIZES:
        render(renderer, size).save(str(HERE / f"slipstream-{size}.png"))
    app.quit()


if __name__ == "__main__":
    main()
