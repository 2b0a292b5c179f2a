"""Speeds by kind of prompt: a pair of bars for each, painted."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from slipstream.ui.i18n import tr
from slipstream.ui.look import Look

_HEIGHT, _BARS = 150, 96
_BAR, _GAP = 22, 5


@dataclass(frozen=True)
class KindBar:
    """One kind of prompt. Speeds are tokens per second.

    Attributes:
        name: of the kind, for people.
        before, now: the mode compared with, and the other one.
        speedup: of the other one.
    """

    name: str
    before: float
    now: float
    speedup: float


class KindBars(QWidget):
    """Paints the bars."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.bars: Sequence[KindBar] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        look.changed.connect(self._on_look_changed)

    def show_bars(self, bars: Sequence[KindBar]) -> None:
        """Show other bars."""
        self.bars = bars
        told = (
            tr("{kind}: {before} and {now} tokens per second, {n} times").format(
                kind=one.name,
                before=f"{one.before:.1f}",
                now=f"{one.now:.1f}",
                n=f"{one.speedup:.2f}",
            )
            for one in bars
        )
        self.setAccessibleName("; ".join(told))
        self.update()

    def sizeHint(self) -> QSize:  # noqa: D102, N802
        return QSize(self._look.px(300), self._look.px(_HEIGHT))

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: D102, N802
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        most = max((max(one.before, one.now) for one in self.bars), default=0.0)
        width = self.width() / max(1, len(self.bars))
        for place, one in enumerate(self.bars):
            self._paint(painter, one, QRectF(place * width, 0, width, self.height()), most)

    def _paint(self, painter: QPainter, one: KindBar, room: QRectF, most: float) -> None:
        look, theme = self._look, self._look.theme
        high, wide, gap = look.px(_BARS), look.px(_BAR), look.px(_GAP)
        wide = min(wide, int(room.width() / 3))
        painter.setPen(Qt.PenStyle.NoPen)
        left = room.center().x() - wide - gap / 2
        for at, speed, colour in (
            (left, one.before, theme.text_faint),
            (left + wide + gap, one.now, theme.accent),
        ):
            tall = high * speed / most if most else 0.0
            painter.setBrush(colour)
            painter.drawRoundedRect(QRectF(at, high - tall, wide, tall), 3, 3)
        below = QRectF(room.left(), high + look.px(6), room.width(), look.px(18))
        painter.setPen(theme.text)
        painter.setFont(look.font(12))
        painter.drawText(below, Qt.AlignmentFlag.AlignCenter, one.name)
        below.translate(0, look.px(18))
        painter.setPen(theme.accent_text if one.speedup > 1 else theme.text_muted)
        painter.setFont(look.font(12, QFont.Weight.DemiBold))
        painter.drawText(below, Qt.AlignmentFlag.AlignCenter, f"{one.speedup:.2f}×")

    def _on_look_changed(self) -> None:
        self.updateGeometry()
        self.update()
