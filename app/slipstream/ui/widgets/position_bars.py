"""How often the first, second, ... draft token was accepted, as bars."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from slipstream.ui.i18n import tr
from slipstream.ui.look import Look, tabular
from slipstream.ui.wording import percent

_GAP = 8
_FADE = 0.17  # how much paler each further bar is


class PositionBars(QWidget):
    """One bar per draft position, with its number and its share below."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._shares: tuple[float, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Accepted by draft position"))
        look.changed.connect(self.updateGeometry)

    @property
    def shares(self) -> tuple[float, ...]:
        """What it shows: shares from 0 to 1, first position first."""
        return self._shares

    def show_shares(self, shares: tuple[float, ...]) -> None:
        """Show these shares (0 to 1), the first draft position first."""
        if shares == self._shares:
            return
        self._shares = shares
        words = [f"{i}: {percent(share)}" for i, share in enumerate(shares, start=1)]
        self.setAccessibleDescription(", ".join(words))
        self.update()

    def sizeHint(self) -> QSize:  # noqa: D102, N802
        return QSize(120, self._look.px(96))

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: D102, N802
        if self._shares:
            with QPainter(self) as painter:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                self._paint(painter)

    def _paint(self, painter: QPainter) -> None:
        count = len(self._shares)
        gap = _GAP if count <= 8 else 3
        width = min((self.width() - gap * (count - 1)) / count, self._look.px(86))
        for i, share in enumerate(self._shares):
            self._paint_bar(painter, i, share, QRectF(i * (width + gap), 0, width, self.height()))

    def _paint_bar(self, painter: QPainter, index: int, share: float, cell: QRectF) -> None:
        theme, look = self._look.theme, self._look
        line = look.px(16)
        space = cell.height() - 2 * line - 4
        height = max(2.0, space * share)
        colour = QColor(theme.accent)
        colour.setAlphaF(max(0.25, 1 - _FADE * index))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawRoundedRect(QRectF(cell.x(), space - height, cell.width(), height), 3, 3)
        centre = Qt.AlignmentFlag.AlignCenter
        painter.setPen(QColor(theme.text_muted))
        painter.setFont(tabular(look.font(11)))
        number = QRectF(cell.x() - 4, space + 4, cell.width() + 8, line)
        painter.drawText(number, centre, str(index + 1))
        painter.setPen(QColor(theme.text))
        bold = tabular(look.font(11, QFont.Weight.Bold))
        painter.setFont(bold)
        label = percent(share)
        if QFontMetrics(bold).horizontalAdvance(label) > cell.width() + 6:
            label = label.split()[0]
        painter.drawText(number.translated(0, line), centre, label)
