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
        two_lines: there is no room for all of them in one line.
        height: of a row.
        side, gap, bar: beside the columns, between them, and the height of the bar.
        fonts: of the present text size.
    """

    label: int
    size: int
    total: int
    verdict: int
    two_lines: bool
    height: int
    side: int
    gap: int
    bar: int
    fonts: Fonts

    def places(self, width: int) -> Places:
        """Where everything stands in a row of this width."""
        left, right = self.side, width - self.side
        upper = lower = QRect(left, 0, right - left, self.height)
        if self.two_lines:
            half = (self.height - self.bar) // 2
            upper = QRect(left, self.bar // 2, right - left, half)
            lower = QRect(left, self.bar // 2 + half, right - left, half)
        verdict = QRect(right - self.verdict, upper.y(), self.verdict, upper.height())
        label = QRect(left, upper.y(), self.label, upper.height())
        if self.two_lines:
            label.setRight(verdict.x() - self.gap)
        start = left if self.two_lines else label.right() + 1 + self.gap
        end = right if self.two_lines else verdict.x() - self.gap
        size = QRect(start, lower.y(), self.size, lower.height())
        total = QRect(end - self.total, lower.y(), self.total, lower.height())
        bar_left = size.right() + 1 + self.gap
        top = lower.y() + (lower.height() - self.bar) // 2
        bar = QRect(bar_left, top, max(0, total.x() - self.gap - bar_left), self.bar)
        return Places(label, size, bar, total, verdict)


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
    label = max(
        _widest(own.bold, frozenset(line.label for line in lines)),
        _widest(own.small, frozenset(remark(line) for line in lines)),
    )
    size = _widest(own.normal, frozenset(file_size(line) for line in lines))
    total = _widest(own.bold, frozenset(total_size(line) for line in lines))
    verdict = max((pill_size(line.verdict, look).width() for line in lines), default=0)
    side, gap = look.px(SIDE), look.px(_GAP)
    taken = label + size + total + verdict + 4 * gap + 2 * side
    two_lines = width - taken < look.px(_SHORTEST_BAR)
    room = width - 2 * side - gap
    if two_lines and label + verdict > room:
        verdict = max(look.px(60), room - label)
    height = look.px(64 if two_lines else 46)
    return Columns(label, size, total, verdict, two_lines, height, side, gap, look.px(_BAR), own)


@lru_cache(maxsize=256)
def _widest(font: QFont, texts: frozenset[str]) -> int:
    """The width that the widest of some texts needs, in pixels."""
    metrics = QFontMetrics(font)
    return max(map(metrics.horizontalAdvance, texts), default=0) + _SLACK
