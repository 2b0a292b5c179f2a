"""The tokens of markdown-it to blocks, and the places where a growing text may be cut."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from markdown_it.token import Token

from slipstream.ui.i18n import tr
from slipstream.ui.transcript.blocks import Block, Box, BoxKind, Cell, Kind, Run, Style, offsets_of
from slipstream.ui.transcript.colours import chunk_starts, coloured
from slipstream.ui.transcript.inline import inline_runs, raw_offsets

COPY_CODE = "slipstream:code/"

_QUOTE_INDENT = 16
_BULLET_HANG = 20
_NUMBER_HANG = 28
_TIGHT = 4
_BULLETS = "•◦▪"
_HEADING_GAPS = {Kind.HEADING1: 20, Kind.HEADING2: 18, Kind.HEADING3: 14, Kind.HEADING4: 12}

References = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fence:
    """A code fence that is still open.

    Attributes:
        opening: its first line.
        key: where that line stands in the raw text.
    """

    opening: str
    key: int


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
        fence: the code fence that the text ends in, if it does.
        code_cuts: places where that code can be cut.
    """

    blocks: list[Block] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    references: References = field(default_factory=dict)
    fence: Fence | None = None
    code_cuts: list[Cut] = field(default_factory=list)


@dataclass(slots=True)
class _List:
    marker: str
    number: int | None
    hang: int


class Builder:
    """Turns the flat tokens of markdown-it into blocks, keeping where in the nesting it is."""

    def __init__(self, text: str, base: int, inside: Fence | None) -> None:
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
        self._row_line = 0
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
        fence = self._inside or Fence(self._lines[first], self._at(first))
        if self._inside is None:
            self._label(token.info.strip(), fence.key)
        self._inside = None
        if token.level == 0 and not closed:
            self._mark_open(fence, lines if complete else lines[:-1], first + 1)
        language = token.info.strip().split(" ")[0].lower()
        self._code(lines or [""], language, fence.key, first + 1, complete=complete)

    def _mark_open(self, fence: Fence, lines: list[str], first: int) -> None:
        before = len(self.parsed.blocks)
        self.parsed.fence = fence
        for index in chunk_starts(lines):
            at = self._at(first + index)
            self.parsed.code_cuts.append(Cut(at, at, before + index, first + index))

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

    def _on_table_open(self, _: Token) -> None:
        self._flush_marker()
        self._rows = []

    def _on_tr_open(self, token: Token) -> None:
        self._rows.append([])
        self._row_line = token.map[0] if token.map else 0
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
        row = self._lines[self._row_line]
        rest = row[self._cell_at :].strip(" \t|")
        if rest:
            last = self._rows[-1][-1]
            at = self._at(self._row_line) + row.index(rest, self._cell_at)
            runs = (*last.runs, Run(f" | {rest}"))
            offsets = last.offsets + offsets_of([-1] * 3) + offsets_of(range(at, at + len(rest)))
            self._rows[-1][-1] = replace(last, runs=runs, offsets=offsets)

    def _on_table_close(self, _: Token) -> None:
        self._gap = 8
        self._emit(Kind.TABLE, rows=tuple(tuple(row) for row in self._rows))


def _code_lines(token: Token) -> list[str]:
    return token.content.removesuffix("\n").split("\n") if token.content else []
