"""The tokens of markdown-it to blocks, and the places where a growing text may be cut."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from slipstream.ui.i18n import tr
from slipstream.ui.transcript.blocks import (
    LINE_BREAK,
    Block,
    Box,
    BoxKind,
    Cell,
    Kind,
    Run,
    Style,
    offsets_of,
)
from slipstream.ui.transcript.colours import chunk_starts, coloured
from slipstream.ui.transcript.inline import inline_runs, raw_offsets, split_runs

if TYPE_CHECKING:
    from markdown_it.token import Token

COPY_CODE = "slipstream:code/"

_QUOTE_INDENT = 16
_BULLET_HANG = 20
_NUMBER_HANG = 28
_TIGHT = 4
_BULLETS = "•◦▪"
# A paragraph that is longer than this goes on in a block of its own: the last block of a growing
# text is read and laid out again with every token. Hardly any real paragraph is as long.
_LONGEST_PARAGRAPH = 2000
_REACH = 200  # characters in which a good place to part it is looked for
_LONGEST_TABLE = 25  # rows; what is longer goes on in a table of its own, for the same reason
_NARROWEST, _WIDEST = 4, 40  # characters; between these a column is as wide as its text
_HEADING_GAPS = {Kind.HEADING1: 20, Kind.HEADING2: 18, Kind.HEADING3: 14, Kind.HEADING4: 12}

References = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Inside:
    """A block that goes on after a cut.

    Attributes:
        opening: what must stand before the text that follows, so that it is read as a part of it.
        key: where the block starts in the raw text.
        widths: of the columns, if it is a table.
    """

    opening: str
    key: int
    widths: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Cut:
    """A place where a text can be cut, so that the parts give the same blocks as the whole.

    Attributes:
        start: offset in the raw text where the following block starts.
        end: offset where the blocks before it end.
        blocks: how many blocks come before it.
        line: the line of the parsed text where the blocks before it end.
    """

    start: int
    end: int
    blocks: int
    line: int


@dataclass(slots=True)
class Parsed:
    """Blocks, and what is needed to go on from here when more text arrives.

    Attributes:
        blocks: what to show.
        cuts: the starts of the top-level blocks.
        references: the link definitions that were met.
        inside: the last block, if it can be cut.
        inner_cuts: the places for that.
    """

    blocks: list[Block] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    references: References = field(default_factory=dict)
    inside: Inside | None = None
    inner_cuts: list[Cut] = field(default_factory=list)


@dataclass(slots=True)
class _List:
    marker: str
    number: int | None
    hang: int


class Builder:
    """Turns the flat tokens of markdown-it into blocks, keeping where in the nesting it is."""

    def __init__(self, text: str, base: int, inside: Inside | None) -> None:
        self.parsed = Parsed()
        self._base = base
        self._inside = inside
        self._lines = text.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._end = 0
        self._kind = Kind.PARAGRAPH
        self._gap = 8
        self._indent = 0
        self._boxes: tuple[Box, ...] = ()
        self._lists: list[_List] = []
        self._marker = ""
        self._rows: list[list[Cell]] = []
        self._cell: tuple[str, bool] | None = None
        self._row_lines: list[int] = []
        self._outermost = False
        self._cell_at = 0

    def take(self, token: Token) -> None:
        """Add one token."""
        if token.level == 0 and token.nesting >= 0 and token.map and token.type != "inline":
            self._cut(token.map)
        handler = getattr(self, f"_on_{token.type}", None)
        if handler:
            handler(token)

    def _cut(self, lines: list[int]) -> None:
        start, end = self._at(lines[0]), self._at(self._end)
        self.parsed.cuts.append(Cut(start, end, len(self.parsed.blocks), self._end))
        self.parsed.inner_cuts = []
        self._end = lines[1]

    def _at(self, line: int) -> int:
        return self._base + self._starts[min(line, len(self._starts) - 1)]

    def _emit(self, kind: Kind, runs: tuple[Run, ...] = (), **more: Any) -> None:
        hang = 0
        if self._marker:
            runs = (Run(f"{self._marker}\t"), *runs)
            hang = self._lists[-1].hang
            self._marker = ""
        more.setdefault("gap", self._gap)
        block = Block(kind, runs, indent=self._indent, hang=hang, boxes=self._boxes, **more)
        self.parsed.blocks.append(block)

    def _flush_marker(self) -> None:
        if self._marker:
            self._emit(Kind.PARAGRAPH, offsets=offsets_of([-1] * (len(self._marker) + 1)))

    # Paragraphs and headings

    def _on_paragraph_open(self, token: Token) -> None:
        self._kind = Kind.PARAGRAPH
        self._gap = _TIGHT if token.hidden else 8

    def _on_heading_open(self, token: Token) -> None:
        self._kind = Kind(f"heading{min(int(token.tag[1]), 4)}")
        self._gap = _HEADING_GAPS[self._kind]

    def _on_inline(self, token: Token) -> None:
        children = token.children or []
        first, last = token.map or (0, 0)
        if self._cell is not None:
            self._add_cell(token, children, first)
            return
        raw = "\n".join(self._lines[first:last])
        lead = len(self._marker) + 1 if self._marker else 0
        offsets = raw_offsets(children, token.content, raw, self._at(first), lead)
        self._emit(self._kind, inline_runs(children), offsets=offsets)
        self._gap = 8
        if token.level == 1 and self._kind is Kind.PARAGRAPH:
            self._part_paragraph(first)

    def _part_paragraph(self, line: int) -> None:
        if self._inside is not None:
            self.parsed.blocks[-1] = replace(self.parsed.blocks[-1], gap=0)
        self._inside = None
        while place := _parting(self.parsed.blocks[-1]):
            block = self.parsed.blocks.pop()
            at = block.offsets[place]
            head, tail = split_runs(block.runs, place)
            self.parsed.blocks += (
                replace(block, runs=head, offsets=block.offsets[:place]),
                replace(block, runs=tail, offsets=block.offsets[place:], gap=0),
            )
            self._cut_inside(Inside("", at), at, len(self.parsed.blocks) - 1, line)

    def _cut_inside(self, inside: Inside, at: int, blocks: int, line: int) -> None:
        self.parsed.inside = inside
        self.parsed.inner_cuts.append(Cut(at, at, blocks, line))

    def _on_hr(self, _: Token) -> None:
        self._flush_marker()
        self._emit(Kind.RULE)

    # Quotes and lists

    def _on_blockquote_open(self, token: Token) -> None:
        self._flush_marker()
        key = self._at(token.map[0]) if token.map else 0
        self._boxes = (*self._boxes, Box(BoxKind.QUOTE, key, self._indent))
        self._indent += _QUOTE_INDENT

    def _on_blockquote_close(self, _: Token) -> None:
        self._boxes = self._boxes[:-1]
        self._indent -= _QUOTE_INDENT

    def _on_bullet_list_open(self, _: Token) -> None:
        depth = sum(each.number is None for each in self._lists)
        self._open_list(_List(_BULLETS[min(depth, 2)], None, _BULLET_HANG))

    def _on_ordered_list_open(self, token: Token) -> None:
        self._open_list(_List("", int(token.attrs.get("start", 1)), _NUMBER_HANG))

    def _open_list(self, made: _List) -> None:
        self._flush_marker()
        self._lists.append(made)
        self._indent += made.hang

    def _on_list_item_open(self, _: Token) -> None:
        inner = self._lists[-1]
        self._gap = _TIGHT
        if inner.number is None:
            self._marker = inner.marker
        else:
            self._marker = f"{inner.number}."
            inner.number += 1

    def _on_list_item_close(self, _: Token) -> None:
        self._flush_marker()

    def _close_list(self, _: Token) -> None:
        self._indent -= self._lists.pop().hang
        self._gap = 8

    _on_bullet_list_close = _close_list
    _on_ordered_list_close = _close_list

    # Code

    def _on_code_block(self, token: Token) -> None:
        self._flush_marker()
        first, _ = token.map or (0, 0)
        key = self._at(first)
        self._label("", key)
        self._code(_code_lines(token), "", key, first, complete=True)

    def _on_fence(self, token: Token) -> None:
        self._flush_marker()
        first, last = token.map or (0, 0)
        lines = _code_lines(token)
        closed = last - first - 1 > len(lines)
        complete = closed or token.content.endswith("\n")
        fence = self._inside or Inside(f"{self._lines[first]}\n", self._at(first))
        if self._inside is None:
            self._label(token.info.strip(), fence.key)
        self._inside = None
        if token.level == 0 and not closed:
            self._mark_open(fence, lines if complete else lines[:-1], first + 1)
        language = token.info.strip().split(" ")[0].lower()
        self._code(lines or [""], language, fence.key, first + 1, complete=complete)

    def _mark_open(self, fence: Inside, lines: list[str], first: int) -> None:
        before = len(self.parsed.blocks)
        for index in chunk_starts(lines):
            self._cut_inside(fence, self._at(first + index), before + index, first + index)

    def _label(self, info: str, key: int) -> None:
        copy = Run(tr("Copy"), Style.MUTED, f"{COPY_CODE}{key}")
        name = (Run(info, Style.MUTED),) if info else ()
        boxes = (*self._boxes, Box(BoxKind.CODE, key, self._indent))
        runs = (*name, Run("\t"), copy)
        self.parsed.blocks.append(
            Block(Kind.CODE_LABEL, runs, indent=self._indent, gap=8, boxes=boxes)
        )

    def _code(
        self, lines: list[str], language: str, key: int, first: int, *, complete: bool
    ) -> None:
        boxes = (*self._boxes, Box(BoxKind.CODE, key, self._indent))
        for number, runs in enumerate(coloured(lines, language, complete=complete)):
            length = len(lines[number])
            end = self._at(first + number + 1) - 1
            offsets = offsets_of(range(end - length, end))
            block = Block(Kind.CODE, runs, self._indent, gap=0, boxes=boxes, offsets=offsets)
            self.parsed.blocks.append(block)
        self._gap = 8

    # Tables

    def _on_table_open(self, token: Token) -> None:
        self._flush_marker()
        self._rows, self._row_lines = [], []
        self._outermost = token.level == 0

    def _on_tr_open(self, token: Token) -> None:
        self._rows.append([])
        self._row_lines.append(token.map[0] if token.map else 0)
        self._cell_at = 0

    def _on_th_open(self, token: Token) -> None:
        align = str(token.attrs.get("style", "")).removeprefix("text-align:") or "left"
        self._cell = (align, token.tag == "th")

    _on_td_open = _on_th_open

    def _add_cell(self, token: Token, children: list[Token], line: int) -> None:
        assert self._cell is not None
        align, header = self._cell
        row = self._lines[line]
        escaped = token.content.replace("|", "\\|")
        self._cell_at = max(row.find(escaped, self._cell_at), self._cell_at)
        raw, at = row[self._cell_at :], self._at(line) + self._cell_at
        self._cell_at += len(escaped)
        offsets = raw_offsets(children, token.content, raw, at, 0, from_left=True)
        self._rows[-1].append(Cell(inline_runs(children), align, header, offsets))
        self._cell = None

    def _on_tr_close(self, _: Token) -> None:
        """Cells beyond the last column, which Markdown drops, join the last one."""
        row = self._lines[self._row_lines[-1]]
        rest = row[self._cell_at :].strip(" \t|")
        if rest:
            last = self._rows[-1][-1]
            at = self._at(self._row_lines[-1]) + row.index(rest, self._cell_at)
            runs = (*last.runs, Run(f" | {rest}"))
            offsets = last.offsets + offsets_of([-1] * 3) + offsets_of(range(at, at + len(rest)))
            self._rows[-1][-1] = replace(last, runs=runs, offsets=offsets)

    def _on_table_close(self, _: Token) -> None:
        rows, lines = self._rows, self._row_lines
        inside, self._inside = self._inside, None
        self._gap = 8 if inside is None else 0
        if inside is not None:  # its head was there only to be read
            rows, lines = rows[1:], lines[1:]
        elif self._outermost and len(rows) > _LONGEST_TABLE:
            head = "".join(f"{line}\n" for line in self._lines[lines[0] : lines[0] + 2])
            inside = Inside(head, self._at(lines[0]), _widths(rows[:_LONGEST_TABLE]))
        self._table(rows, lines, inside)
        self._gap = 8

    def _table(self, rows: list[list[Cell]], lines: list[int], inside: Inside | None) -> None:
        if inside is None:
            self._emit(Kind.TABLE, rows=tuple(map(tuple, rows)))
            return
        for start in range(0, len(rows), _LONGEST_TABLE):
            if start:
                at, blocks = self._at(lines[start]), len(self.parsed.blocks)
                self._cut_inside(inside, at, blocks, lines[start])
            part = tuple(map(tuple, rows[start : start + _LONGEST_TABLE]))
            self._emit(Kind.TABLE, rows=part, widths=inside.widths)
            self._gap = 0


def _widths(rows: list[list[Cell]]) -> tuple[float, ...]:
    """Widths of columns, in percent, that suit the text of these rows."""
    longest = [
        max(min(sum(len(run.text) for run in cell.runs), _WIDEST) for cell in column)
        for column in zip(*rows, strict=True)
    ]
    shares = [max(length, _NARROWEST) for length in longest]
    return tuple(100 * share / sum(shares) for share in shares)


def _parting(block: Block) -> int | None:
    """Where to part a paragraph: before a word of plain text, which can start nothing else."""
    text = block.text
    if len(text) <= _LONGEST_PARAGRAPH + _REACH:
        return None
    plain = [run.style is Style.PLAIN and not run.href for run in block.runs for _ in run.text]
    words = [
        place
        for place in range(_LONGEST_PARAGRAPH, _LONGEST_PARAGRAPH + _REACH)
        if text[place].isalpha() and plain[place] and plain[place - 1]
    ]
    spaced = (place for place in words if text[place - 1] in (" ", LINE_BREAK))
    return next(spaced, words[0] if words else None)


def _code_lines(token: Token) -> list[str]:
    return token.content.removesuffix("\n").split("\n") if token.content else []
