"""Texts that are painted again and again: laid out once, which takes longer than the painting."""

from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QStaticText

_KEPT = 4096
"""Texts that are kept as they were laid out."""


@dataclass(frozen=True)
class Shaped:
    """A text laid out, cut where there was no room; width and height in pixels."""

    text: QStaticText
    width: int
    height: int


@lru_cache(maxsize=_KEPT)
def shaped(
    text: str,
    font: QFont,
    room: int,
    cut: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
) -> Shaped:
    """Lay out a line.

    Args:
        text: the line.
        font: keep it: the same one finds what was laid out before.
        room: pixels that there are at most.
        cut: where it is shortened if there are fewer than it needs.
    """
    metrics = QFontMetrics(font)
    shown = metrics.elidedText(text, cut, room)
    made = QStaticText(shown)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.prepare(font=font)
    return Shaped(made, metrics.horizontalAdvance(shown), metrics.height())


def draw(painter: QPainter, words: Shaped, x: int, line: QRect, font: QFont, colour: str) -> None:
    """Paint a text in the middle of the height of a line.

    Args:
        painter: of the widget.
        words: laid out in ``font``.
        x: where they begin, in pixels.
        line: where they stand.
        font: of the words.
        colour: ``#rrggbb``.
    """
    painter.setFont(font)
    painter.setPen(QColor(colour))
    painter.drawStaticText(x, line.top() + (line.height() - words.height) // 2, words.text)
