"""Blocks of code: a label with the language, then a block for each line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from slipstream.ui.i18n import tr
from slipstream.ui.transcript.blocks import (
    ACTION,
    Block,
    Box,
    BoxKind,
    Kind,
    Run,
    Style,
    offsets_of,
)
from slipstream.ui.transcript.breaks import LONGEST_WORD, with_breaks
from slipstream.ui.transcript.colours import chunk_starts, coloured
from slipstream.ui.transcript.cuts import Inside, Lines, Parsed

if TYPE_CHECKING:
    from markdown_it.token import Token

COPY_CODE = f"{ACTION}code/"


def add_code(parsed: Parsed, lines: Lines, token: Token, around: Block) -> None:
    """Add code that is marked by its indentation.

    Args:
        parsed: takes the blocks.
        lines: what is parsed.
        token: the code.
        around: says where it stands.
    """
    first = token.map[0] if token.map else 0
    around = _boxed(around, lines.at(first))
    parsed.blocks.append(_label("", around))
    parsed.blocks += _coloured(_texts(token), "", lines, first, around, complete=True)


def add_fence(
    parsed: Parsed, lines: Lines, token: Token, around: Block, inside: Inside | None
) -> None:
    """Add code in a fence, and the place where it can be cut while the fence is open.

    Args:
        parsed: takes the blocks.
        lines: what is parsed.
        token: the code.
        around: says where it stands.
        inside: the code that it continues.
    """
    first, last = token.map or (0, 0)
    texts = _texts(token)
    closed = last - first - 1 > len(texts)
    complete = closed or token.content.endswith("\n")
    fence = inside or Inside(f"{lines.texts[first]}\n", lines.at(first))
    around = _boxed(around, fence.key)
    if inside is None:
        parsed.blocks.append(_label(token.info.strip(), around))
    starts = chunk_starts(texts if complete else texts[:-1])
    if token.level == 0 and not closed and starts:
        line = first + 1 + starts[-1]
        parsed.cut_inside(fence, lines.at(line), len(parsed.blocks) + starts[-1], line)
    language = language_of(token.info)
    parsed.blocks += _coloured(texts or [""], language, lines, first + 1, around, complete=complete)


def without_empty_code(blocks: Sequence[Block]) -> list[Block]:
    """Blocks without the code that has no line, which is there only while one may come."""
    kept: list[Block] = []
    for number, block in enumerate(blocks):
        ended = number + 1 == len(blocks) or blocks[number + 1].boxes != block.boxes
        label = kept[-1] if kept else None
        if label and label.kind is Kind.CODE_LABEL and not block.text and ended:
            kept.pop()
        else:
            kept.append(block)
    return kept


def language_of(info: str) -> str:
    """The language that stands after a fence; empty for none."""
    return info.strip().split(" ")[0].lower()


def _texts(token: Token) -> list[str]:
    return token.content.removesuffix("\n").split("\n") if token.content else []


def _boxed(around: Block, key: int) -> Block:
    boxes = (*around.boxes, Box(BoxKind.CODE, key, around.indent))
    return Block(Kind.CODE, indent=around.indent, gap=0, boxes=boxes)


def _label(info: str, around: Block) -> Block:
    name = (Run(info, Style.MUTED),) if info else ()
    copy = Run(tr("Copy"), Style.MUTED, f"{COPY_CODE}{around.boxes[-1].key}")
    runs = (*name, Run("\t"), copy)
    return Block(Kind.CODE_LABEL, runs, indent=around.indent, gap=8, boxes=around.boxes)


def _coloured(
    texts: Sequence[str], language: str, lines: Lines, first: int, around: Block, *, complete: bool
) -> Iterator[Block]:
    for number, runs in enumerate(coloured(texts, language, complete=complete), start=first):
        length = len(texts[number - first])
        end = lines.at(number + 1) - 1
        offsets = offsets_of(range(end - length, end))
        if length >= LONGEST_WORD:
            runs, offsets = with_breaks(runs, offsets)
        yield Block(Kind.CODE, runs, around.indent, gap=0, boxes=around.boxes, offsets=offsets)
