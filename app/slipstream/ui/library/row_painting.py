"""Paints the rows of the lists of models; no row is a widget."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QStaticText
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from slipstream.ui.library.rows import Pill, Row, Tone
from slipstream.ui.look import Look, tabular

ROW = Qt.ItemDataRole.UserRole
"""Where the list keeps a row."""

_Index = QModelIndex | QPersistentModelIndex
_WIDEST_NOTE = 0.45
"""Share of a row's width that stands on its right at most."""
_SHAPED = 4096
"""Texts that are kept as they were laid out: that takes longer than all other painting."""


class _Ink:
    """Fonts and measures at one text size, and the texts that were laid out in them."""

    def __init__(self, look: Look) -> None:
        self.title = look.font(14, QFont.Weight.DemiBold)
        self.section = look.font(15, QFont.Weight.DemiBold)
        self.small = tabular(look.font(12))
        self.pill = look.font(12, QFont.Weight.Medium)
        self.amount = tabular(look.font(14, QFont.Weight.DemiBold))
        self.side, self.above, self.gap = look.px(12), look.px(9), look.px(5)
        self.pill_side, self.pill_gap, self.radius = look.px(8), look.px(6), look.px(8)
        self.title_height = QFontMetrics(self.section).height()
        self.small_height = QFontMetrics(self.small).height()
        self.pill_height = QFontMetrics(self.pill).height() + look.px(4)
        self.shaped = lru_cache(_SHAPED)(_shaped)

    def height(self, row: Row) -> int:
        """Of a row."""
        height = 2 * self.above + self.title_height
        if row.detail:
            height += self.gap + self.small_height
        if row.thing is not None and (row.pills or not row.detail):
            height += self.gap + self.pill_height
        return height


@dataclass(frozen=True)
class _Shaped:
    """A text laid out, cut where there was no room; width and height in pixels."""

    text: QStaticText
    width: int
    height: int


def _shaped(text: str, font: QFont, room: int) -> _Shaped:
    metrics = QFontMetrics(font)
    shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
    made = QStaticText(shown)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.prepare(font=font)
    return _Shaped(made, metrics.horizontalAdvance(shown), metrics.height())


class RowPainter(QStyledItemDelegate):
    """Paints a row: its title, a line about it, its pills, and numbers on the right."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look
        self._measure()
        look.changed.connect(self._measure)

    def sizeHint(self, _option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: D102, N802
        return QSize(0, self._ink.height(index.data(ROW)))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:  # noqa: D102
        row: Row = index.data(ROW)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if row.thing is not None:
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
        font = ink.title if row.thing is not None else ink.section
        self._on_left(painter, line.adjusted(0, 0, -used, 0), row.title, font, theme.text)
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
        self, painter: QPainter, place: QRect, text: str, font: QFont, colour: str
    ) -> None:
        if text:
            shaped = self._ink.shaped(text, font, place.width())
            _draw(painter, shaped, place.left(), place, font, colour)

    def _on_right(
        self, painter: QPainter, place: QRect, text: str, font: QFont, colour: str
    ) -> int:
        """Paint a text at the right end; the width that it takes, with the gap beside it."""
        if not text:
            return 0
        shaped = self._ink.shaped(text, font, place.width())
        _draw(painter, shaped, place.right() + 1 - shaped.width, place, font, colour)
        return shaped.width + self._ink.side

    def _pills(self, painter: QPainter, line: QRect, pills: Iterable[Pill]) -> None:
        """Paint pills one after the other; what finds no room is cut or left out."""
        ink, x = self._ink, line.left()
        for pill in pills:
            room = line.right() - x - 2 * ink.pill_side
            if room < 3 * ink.pill_side:
                break
            shaped = ink.shaped(pill.text, ink.pill, room)
            box = QRect(x, line.top(), shaped.width + 2 * ink.pill_side, ink.pill_height)
            ground, colour = self._colours(pill.tone)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(ground))
            painter.drawRoundedRect(box, ink.pill_height / 2, ink.pill_height / 2)
            _draw(painter, shaped, x + ink.pill_side, box, ink.pill, colour)
            x += box.width() + ink.pill_gap

    def _colours(self, tone: Tone) -> tuple[str, str]:
        """Ground and text of a pill."""
        theme = self._look.theme
        return {
            Tone.PLAIN: (theme.pill, theme.text_muted),
            Tone.ACCENT: (theme.accent_soft, theme.accent_text),
            Tone.WARNING: (theme.warning_soft, theme.warning),
            Tone.DANGER: (theme.danger_soft, theme.danger),
        }[tone]


def _draw(
    painter: QPainter, shaped: _Shaped, x: int, line: QRect, font: QFont, colour: str
) -> None:
    """Paint a text in the middle of the height of a line."""
    painter.setFont(font)
    painter.setPen(QColor(colour))
    painter.drawStaticText(x, line.top() + (line.height() - shaped.height) // 2, shaped.text)
