"""The live curve under the big number."""

from collections import deque
from itertools import pairwise
from math import floor, log10

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from slipstream.ui.i18n import tr
from slipstream.ui.look import Look, tabular
from slipstream.words import count

_POINTS = 120
_LABEL = 16  # pixels at 100 % text size, for the number at the top
_STEPS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)


class Sparkline(QWidget):
    """The last values as a line over a filled area, from zero to the number at the top."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._values: deque[float] = deque(maxlen=_POINTS)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Speed over time"))
        look.changed.connect(self.updateGeometry)

    def add(self, value: float) -> None:
        """Show one more value; the oldest leaves."""
        self._values.append(value)
        self.update()

    def clear(self) -> None:
        """Start anew."""
        self._values.clear()
        self.update()

    @property
    def values(self) -> tuple[float, ...]:
        """What it shows, oldest first."""
        return tuple(self._values)

    @property
    def top(self) -> float:
        """The top of its scale: a round number that no value exceeds; 0 without a curve."""
        return round_above(max(self._values, default=0.0)) if len(self._values) > 1 else 0.0

    def sizeHint(self) -> QSize:  # noqa: D102, N802
        return QSize(120, self._look.px(_LABEL + 54))

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: D102, N802
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if self.top > 0:
                self._paint_scale(painter)
                self._paint_curve(painter, self._points())

    @property
    def _ceiling(self) -> float:
        """Where the top of the scale is painted; above it stands its number."""
        return self._look.px(_LABEL) + 0.5

    @property
    def _bottom(self) -> float:
        return self.height() - 0.5

    def _paint_scale(self, painter: QPainter) -> None:
        theme, look = self._look.theme, self._look
        painter.setPen(QPen(QColor(theme.border), 1, Qt.PenStyle.DotLine))
        painter.drawLine(QLineF(0, self._ceiling, self.width(), self._ceiling))
        painter.setPen(QPen(QColor(theme.border), 1))
        painter.drawLine(QLineF(0, self._bottom, self.width(), self._bottom))
        painter.setPen(QColor(theme.text_muted))
        painter.setFont(tabular(look.font(11)))
        place = QRectF(0, 0, self.width(), self._ceiling)
        number = count(self.top) if self.top >= 10 else f"{self.top:g}"
        painter.drawText(
            place,
            Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
            f"{number} {tr('tok/s')}",
        )

    def _paint_curve(self, painter: QPainter, points: list[QPointF]) -> None:
        theme = self._look.theme
        below = (QPointF(points[-1].x(), self._bottom), QPointF(points[0].x(), self._bottom))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.accent_soft))
        painter.drawPolygon(QPolygonF([*points, *below]))
        painter.setPen(QPen(QColor(theme.accent), 2))
        # One polyline with a wide antialiased pen takes 20 to 160 ms in Qt; lines, under 1.
        painter.drawLines([QLineF(a, b) for a, b in pairwise(points)])

    def _points(self) -> list[QPointF]:
        step = self.width() / (len(self._values) - 1)
        height, top = self._bottom - self._ceiling, self.top
        return [
            QPointF(i * step, self._bottom - height * value / top)
            for i, value in enumerate(self._values)
        ]


def round_above(value: float) -> float:
    """The next number that is easy to read, so that the scale seldom changes: 60 for 53.2."""
    if value <= 0:
        return 0.0
    unit = 10.0 ** floor(log10(value))
    return next((step * unit for step in _STEPS if value <= step * unit), 10 * unit)
