"""The live curve under the big number."""

from collections import deque
from itertools import pairwise

from PySide6.QtCore import QLineF, QPointF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from slipstream.ui.i18n import tr
from slipstream.ui.look import Look

_POINTS = 120


class Sparkline(QWidget):
    """The last values as a line over a filled area; the scale starts at zero."""

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

    def sizeHint(self) -> QSize:  # noqa: D102, N802
        return QSize(120, self._look.px(56))

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: D102, N802
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint(painter, self._points())

    def _paint(self, painter: QPainter, points: list[QPointF]) -> None:
        theme = self._look.theme
        if len(points) < 2:
            painter.setPen(QPen(QColor(theme.border), 1))
            painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)
            return
        bottom = float(self.height())
        area = [QPointF(points[0].x(), bottom), *points, QPointF(points[-1].x(), bottom)]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.accent_soft))
        painter.drawPolygon(QPolygonF(area))
        painter.setPen(QPen(QColor(theme.accent), 2))
        # One polyline with a wide antialiased pen takes 20 to 160 ms in Qt; lines, under 1.
        painter.drawLines([QLineF(a, b) for a, b in pairwise(points)])

    def _points(self) -> list[QPointF]:
        top = max(self._values, default=0.0)
        if top <= 0 or len(self._values) < 2:
            return []
        width, height = self.width(), self.height() - 4
        step = width / (len(self._values) - 1)
        return [
            QPointF(i * step, 2 + height * (1 - value / top * 0.92))
            for i, value in enumerate(self._values)
        ]
