"""One quantization: its name, its size, its memory as a bar, and its verdict."""

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from slipstream.engine.picture import Line, Picture
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.picker.columns import REMARK_GAP, Columns
from slipstream.ui.picker.wording import capacity, file_size, remark, spoken, total_size
from slipstream.ui.widgets.memory_bar import paint_bar, parts_of
from slipstream.ui.widgets.pill_painting import paint_pill, pill_size
from slipstream.ui.widgets.shaped import draw, shaped


class QuantRow(QAbstractButton):
    """A row that is pressed to see the whole of it; painted, because there may be a hundred.

    Attributes:
        line: what it shows.
    """

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._columns: Columns | None = None
        self._picture: Picture | None = None
        self._most = 0
        self.line: Line | None = None
        self.setCheckable(True)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_line(self, line: Line, picture: Picture, most: int) -> None:
        """Show a quantization.

        Args:
            line: the quantization.
            picture: what it is part of.
            most: bytes that the whole width of its bar stands for.
        """
        self._picture, self._most = picture, most
        self.line = line
        self.update()

    def tell(self) -> None:
        """Say in words what is shown; not while it changes with every frame of a drag."""
        if self.line is not None and self._picture is not None:
            self.setAccessibleName(spoken(self.line, self._picture))
            self.setAccessibleDescription(self.line.why)
            self.setToolTip(self.line.why)

    def fit(self, columns: Columns) -> None:
        """Take over the columns that all rows share."""
        if columns != self._columns:
            self._columns = columns
            self.setFixedHeight(columns.height)
            self.update()

    def sizeHint(self) -> QSize:  # noqa: D102, N802
        return QSize(self._look.px(300), self._look.px(46))

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: D102, N802
        if self.line is None or self._columns is None or self._picture is None:
            return
        theme, own = self._look.theme, self._columns.fonts
        places = self._columns.places(self.width())
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_ground(painter)
            self._paint_label(painter, places.label)
            _write(painter, places.size, file_size(self.line), own.normal, theme.text_muted)
            parts = parts_of(self.line.plan.placement.need, theme)
            free = capacity(self._picture)
            paint_bar(painter, QRectF(places.bar), parts, self._most, free, self._look)
            _write(painter, places.total, total_size(self.line), own.bold, theme.text, right=True)
            self._paint_verdict(painter, places.verdict, left=self._columns.lines == 3)

    def _paint_ground(self, painter: QPainter) -> None:
        theme = self._look.theme
        place = QRectF(self.rect()).adjusted(4.5, 1.5, -4.5, -1.5)
        painter.setPen(Qt.PenStyle.NoPen)
        if self.line is not None and self.line.recommended:
            painter.setBrush(QColor(theme.accent_soft))
        elif self.underMouse() or self.isChecked():
            painter.setBrush(QColor(theme.pill))
        else:
            painter.setBrush(Qt.BrushStyle.NoBrush)
        if self.hasFocus():
            painter.setPen(QColor(theme.accent))
        painter.drawRoundedRect(place, 8, 8)

    def _paint_label(self, painter: QPainter, place: QRect) -> None:
        assert self.line is not None
        assert self._columns is not None
        theme, own, below = self._look.theme, self._columns.fonts, remark(self.line)
        upper = lower = place
        if self._columns.lines > 1:  # one beside the other
            taken = QFontMetrics(own.bold).horizontalAdvance(self.line.label)
            lower = place.adjusted(taken + self._look.px(REMARK_GAP), 0, 0, 0)
        elif below:
            half, edge = place.height() // 2, self._look.px(3)
            upper, lower = place.adjusted(0, edge, 0, -half), place.adjusted(0, half, 0, -edge)
        colour = theme.accent_text if self.line.recommended else theme.text_muted
        _write(painter, upper, self.line.label, own.bold, theme.text)
        _write(painter, lower, below, own.small, colour)

    def _paint_verdict(self, painter: QPainter, column: QRect, *, left: bool) -> None:
        assert self.line is not None
        size = pill_size(self.line.verdict, self._look)
        place = QRect(0, 0, min(size.width(), column.width()), size.height())
        place.moveCenter(column.center())
        place.moveLeft(column.left()) if left else place.moveRight(column.right())
        paint_pill(painter, place, self.line.verdict, self.line.tone, self._look)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: D102, N802
        if event.key() == Qt.Key.Key_Down:
            self.focusNextChild()
        elif event.key() == Qt.Key.Key_Up:
            self.focusPreviousChild()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)


def _write(
    painter: QPainter, place: QRect, words: str, font: QFont, colour: str, *, right: bool = False
) -> None:
    """Write one line of text, shortened where there is no room."""
    text = shaped(words, font, place.width())
    x = place.right() + 1 - text.width if right else place.left()
    draw(painter, text, x, place, font, colour)


def group_name(line: Line) -> str:
    """The heading that a quantization stands under."""
    if line.here:
        return tr("On this computer")
    if line.bits is None:
        return tr("Others")
    if line.bits >= 16:
        return tr("Not quantized")
    return tr("1 bit") if line.bits == 1 else tr("{n} bits").format(n=line.bits)
