"""Paints the rows of lists; no row is a widget."""

from collections.abc import Iterable

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from slipstream.ui.look import Look, tabular
from slipstream.ui.widgets.pill_painting import paint_pill, pill_size
from slipstream.ui.widgets.rows import ROW, Index, Pill, Row
from slipstream.ui.widgets.shaped import draw, shaped

_WIDEST_NOTE = 0.45
"""Share of a row's width that stands on its right at most."""
_RIGHT = Qt.TextElideMode.ElideRight
_MIDDLE = Qt.TextElideMode.ElideMiddle


class _Ink:
    """Fonts and measures at one text size."""

    def __init__(self, look: Look) -> None:
        self.title = look.font(14, QFont.Weight.DemiBold)
        self.section = look.font(15, QFont.Weight.DemiBold)
        self.small = tabular(look.font(12))
        self.amount = tabular(look.font(14, QFont.Weight.DemiBold))
        self.side, self.above, self.gap = look.px(12), look.px(9), look.px(5)
        self.pill_gap, self.narrowest, self.radius = look.px(6), look.px(56), look.px(8)
        self.title_height = QFontMetrics(self.section).height()
        self.small_height = QFontMetrics(self.small).height()
        self.pill_height = pill_size("", look).height()

    def height(self, row: Row) -> int:
        """Of a row."""
        height = 2 * self.above + self.title_height
        if row.detail:
            height += self.gap + self.small_height
        if not row.heading and (row.pills or not row.detail):
            height += self.gap + self.pill_height
        return height


class RowPainter(QStyledItemDelegate):
    """Paints a row: its title, a line about it, its pills, and numbers on the right."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look
        self._measure()
        look.changed.connect(self._measure)

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: D102, N802
        return QSize(0, self._ink.height(index.data(ROW)))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:  # noqa: D102
        row: Row = index.data(ROW)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not row.heading:
            self._paint_ground(painter, option)
        side, above = self._ink.side, self._ink.above
        self._paint_words(painter, option.rect.adjusted(side, above, -side, -above), row)
        painter.restore()

    def _measure(self) -> None:
        self._ink = _Ink(self._look)

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        theme, state = self._look.theme, option.state
        selected = bool(state & QStyle.StateFlag.State_Selected)
        hovered = bool(state & QStyle.StateFlag.State_MouseOver)
        if not selected and not hovered:
            return
        focused = selected and bool(state & QStyle.StateFlag.State_HasFocus)
        edge = theme.accent if focused else theme.border if selected else theme.pill
        painter.setPen(QColor(edge))
        painter.setBrush(QColor(theme.raised if selected else theme.pill))
        radius = self._ink.radius
        painter.drawRoundedRect(option.rect.adjusted(1, 1, -2, -2), radius, radius)

    def _paint_words(self, painter: QPainter, place: QRect, row: Row) -> None:
        ink, theme = self._ink, self._look.theme
        line = QRect(place.left(), place.top(), place.width(), ink.title_height)
        used = self._on_right(painter, line, row.amount, ink.amount, theme.text)
        font = ink.section if row.heading else ink.title
        left = line.adjusted(0, 0, -used, 0)
        self._on_left(painter, left, row.title, font, theme.text, _MIDDLE)
        line.translate(0, ink.title_height + ink.gap)
        if row.detail:
            line.setHeight(ink.small_height)
            used = self._note(painter, line, row) if not row.pills else 0
            left = line.adjusted(0, 0, -used, 0)
            self._on_left(painter, left, row.detail, ink.small, theme.text_muted)
            line.translate(0, ink.small_height + ink.gap)
        if row.pills or not row.detail:
            line.setHeight(ink.pill_height)
            used = self._note(painter, line, row)
            self._pills(painter, line.adjusted(0, 0, -used, 0), row.pills)

    def _note(self, painter: QPainter, line: QRect, row: Row) -> int:
        place = line.adjusted(round(line.width() * (1 - _WIDEST_NOTE)), 0, 0, 0)
        colour = self._look.theme.text_muted
        return self._on_right(painter, place, row.note, self._ink.small, colour)

    def _on_left(
        self,
        painter: QPainter,
        place: QRect,
        text: str,
        font: QFont,
        colour: str,
        cut: Qt.TextElideMode = _RIGHT,
    ) -> None:
        if text:
            words = shaped(text, font, place.width(), cut)
            draw(painter, words, place.left(), place, font, colour)

    def _on_right(
        self, painter: QPainter, place: QRect, text: str, font: QFont, colour: str
    ) -> int:
        """Paint a text at the right end; the width that it takes, with the gap beside it."""
        if not text:
            return 0
        words = shaped(text, font, place.width())
        draw(painter, words, place.right() + 1 - words.width, place, font, colour)
        return words.width + self._ink.side

    def _pills(self, painter: QPainter, line: QRect, pills: Iterable[Pill]) -> None:
        """Paint pills one after the other; what finds no room is cut or left out."""
        ink, x = self._ink, line.left()
        for pill in pills:
            room = line.right() + 1 - x
            width = pill_size(pill.words, self._look).width()
            if room < min(width, ink.narrowest):
                break
            width = min(width, room)
            place = QRect(x, line.top(), width, ink.pill_height)
            paint_pill(painter, place, pill.words, pill.tone, self._look)
            x += width + ink.pill_gap
