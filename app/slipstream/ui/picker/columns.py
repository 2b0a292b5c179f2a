"""Where the parts of a quantization's row stand, for the width and the text size there is."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QRect
from PySide6.QtGui import QFont, QFontMetrics

from slipstream.engine.picture import Line
from slipstream.ui.look import Look, tabular
from slipstream.ui.picker.wording import file_size, remark, total_size
from slipstream.ui.widgets.pill_painting import pill_size

SIDE = 14
"""Pixels at 100 % text size beside what a row shows."""
_GAP = 16
_SLACK = 3  # a text as wide as its place would be shortened
_BAR = 9
_SHORTEST_BAR = 140
_HEIGHTS = {1: 46, 2: 64, 3: 90}
"""Of a row, by its lines."""
REMARK_GAP = 8
"""Between a label and what stands beside it."""


@dataclass(frozen=True)
class Fonts:
    """The fonts of a row."""

    normal: QFont
    bold: QFont
    small: QFont


@dataclass(frozen=True)
class Places:
    """Where the parts of one row stand."""

    label: QRect
    size: QRect
    bar: QRect
    total: QRect
    verdict: QRect


@dataclass(frozen=True)
class Columns:
    """What all rows share, in pixels.

    Attributes:
        label, size, total, verdict: widths of the columns.
        lines: that a row has: one, if there is room for all of them side by side; two with the bar
            below the label; three with the verdict between them.
        height: of a row.
        side, gap, bar: beside the columns, between them, and the height of the bar.
        fonts: of the present text size.
    """

    label: int
    size: int
    total: int
    verdict: int
    lines: int
    height: int
    side: int
    gap: int
    bar: int
    fonts: Fonts

    def places(self, width: int) -> Places:
        """Where everything stands in a row of this width."""
        first, last = self._line(0, width), self._line(self.lines - 1, width)
        verdict = QRect(first)
        verdict.setLeft(first.right() + 1 - self.verdict)
        label = QRect(first)
        if self.lines == 1:
            label.setWidth(self.label)
            last.setLeft(label.right() + 1 + self.gap)
            last.setRight(verdict.left() - 1 - self.gap)
        elif self.lines == 2:
            label.setRight(verdict.left() - 1 - self.gap)
        else:
            verdict = self._line(1, width)
        size, total = QRect(last), QRect(last)
        size.setWidth(self.size)
        total.setLeft(last.right() + 1 - self.total)
        bar = QRect(last)
        bar.setLeft(size.right() + 1 + self.gap)
        bar.setRight(max(bar.left(), total.left()) - 1 - self.gap)
        bar.setTop(last.y() + (last.height() - self.bar) // 2)
        bar.setHeight(self.bar)
        return Places(label, size, bar, total, verdict)

    def _line(self, number: int, width: int) -> QRect:
        """One of the lines."""
        above = 0 if self.lines == 1 else self.bar // 2
        height = (self.height - 2 * above) // self.lines
        return QRect(self.side, above + number * height, width - 2 * self.side, height)


def columns_for(lines: Sequence[Line], width: int, look: Look) -> Columns:
    """The columns that these rows need.

    Args:
        lines: what the rows show.
        width: of a row in pixels.
        look: sizes.
    """
    own = Fonts(
        tabular(look.font(14)),
        tabular(look.font(14, QFont.Weight.DemiBold)),
        tabular(look.font(12, QFont.Weight.Medium)),
    )
    name = _widest(own.bold, frozenset(line.label for line in lines))
    below = _widest(own.small, frozenset(remark(line) for line in lines))
    label, beside = max(name, below), name + look.px(REMARK_GAP) + below
    size = _widest(own.normal, frozenset(file_size(line) for line in lines))
    total = _widest(own.bold, frozenset(total_size(line) for line in lines))
    verdict = max((pill_size(line.verdict, look).width() for line in lines), default=0)
    side, gap = look.px(SIDE), look.px(_GAP)
    room = width - 2 * side
    number = 3
    if label + size + total + verdict + 4 * gap + look.px(_SHORTEST_BAR) <= room:
        number = 1
    elif beside + gap + verdict <= room:
        number = 2
    height = look.px(_HEIGHTS[number])
    return Columns(label, size, total, verdict, number, height, side, gap, look.px(_BAR), own)


@lru_cache(maxsize=256)
def _widest(font: QFont, texts: frozenset[str]) -> int:
    """The width that the widest of some texts needs, in pixels."""
    metrics = QFontMetrics(font)
    return max(map(metrics.horizontalAdvance, texts), default=0) + _SLACK
