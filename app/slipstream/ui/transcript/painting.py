"""What is painted under the text: boxes, the tint of drafted tokens, the caret.

Only what is on screen is visited, so switching the tint costs one repaint.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QTextBlock, QTextLine

from slipstream.ui.transcript.blocks import Box, BoxKind, Kind
from slipstream.ui.transcript.message import Message, Reply
from slipstream.ui.transcript.styles import FAR, PADDING, Styles
from slipstream.ui.transcript.writer import Entry, Tint


@dataclass
class _Found:
    shapes: dict[tuple[int, Box], QRectF] = field(default_factory=dict)
    tints: list[QRectF] = field(default_factory=list)
    rules: list[QRectF] = field(default_factory=list)
    caret: QRectF | None = None


def paint(
    painter: QPainter,
    messages: Sequence[Message],
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
        styles: measures and colours.
        view: the part of the document to paint.
        first: position in the document of the first character there.
        tint: show which characters the drafter supplied.
    """
    found = _Found()
    for message, entry in _entries_from(messages, first):
        top, bottom = _extent(entry)
        if top > view.bottom() + FAR:
            break
        # Keeps the shaped glyphs: drawing the same lines again takes a third less time.
        entry.first.layout().setCacheEnabled(True)
        _add_shapes(found, message.number, entry, styles, top, bottom)
        if entry.block.kind is Kind.RULE:
            found.rules.append(QRectF(0, (top + bottom) / 2, styles.column, 1))
        if isinstance(message, Reply):
            if tint:
                origin = _origin(entry.first)
                found.tints += (a.translated(origin) for a in _tint(entry, message.drafted, styles))
            if message.streaming and entry is message.entries[-1]:
                found.caret = _caret(entry, styles)
    _draw(painter, found, styles)


def _entries_from(messages: Sequence[Message], position: int) -> Iterator[tuple[Message, Entry]]:
    """The entries from the one before the position on: a box that starts above is not cut off."""
    start = bisect_right(messages, position, key=lambda each: each.entries[0].first.position())
    for message in messages[max(start - 1, 0) :]:
        at = bisect_right(message.entries, position, key=lambda each: each.first.position())
        for index in range(max(at - 2, 0), len(message.entries)):
            yield message, message.entries[index]


def _extent(entry: Entry) -> tuple[float, float]:
    """Top and bottom of an entry's text in the document."""
    if entry.table is not None:
        area = entry.first.document().documentLayout().frameBoundingRect(entry.table)
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


def _sides(box: Box, block: QTextBlock, styles: Styles) -> tuple[float, float]:
    layout = block.layout()
    padding = styles.px(PADDING[box.kind].x)
    if box.kind is BoxKind.USER:
        return block.blockFormat().leftMargin() - padding, styles.column
    left = styles.px(box.indent)
    if box.kind is BoxKind.PILL and layout.lineCount():
        return left, left + layout.lineAt(0).naturalTextWidth() + 2 * padding
    return left, styles.column


def _tint(entry: Entry, drafted: bytearray, styles: Styles) -> tuple[QRectF, ...]:
    """The tinted areas of an entry, from its origin. Kept until its text or its width changes."""
    kept = entry.tint
    if kept is None or kept.column != styles.column:
        origin = _origin(entry.first)
        areas = tuple(area.translated(-origin) for area in _tinted_areas(entry, drafted))
        kept = entry.tint = Tint(styles.column, areas)
    return kept.areas


def _tinted_areas(entry: Entry, drafted: bytearray) -> Iterator[QRectF]:
    if entry.table is None:
        yield from _tinted(entry.first, entry.block.text, entry.block.offsets, drafted)
        return
    for row, cells in enumerate(entry.block.rows):
        for column, cell in enumerate(cells):
            place = entry.table.cellAt(row, column).firstCursorPosition().block()
            text = "".join(run.text for run in cell.runs)
            yield from _tinted(place, text, cell.offsets, drafted)


def _tinted(
    block: QTextBlock, text: str, offsets: Sequence[int], drafted: bytearray
) -> Iterator[QRectF]:
    layout = block.layout()
    height = block.blockFormat().lineHeight()
    origin = _origin(block)
    for start, end in drafted_ranges(text, offsets, drafted):
        line = layout.lineForTextPosition(start)
        while line.isValid() and line.textStart() < end:
            first = max(start, line.textStart())
            last = min(end, line.textStart() + line.textLength())
            number = line.lineNumber()
            if first < last:
                left, right = _x(line, first), _x(line, last)
                top = origin.y() + number * height
                yield QRectF(origin.x() + left, top + 2, right - left, height - 2)
            if number + 1 == layout.lineCount():
                break
            line = layout.lineAt(number + 1)


def _origin(block: QTextBlock) -> QPointF:
    """Where a block's layout lies in the document; it knows only where in its cell."""
    return block.document().documentLayout().blockBoundingRect(block).topLeft()


def drafted_ranges(
    text: str, offsets: Sequence[int], drafted: Sequence[int]
) -> list[tuple[int, int]]:
    """The parts of a shown text that the drafter supplied, without its indentation.

    They are counted in UTF-16 units, as Qt does.

    Args:
        text: what is shown.
        offsets: where each of its characters stands in the raw text; -1 if nowhere.
        drafted: for each character of the raw text, 1 if the drafter supplied it.
    """
    ranges: list[tuple[int, int]] = []
    at = 0
    indentation = len(text) - len(text.lstrip())
    for index, (character, offset) in enumerate(zip(text, offsets, strict=False)):
        end = at + (2 if character > "\uffff" else 1)
        if index >= indentation and 0 <= offset < len(drafted) and drafted[offset]:
            if ranges and ranges[-1][1] == at:
                ranges[-1] = (ranges[-1][0], end)
            else:
                ranges.append((at, end))
        at = end
    return ranges


def _x(line: QTextLine, position: int) -> float:
    # PySide returns the position as well.
    return float(line.cursorToX(position)[0])  # type: ignore[index]


def _caret(entry: Entry, styles: Styles) -> QRectF | None:
    layout = entry.last.layout()
    if entry.table is not None or not layout.lineCount():
        return None
    number = layout.lineCount() - 1
    height = entry.last.blockFormat().lineHeight()
    x = layout.position().x() + _x(layout.lineAt(number), entry.last.length() - 1)
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
    for rule in found.rules:
        painter.fillRect(rule, QColor(theme.border))
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
