"""Paints short facts in rounded boxes, as lists and rows do that have no widgets for them."""

from functools import lru_cache

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter

from slipstream.ui.look import SANS, Look, tabular
from slipstream.ui.theme import Theme
from slipstream.ui.widgets.shaped import draw, shaped
from slipstream.words import Tone

_SIDE, _ABOVE = 9, 3
"""Pixels at 100 % text size beside and above the words, as the style sheet has them for labels."""
_HIGH = 12
"""Pixels of the font at 100 % text size."""
_ROOM = 1 << 16


def pill_size(words: str, look: Look) -> QSize:
    """How large a pill is that shows all of its words, in pixels."""
    text = shaped(words, _font(look.px(_HIGH)), _ROOM)
    return QSize(text.width + 2 * look.px(_SIDE), text.height + 2 * look.px(_ABOVE))


def paint_pill(painter: QPainter, place: QRect, words: str, tone: Tone, look: Look) -> None:
    """Paint a pill.

    Args:
        painter: of the widget.
        place: all of it; where that is too narrow for the words, they are shortened.
        words: the fact.
        tone: its colours.
        look: colours and sizes.
    """
    font, whole = _font(look.px(_HIGH)), pill_size(words, look)
    room = _ROOM if place.width() >= whole.width() else place.width() - 2 * look.px(_SIDE)
    text = shaped(words, font, room)
    ground, colour = _colours(tone, look.theme)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(ground))
    painter.drawRoundedRect(place, place.height() / 2, place.height() / 2)
    draw(painter, text, place.left() + (place.width() - text.width) // 2, place, font, colour)


@lru_cache(maxsize=4)
def _font(pixels: int) -> QFont:
    """The font of the words; made once, since pills are painted in every frame of a scroll."""
    font = QFont(SANS)
    font.setPixelSize(pixels)
    font.setWeight(QFont.Weight.Medium)
    return tabular(font)


def _colours(tone: Tone, theme: Theme) -> tuple[str, str]:
    """Ground and words."""
    return {
        Tone.GOOD: (theme.accent_soft, theme.accent_text),
        Tone.PLAIN: (theme.pill, theme.text_muted),
        Tone.CAUTION: (theme.warning_soft, theme.warning),
        Tone.BAD: (theme.danger_soft, theme.danger),
    }[tone]
