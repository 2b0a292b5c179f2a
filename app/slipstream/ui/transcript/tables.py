"""Tables: their rows are read one by one, and a long one is parted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from slipstream.ui.transcript.blocks import Block, Cell, Run, offsets_of
from slipstream.ui.transcript.breaks import with_breaks
from slipstream.ui.transcript.cuts import Inside, Lines, Parsed
from slipstream.ui.transcript.inline import inline_runs, raw_offsets

if TYPE_CHECKING:
    from markdown_it.token import Token

# A table is laid out as a whole whenever a letter is added, so a long one goes on in others.
_FIRST_PART = 25  # rows; hardly any table has more, and its columns are as wide as they need
_NEXT_PART = 5
_NARROWEST, _WIDEST = 4, 40  # characters; between these a column is as wide as its text

Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class InsideTable(Inside):
    """A table that goes on after a cut.

    Attributes:
        rows: of the part that goes on, those before the cut.
        rows_above: how many rows the finished parts have.
        widths: of the columns in percent; empty while it is short.
    """

    rows: tuple[Row, ...] = ()
    rows_above: int = 0
    widths: tuple[float, ...] = ()


class Table:
    """One table while its tokens come."""

    def __init__(self, lines: Lines, *, outermost: bool) -> None:
        self._lines = lines
        self._outermost = outermost
        self._rows: list[list[Cell]] = []
        self._row_lines: list[int] = []
        self._align = "left"
        self._header = False
        self._cell_at = 0

    def open_row(self, token: Token) -> None:
        """A row begins."""
        self._rows.append([])
        self._row_lines.append(token.map[0] if token.map else 0)
        self._cell_at = 0

    def open_cell(self, token: Token) -> None:
        """A cell begins."""
        self._align = str(token.attrs.get("style", "")).removeprefix("text-align:") or "left"
        self._header = token.tag == "th"

    def fill_cell(self, token: Token) -> None:
        """The text of the cell that began."""
        children = token.children or []
        line = self._row_lines[-1]
        row = self._lines.texts[line]
        escaped = token.content.replace("|", "\\|")
        self._cell_at = max(row.find(escaped, self._cell_at), self._cell_at)
        raw, at = row[self._cell_at :], self._lines.at(line) + self._cell_at
        self._cell_at += len(escaped)
        places = raw_offsets(children, token.content, raw, at, 0, from_left=True)
        runs, offsets = with_breaks(inline_runs(children), places)
        self._rows[-1].append(Cell(runs, self._align, self._header, offsets))

    def close_row(self) -> None:
        """Cells beyond the last column, which Markdown drops, join the last one."""
        line = self._row_lines[-1]
        row = self._lines.texts[line]
        rest = row[self._cell_at :].strip(" \t|")
        if rest:
            last = self._rows[-1][-1]
            at = self._lines.at(line) + row.index(rest, self._cell_at)
            runs = (*last.runs, Run(f" | {rest}"))
            offsets = last.offsets + offsets_of([-1] * 3) + offsets_of(range(at, at + len(rest)))
            self._rows[-1][-1] = replace(last, runs=runs, offsets=offsets)

    def add_to(self, parsed: Parsed, inside: InsideTable | None, block: Block) -> None:
        """The table is complete, or as complete as the text.

        Args:
            parsed: takes its parts, and the place before its last row, where it can be cut.
            inside: what it continues. Then its head was there only to be read.
            block: a table without rows, which says where it stands.
        """
        rows = [tuple(row) for row in self._rows]
        if inside is None:
            inside, new = InsideTable(self._head(), self._lines.at(self._row_lines[0])), rows
            cuttable = self._outermost and len(rows) > 1
        else:
            new = rows[1:]
            cuttable = bool(new)
        known = (*inside.rows, *new)
        if not inside.rows_above and len(known) > _FIRST_PART and self._outermost:
            inside = replace(inside, widths=_widths(known[:_FIRST_PART]))
        for above, part in _parts(known, inside.rows_above, whole=not self._outermost):
            gap = 0 if above else block.gap
            parsed.blocks.append(replace(block, rows=part, widths=inside.widths, gap=gap))
            inside = replace(inside, rows=part[:-1], rows_above=above)
        if cuttable:
            line = self._row_lines[-1]
            parsed.cut_inside(inside, self._lines.at(line), len(parsed.blocks) - 1, line)

    def _head(self) -> str:
        first = self._row_lines[0]
        return "".join(f"{line}\n" for line in self._lines.texts[first : first + 2])


def _parts(
    rows: Sequence[Row], above: int, *, whole: bool
) -> Iterator[tuple[int, tuple[Row, ...]]]:
    """The rows of each part, and how many there are above it."""
    start = 0
    while start < len(rows):
        size = len(rows) if whole else _NEXT_PART if above else _FIRST_PART
        part = tuple(rows[start : start + size])
        yield above, part
        start += size
        above += len(part)


def _widths(rows: Sequence[Row]) -> tuple[float, ...]:
    """Widths of columns, in percent, that suit the text of these rows."""
    longest = [
        max(min(sum(len(run.text) for run in cell.runs), _WIDEST) for cell in column)
        for column in zip(*rows, strict=True)
    ]
    shares = [max(length, _NARROWEST) for length in longest]
    return tuple(100 * share / sum(shares) for share in shares)
