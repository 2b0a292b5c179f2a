"""The lines of a table. They are painted here: Qt takes longer for them than for the text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF

from slipstream.ui.transcript.entries import Entry, Place
from slipstream.ui.transcript.styles import CELL_PADDING, Styles


@dataclass(frozen=True, slots=True)
class Grid:
    """Where the cells of a table stand in the document.

    Attributes:
        columns: the left edge of each, and the right edge of the last.
        rows: the top edge of each, and the bottom edge of the last.
        padding: from the corner of a cell to its text.
    """

    columns: list[float]
    rows: list[float]
    padding: QPointF


def table_area(entry: Entry, styles: Styles) -> QRectF:
    """Where a table lies in the document, without the space around it."""
    assert entry.table is not None
    layout = entry.first.document().documentLayout()
    # Its corner is that of the first text, its size includes the margins.
    found = layout.frameBoundingRect(entry.table)
    form = entry.table.frameFormat()
    corner = found.topLeft() - _padding(styles)
    return QRectF(
        corner.x(),
        corner.y(),
        found.width() - form.leftMargin(),
        found.height() - form.topMargin(),
    )


def grid_of(entry: Entry, styles: Styles, area: QRectF) -> Grid:
    """Ask Qt where the cells of a table are; ``area`` is the table's."""
    padding = _padding(styles)
    columns = [_origin(place).x() - padding.x() for place in entry.cells[0]]
    rows = [_origin(places[0]).y() - padding.y() for places in entry.cells]
    return Grid([*columns, area.right()], [*rows, area.bottom()], padding)


def lines(grid: Grid, view: QRectF, *, goes_on: bool) -> Iterator[QRectF]:
    """The lines around the cells that are in view.

    Args:
        grid: where the cells are.
        view: the part of the document to paint.
        goes_on: the table continues another, whose last line is its first.
    """
    left, right = round(grid.columns[0]), round(grid.columns[-1])
    top, bottom = round(grid.rows[0]), round(grid.rows[-1])
    first = max(bisect_left(grid.rows, view.top()) - 1, int(goes_on))
    for row in grid.rows[first:]:
        if row > view.bottom() + 1:
            break
        yield QRectF(left, round(row) - 1, right - left, 1)
    for column in grid.columns:
        yield QRectF(min(round(column), right - 1), top - 1, 1, bottom - top + 1)


def _padding(styles: Styles) -> QPointF:
    return QPointF(styles.px(CELL_PADDING), styles.px(CELL_PADDING))


def _origin(place: Place) -> QPointF:
    """Where a text lies in the document; its layout knows only where in the cell."""
    block = place.block
    return block.document().documentLayout().blockBoundingRect(block).topLeft()
