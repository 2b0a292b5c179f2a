"""Puts blocks into the text document and changes only what differs from what is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from PySide6.QtGui import QTextCursor, QTextDocument, QTextTable

from slipstream.ui.transcript.blocks import ACTION, Block, Cell, Kind, Run
from slipstream.ui.transcript.entries import Entry, Place, entry_at
from slipstream.ui.transcript.styles import Styles, column_widths


class Writer:
    """Writes into one document; everything is inserted after an entry that is already there."""

    def __init__(self, document: QTextDocument, styles: Styles) -> None:
        self.styles = styles
        self._cursor = QTextCursor(document)

    def start(self) -> Entry:
        """The entry before all others: an empty line of no height, for an empty document."""
        self._cursor.setPosition(0)
        self._cursor.setBlockFormat(self.styles.collapsed())
        return entry_at(Block(Kind.PARAGRAPH), self._cursor.block())

    def update(
        self,
        entries: list[Entry],
        blocks: Sequence[Block],
        before: Entry,
        number: int,
        settled: int = 0,
    ) -> None:
        """Make ``entries``, which follow ``before``, show ``blocks``.

        Args:
            entries: the entries of one message; changed in place.
            blocks: what they are to show, without the settled ones.
            before: the last entry of the message before.
            number: the message's number, which its own links carry.
            settled: so many of the first entries stay as they are, and are not looked at.
        """
        tail = entries[settled:]
        start = _common(tail, blocks)
        if start < min(len(tail), len(blocks)) and self._grow(tail[start], blocks[start], number):
            start += 1
        if start == len(tail) == len(blocks):
            return
        after = _common(tail[start:][::-1], blocks[start:][::-1])
        stop = len(tail) - after
        first = settled + start
        anchor = entries[first - 1] if first else before
        if stop > start:
            self._remove_after(anchor, tail[stop - 1])
        made: list[Entry] = []
        for block in blocks[start : len(blocks) - after]:
            anchor = self._insert(anchor, block, number, starts=not first and not made)
            made.append(anchor)
        entries[first : settled + stop] = made
        if after:
            self.space_again(tail[stop], anchor, starts=not first and not made)

    def refit(self, entries: Sequence[Entry], before: Entry) -> None:
        """Give those blocks a new format whose format depends on the column's width."""
        starts = True
        for entry in entries:
            if entry.block.kind in (Kind.USER, Kind.CODE_LABEL, Kind.FOOTER):
                self.space_again(entry, before, starts=starts)
            before, starts = entry, False

    def space_again(self, entry: Entry, before: Entry, *, starts: bool) -> None:
        """Give an entry that now follows ``before`` the format for that."""
        if entry.table is not None:
            made = self.styles.table_format(before.block, entry.block, starts=starts)
            entry.table.setFormat(made)
            return
        self._cursor.setPosition(entry.first.position())
        self._cursor.setBlockFormat(
            self.styles.block_format(before.block, entry.block, starts=starts)
        )

    def _remove_after(self, anchor: Entry, last: Entry) -> None:
        """Remove what follows ``anchor`` up to ``last``."""
        made = anchor.last.blockFormat()
        self._remove(anchor.end, last.end)
        # Of an empty block Qt keeps the one that follows in its place.
        anchor.last = self._cursor.block()
        if anchor.table is None:
            anchor.first = anchor.last
        self._cursor.setBlockFormat(made)

    def _remove(self, start: int, end: int) -> None:
        self._cursor.setPosition(start)
        self._cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        self._cursor.removeSelectedText()

    def _insert(self, anchor: Entry, block: Block, number: int, *, starts: bool) -> Entry:
        cursor = self._cursor
        cursor.setPosition(anchor.end)
        if block.kind is Kind.TABLE:
            return self._insert_table(anchor, block, starts=starts)
        plain = self.styles.char_format(block.kind, Run(""))
        cursor.insertBlock(self.styles.block_format(anchor.block, block, starts=starts), plain)
        self._insert_runs(block.kind, block.runs, number)
        return entry_at(block, cursor.block())

    def _insert_runs(
        self, kind: Kind, runs: Sequence[Run], number: int, *, header: bool = False
    ) -> None:
        for run in runs:
            if run.href.startswith(ACTION):
                run = replace(run, href=f"{run.href}#{number}")
            self._cursor.insertText(run.text, self.styles.char_format(kind, run, header=header))

    def _insert_table(self, anchor: Entry, block: Block, *, starts: bool) -> Entry:
        cursor = self._cursor
        cursor.insertBlock(self.styles.collapsed())
        first = cursor.block()
        made = self.styles.table_format(anchor.block, block, starts=starts)
        table = cursor.insertTable(len(block.rows), len(block.rows[0]), made)
        entry = entry_at(block, first)
        entry.table = table
        entry.cells = [
            [self._fill_cell(table, row, column, cell) for column, cell in enumerate(cells)]
            for row, cells in enumerate(block.rows)
        ]
        cursor.setPosition(table.lastPosition() + 1)
        cursor.setBlockFormat(self.styles.collapsed())
        entry.last = cursor.block()
        return entry

    def _fill_cell(self, table: QTextTable, row: int, column: int, cell: Cell) -> Place:
        place = table.cellAt(row, column)
        self._remove(place.firstPosition(), place.lastPosition())
        self._cursor.setBlockFormat(self.styles.cell_format(cell.align))
        self._insert_runs(Kind.TABLE, cell.runs, 0, header=cell.header)
        return Place(self._cursor.block())

    def _grow(self, entry: Entry, block: Block, number: int) -> bool:
        """Add to an entry what the new block has more; False if that is not how they differ."""
        if _frame(block) != _frame(entry.block):
            return False
        if entry.table is not None:
            return self._grow_table(entry, entry.table, block)
        more = _more(entry.block.runs, block.runs)
        if more is None:
            return False
        self._cursor.setPosition(entry.end)
        self._insert_runs(block.kind, more, number)
        entry.block = block
        entry.place.tint = None
        return True

    def _grow_table(self, entry: Entry, table: QTextTable, block: Block) -> bool:
        old = entry.block
        if len(block.rows) < len(old.rows) or len(block.rows[0]) != len(old.rows[0]):
            return False
        if block.widths != old.widths:
            made = table.format().toTableFormat()
            made.setColumnWidthConstraints(column_widths(block))
            table.setFormat(made)
        if len(block.rows) > len(old.rows):
            table.appendRows(len(block.rows) - len(old.rows))
        for row, cells in enumerate(block.rows):
            before = old.rows[row] if row < len(old.rows) else ()
            if row == len(entry.cells):
                entry.cells.append([])
            if cells is not before:
                self._fill_row(table, row, cells, before, entry.cells[row])
        entry.block = block
        return True

    def _fill_row(
        self,
        table: QTextTable,
        row: int,
        cells: Sequence[Cell],
        before: Sequence[Cell],
        places: list[Place],
    ) -> None:
        for column, cell in enumerate(cells):
            if column == len(places):
                places.append(self._fill_cell(table, row, column, cell))
            elif before[column] != cell:
                places[column] = self._fill_cell(table, row, column, cell)
            else:
                places[column].tint = None


def _frame(block: Block) -> Block:
    """A block without what can grow in place."""
    return replace(block, runs=(), rows=(), widths=())


def _common(entries: Sequence[Entry], blocks: Sequence[Block]) -> int:
    """How many entries at the start already show the blocks."""
    count = 0
    for entry, block in zip(entries, blocks, strict=False):
        if entry.block is not block:
            if entry.block != block:
                break
            if entry.block.offsets != block.offsets:
                entry.place.tint = None
            for place in chain.from_iterable(entry.cells):
                place.tint = None
            entry.block = block
        count += 1
    return count


def _more(old: Sequence[Run], new: Sequence[Run]) -> list[Run] | None:
    """What comes after ``old`` in ``new``; None if ``new`` does not start with it."""
    if not old:
        return list(new)
    last = len(old) - 1
    if len(new) < len(old) or list(old[:last]) != list(new[:last]):
        return None
    grown = new[last]
    if replace(grown, text="") != replace(old[last], text=""):
        return None
    if not grown.text.startswith(old[last].text):
        return None
    rest = replace(grown, text=grown.text[len(old[last].text) :])
    return [rest, *new[last + 1 :]] if rest.text else list(new[last + 1 :])
