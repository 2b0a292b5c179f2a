"""What is painted under the text: boxes, the tint of drafted tokens, the caret.

Only what is on screen is visited, so switching the tint costs one repaint.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QTextBlock

from slipstream.ui.transcript.blocks import Box, BoxKind, Kind
from slipstream.ui.transcript.entries import Entry
from slipstream.ui.transcript.grid import grid_of, lines, table_area
from slipstream.ui.transcript.message import Message, Reply
from slipstream.ui.transcript.styles import FAR, PADDING, Styles
from slipstream.ui.transcript.tinting import table_tint, text_tint, x_of


@dataclass
class _Found:
    shapes: dict[tuple[int, Box], QRectF] = field(default_factory=dict)
    tints: list[QRectF] = field(default_factory=list)
    lines: list[QRectF] = field(default_factory=list)
    caret: QRectF | None = None


def paint(
    painter: QPainter,
    messages: Sequence[Message],
    written: int,
    styles: Styles,
    view: QRectF,
    first: int,
    *,
    tint: bool,
) -> None:
    """Paint everything that lies under the text.

    Args:
        painter: paints in the document's coordinates.
        messages: all messages.
        written: number of the first one that stands in the document.
        styles: measures and colours.
        view: the part of the document to paint.
        first: position in the document of the first character there.
        tint: show which characters the drafter supplied.
    """
    found = _Found()
    for message, entry in _entries_from(messages, written, first):
        top, bottom = _extent(entry, styles)
        if top > view.bottom() + FAR:
            break
        _add_shapes(found, message.number, entry, styles, top, bottom)
        drafted = message.drafted if tint and isinstance(message, Reply) else None
        if entry.table is not None:
            _add_table(found, entry, styles, view, drafted)
            continue
        # Keeps the shaped glyphs: drawing the same lines again takes a third less time.
        entry.first.layout().setCacheEnabled(True)
        if entry.block.kind is Kind.RULE:
            found.lines.append(QRectF(0, (top + bottom) / 2, styles.column, 1))
        if drafted is not None:
            found.tints += text_tint(entry, drafted, styles.column)
        if isinstance(message, Reply) and message.streaming and entry is message.entries[-1]:
            found.caret = _caret(entry, styles)
    _draw(painter, found, styles)


def _entries_from(
    messages: Sequence[Message], written: int, position: int
) -> Iterator[tuple[Message, Entry]]:
    """The entries from the one before the position on: a box that starts above is not cut off."""
    start = bisect_right(messages, position, written, key=lambda m: m.entries[0].first.position())
    for number in range(max(start - 2, written), len(messages)):
        entries = messages[number].entries
        at = bisect_right(entries, position, key=lambda each: each.first.position())
        for index in range(max(at - 2, 0), len(entries)):
            yield messages[number], entries[index]


def _extent(entry: Entry, styles: Styles) -> tuple[float, float]:
    """Top and bottom of an entry's text in the document."""
    if entry.table is not None:
        area = table_area(entry, styles)
        return area.top(), area.bottom()
    layout = entry.first.layout()
    top = layout.position().y()
    return top, top + layout.lineCount() * entry.first.blockFormat().lineHeight()


def _add_shapes(
    found: _Found, number: int, entry: Entry, styles: Styles, top: float, bottom: float
) -> None:
    for box in reversed(entry.block.boxes):
        top -= styles.px(PADDING[box.kind].top)
        bottom += styles.px(PADDING[box.kind].bottom)
        left, right = _sides(box, entry.first, styles)
        area = QRectF(left, top, right - left, bottom - top)
        known = found.shapes.get((number, box))
        found.shapes[number, box] = area if known is None else known.united(area)


def _add_table(
    found: _Found, entry: Entry, styles: Styles, view: QRectF, drafted: bytearray | None
) -> None:
    grid = grid_of(entry, styles, table_area(entry, styles))
    found.lines += lines(grid, view, goes_on=not entry.block.gap)
    if drafted is not None:
        found.tints += table_tint(entry, drafted, grid, view)


def _sides(box: Box, block: QTextBlock, styles: Styles) -> tuple[float, float]:
    layout = block.layout()
    padding = styles.px(PADDING[box.kind].x)
    if box.kind is BoxKind.USER:
        return block.blockFormat().leftMargin() - padding, styles.column
    left = styles.px(box.indent)
    if box.kind is BoxKind.PILL and layout.lineCount():
        return left, left + layout.lineAt(0).naturalTextWidth() + 2 * padding
    return left, styles.column


def _caret(entry: Entry, styles: Styles) -> QRectF | None:
    layout = entry.last.layout()
    if entry.table is not None or not layout.lineCount():
        return None
    number = layout.lineCount() - 1
    height = entry.last.blockFormat().lineHeight()
    x = layout.position().x() + x_of(layout.lineAt(number), entry.last.length() - 1)
    top = layout.position().y() + number * height
    return QRectF(x + 1, top + 2, styles.px(2), height - 4)


def _draw(painter: QPainter, found: _Found, styles: Styles) -> None:
    theme = styles.theme
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for (_, box), area in found.shapes.items():
        _draw_shape(painter, box, area, styles)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(theme.accent_soft))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    painter.drawRects(found.tints)
    painter.setBrush(QColor(theme.border))
    painter.drawRects(found.lines)
    if found.caret is not None:
        painter.fillRect(found.caret, QColor(theme.accent))


def _draw_shape(painter: QPainter, box: Box, area: QRectF, styles: Styles) -> None:
    theme = styles.theme
    if box.kind in (BoxKind.QUOTE, BoxKind.THOUGHT):
        bar = QRectF(area.left(), area.top(), styles.px(3), area.height())
        painter.fillRect(bar, QColor(theme.border))
        return
    radius = min(styles.px(12), area.height() / 2)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(theme.bubble))
    if box.kind is BoxKind.PILL:
        painter.setBrush(QColor(theme.pill))
    if box.kind is BoxKind.CODE:
        painter.setPen(QColor(theme.border))
        painter.setBrush(QColor(theme.code))
        area = area.adjusted(0.5, 0.5, -0.5, -0.5)
    painter.drawRoundedRect(area, radius, radius)
