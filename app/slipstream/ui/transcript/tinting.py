"""The areas of the text that the drafter supplied."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QTextBlock, QTextLine

from slipstream.ui.transcript.entries import Entry, Place, Tint
from slipstream.ui.transcript.grid import Grid


def text_tint(entry: Entry, drafted: bytearray, width: float) -> Iterator[QRectF]:
    """The tinted areas of an entry that is no table, in the document.

    Args:
        entry: what stands in the document.
        drafted: for each character of the raw text, 1 if the drafter supplied it.
        width: of the column; areas are kept until it changes, or the text.
    """
    kept = entry.place.tint
    if kept is None or kept.width != width:
        kept = _tint(entry.place, entry.block.text, entry.block.offsets, drafted, width)
    if kept.areas:
        origin = entry.first.layout().position()
        yield from (area.translated(origin) for area in kept.areas)


def table_tint(entry: Entry, drafted: bytearray, grid: Grid, view: QRectF) -> Iterator[QRectF]:
    """The tinted areas of those rows of a table that are in view; arguments as above."""
    first = max(bisect_right(grid.rows, view.top()) - 1, 0)
    last = min(bisect_left(grid.rows, view.bottom()), len(entry.cells))
    for row in range(first, last):
        cells = entry.block.rows[row]
        for column, (place, cell) in enumerate(zip(entry.cells[row], cells, strict=True)):
            width = grid.columns[column + 1] - grid.columns[column]
            kept = place.tint
            if kept is None or kept.width != width:
                text = "".join(run.text for run in cell.runs)
                kept = _tint(place, text, cell.offsets, drafted, width)
            if kept.areas:
                origin = QPointF(grid.columns[column], grid.rows[row]) + grid.padding
                yield from (area.translated(origin) for area in kept.areas)


def _tint(
    place: Place, text: str, offsets: Sequence[int], drafted: bytearray, width: float
) -> Tint:
    """Find the tinted areas of a text, and keep them."""
    # Keeps the shaped glyphs: drawing the same lines again takes a third less time.
    place.block.layout().setCacheEnabled(True)
    place.tint = Tint(width, tuple(_tinted(place.block, text, offsets, drafted)))
    return place.tint


def _tinted(
    block: QTextBlock, text: str, offsets: Sequence[int], drafted: bytearray
) -> Iterator[QRectF]:
    layout = block.layout()
    height = block.blockFormat().lineHeight()
    for start, end in drafted_ranges(text, offsets, drafted):
        line = layout.lineForTextPosition(start)
        while line.isValid() and line.textStart() < end:
            first = max(start, line.textStart())
            last = min(end, line.textStart() + line.textLength())
            number = line.lineNumber()
            if first < last:
                left, right = x_of(line, first), x_of(line, last)
                yield QRectF(left, number * height + 2, right - left, height - 2)
            if number + 1 == layout.lineCount():
                break
            line = layout.lineAt(number + 1)


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


def x_of(line: QTextLine, position: int) -> float:
    """How far from the left a position is."""
    # PySide returns the position as well.
    return float(line.cursorToX(position)[0])  # type: ignore[index]
