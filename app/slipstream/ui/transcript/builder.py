"""The tokens of markdown-it to blocks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from slipstream.ui.transcript import paragraphs
from slipstream.ui.transcript.blocks import Block, Box, BoxKind, Kind, Run, offsets_of
from slipstream.ui.transcript.breaks import with_breaks
from slipstream.ui.transcript.code_blocks import add_code, add_fence
from slipstream.ui.transcript.cuts import Cut, Inside, Lines, Parsed
from slipstream.ui.transcript.inline import inline_runs, raw_offsets
from slipstream.ui.transcript.lists import InsideList, ListState, cut_before_item, open_list
from slipstream.ui.transcript.tables import InsideTable, Table

if TYPE_CHECKING:
    from markdown_it.token import Token

_QUOTE_INDENT = 16
_TIGHT = 4
_HEADING_GAPS = {Kind.HEADING1: 20, Kind.HEADING2: 18, Kind.HEADING3: 14, Kind.HEADING4: 12}


class Builder:
    """Turns the flat tokens of markdown-it into blocks, keeping where in the nesting it is."""

    def __init__(self, text: str, base: int, inside: Inside | None) -> None:
        self.parsed = Parsed()
        self._lines = Lines(text, base)
        self._inside = inside
        self._end = 0
        self._kind = Kind.PARAGRAPH
        self._gap = 8
        self._indent = 0
        self._boxes: tuple[Box, ...] = ()
        self._lists: list[ListState] = []
        self._after_blank = False  # what is parsed starts after a blank line
        self._marker = ""
        self._table: Table | None = None

    def take(self, token: Token) -> None:
        """Add one token."""
        if token.level == 0 and token.nesting >= 0 and token.map and token.type != "inline":
            self._cut(token.map)
        handler = getattr(self, f"_on_{token.type}", None)
        if handler:
            handler(token)

    def _cut(self, lines: list[int]) -> None:
        start, end = self._lines.at(lines[0]), self._lines.at(self._end)
        self.parsed.cuts.append(Cut(start, end, len(self.parsed.blocks), self._end))
        self.parsed.inner_cut = None
        self._end = lines[1]

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

    def _continued(self) -> Inside | None:
        """The block that the text continues, if this is the first."""
        inside, self._inside = self._inside, None
        return inside

    # Paragraphs and headings

    def _on_paragraph_open(self, token: Token) -> None:
        self._kind = Kind.PARAGRAPH
        self._gap = _TIGHT if self._lists and not self._is_apart(token) else 8

    def _is_apart(self, token: Token) -> bool:
        """Whether a paragraph in a list has a blank line above.

        Markdown spreads a whole list if there is one anywhere, also what is above: here that is
        final.
        """
        line = token.map[0] if token.map else 0
        inner = self._lists[-1]
        if inner.items == 1 if self._marker else line == inner.item_line:
            return False
        return self._lines.is_blank(line - 1) if line else self._after_blank

    def _on_heading_open(self, token: Token) -> None:
        self._kind = Kind(f"heading{min(int(token.tag[1]), 4)}")
        self._gap = _HEADING_GAPS[self._kind]

    def _on_inline(self, token: Token) -> None:
        if self._table is not None:
            self._table.fill_cell(token)
            return
        children = token.children or []
        first, last = token.map or (0, 0)
        raw = "\n".join(self._lines.texts[first:last])
        lead = len(self._marker) + 1 if self._marker else 0
        offsets = raw_offsets(children, token.content, raw, self._lines.at(first), lead)
        self._emit(self._kind, inline_runs(children), offsets=offsets)
        self._gap = 8
        shown = len(self.parsed.blocks) - 1
        if token.level == 1 and self._kind is Kind.PARAGRAPH:
            if self._continued() is not None:
                self.parsed.blocks[-1] = replace(self.parsed.blocks[-1], gap=0)
            paragraphs.part(self.parsed, first)
        for number, block in enumerate(self.parsed.blocks[shown:], start=shown):
            runs, offsets = with_breaks(block.runs, block.offsets)
            self.parsed.blocks[number] = replace(block, runs=runs, offsets=offsets)

    def _on_hr(self, _: Token) -> None:
        self._flush_marker()
        self._emit(Kind.RULE)

    # Quotes and lists

    def _on_blockquote_open(self, token: Token) -> None:
        self._flush_marker()
        key = self._lines.at(token.map[0]) if token.map else 0
        self._boxes = (*self._boxes, Box(BoxKind.QUOTE, key, self._indent))
        self._indent += _QUOTE_INDENT

    def _on_blockquote_close(self, _: Token) -> None:
        self._boxes = self._boxes[:-1]
        self._indent -= _QUOTE_INDENT

    def _open_list(self, token: Token) -> None:
        self._flush_marker()
        inside = self._continued()
        if isinstance(inside, InsideList):
            self._after_blank = inside.after_blank
        self._lists.append(open_list(token, self._lists, inside))
        self._indent += self._lists[-1].hang

    _on_bullet_list_open = _open_list
    _on_ordered_list_open = _open_list

    def _on_list_item_open(self, token: Token) -> None:
        inner = self._lists[-1]
        if token.level == 1 and len(self._lists) == 1:
            cut_before_item(self.parsed, self._lines, token, inner)
        self._gap = _TIGHT
        self._marker = inner.next_marker(token)

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
        add_code(self.parsed, self._lines, token, self._here(Kind.CODE))
        self._gap = 8

    def _on_fence(self, token: Token) -> None:
        self._flush_marker()
        add_fence(self.parsed, self._lines, token, self._here(Kind.CODE), self._continued())
        self._gap = 8

    def _here(self, kind: Kind) -> Block:
        return Block(kind, indent=self._indent, boxes=self._boxes)

    # Tables

    def _on_table_open(self, token: Token) -> None:
        self._flush_marker()
        self._table = Table(self._lines, outermost=token.level == 0)

    def _on_tr_open(self, token: Token) -> None:
        assert self._table is not None
        self._table.open_row(token)

    def _on_th_open(self, token: Token) -> None:
        assert self._table is not None
        self._table.open_cell(token)

    _on_td_open = _on_th_open

    def _on_tr_close(self, _: Token) -> None:
        assert self._table is not None
        self._table.close_row()

    def _on_table_close(self, _: Token) -> None:
        assert self._table is not None
        inside = self._continued()
        assert inside is None or isinstance(inside, InsideTable)
        self._table.add_to(self.parsed, inside, self._here(Kind.TABLE))
        self._table = None
        self._gap = 8
