"""What a chat looks like as data: a list of blocks of styled text. Nothing here knows Qt.

Equal blocks look equal, so two lists can be compared to find the few that must be drawn anew.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntFlag, StrEnum
from functools import partial

ACTION = "slipstream:"
"""How links of our own begin; Markdown cannot make one."""
LINE_BREAK = "\u2028"

# Characters that end or nest blocks inside a text document, and halves of a character.
_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\u2029\ufdd0\ufdd1\ud800-\udfff]")


class Kind(StrEnum):
    """What a block is; decides its font and its line height."""

    PARAGRAPH = "paragraph"
    HEADING1 = "heading1"
    HEADING2 = "heading2"
    HEADING3 = "heading3"
    HEADING4 = "heading4"
    CODE_LABEL = "code label"
    CODE = "code"
    RULE = "rule"
    TABLE = "table"
    USER = "user"
    THOUGHT_PILL = "thought pill"
    THOUGHT = "thought"
    FOOTER = "footer"
    NOTICE = "notice"


class Style(IntFlag):
    """How a run of text differs from its block."""

    PLAIN = 0
    BOLD = 1
    ITALIC = 2
    STRIKE = 4
    CODE = 8
    MUTED = 16
    ACCENT = 32


class BoxKind(StrEnum):
    """A shape painted around or beside consecutive blocks."""

    CODE = "code"
    QUOTE = "quote"
    USER = "user"
    THOUGHT = "thought"
    PILL = "pill"


def offsets_of(places: Iterable[int]) -> array[int]:
    """Places in the raw text, compact: a long chat has one for each character."""
    return array("i", places)


@dataclass(frozen=True, slots=True)
class Run:
    """Text of one look.

    Attributes:
        text: what is shown; ``LINE_BREAK`` for a new line inside the block.
        style: how it differs from the block's own look.
        href: where it leads; empty if it is no link.
        colour: name of a code colour (``colours.py``); empty for the block's own colour.
    """

    text: str
    style: Style = Style.PLAIN
    href: str = ""
    colour: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """One shape; blocks that carry the same box lie inside it together.

    Attributes:
        kind: what it is.
        key: where it starts in the raw text, which tells it from its neighbours.
        indent: its left edge, in pixels at 100 % text size.
    """

    kind: BoxKind
    key: int = 0
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table."""

    runs: tuple[Run, ...]
    align: str = "left"
    header: bool = False
    offsets: array[int] = field(compare=False, default_factory=partial(offsets_of, ()))


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, line of code, table, ...

    Attributes:
        kind: what it is.
        runs: its text.
        indent: left edge of the text, in pixels at 100 % text size.
        hang: how far the list marker stands to the left of that.
        gap: space above, in pixels at 100 % text size.
        boxes: shapes around it, outermost first.
        rows: the cells, if it is a table.
        widths: of the columns in percent, if it is a part of a long table; empty: as they need.
        offsets: for each character of the text, where it stands in the raw text; -1 if nowhere.
    """

    kind: Kind
    runs: tuple[Run, ...] = ()
    indent: int = 0
    hang: int = 0
    gap: int = 8
    boxes: tuple[Box, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    widths: tuple[float, ...] = ()
    offsets: array[int] = field(compare=False, default_factory=partial(offsets_of, ()))

    @property
    def text(self) -> str:
        """Its text without styles."""
        return "".join(run.text for run in self.runs)


def displayable(text: str) -> str:
    """The text with every character replaced that a text document cannot hold.

    The length stays the same, so offsets into the raw text stay true.
    """
    return _UNSAFE.sub("\ufffd", text.replace("\r", " "))
