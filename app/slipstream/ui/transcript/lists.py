"""Lists: their markers, and the places between their items where they can be cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipstream.ui.transcript.cuts import Inside, Lines, Parsed

if TYPE_CHECKING:
    from markdown_it.token import Token

_BULLET_HANG = 20
_NUMBER_HANG = 28
_BULLETS = "•◦▪"


@dataclass(frozen=True, slots=True)
class InsideList(Inside):
    """A list that goes on after a cut.

    Attributes:
        start: the number of its first item; None for bullets.
        items: how many it has before the cut.
        after_blank: there is a blank line before the cut.
    """

    start: int | None = None
    items: int = 0
    after_blank: bool = False


@dataclass(slots=True)
class ListState:
    """One list while its tokens come.

    Attributes:
        line: where it starts.
        start: the number of its first item; None for bullets.
        bullet: the marker of its items, if they are not numbered.
        items: how many began.
        item_line: where the last of them did.
    """

    line: int
    start: int | None
    bullet: str = ""
    items: int = 0
    item_line: int = 0

    @property
    def hang(self) -> int:
        """How far the markers stand to the left of the text, in pixels at 100 % text size."""
        return _BULLET_HANG if self.start is None else _NUMBER_HANG

    def next_marker(self, token: Token) -> str:
        """What stands before the item that a token opens. Numbers are counted, not read."""
        self.items += 1
        self.item_line = token.map[0] if token.map else 0
        return self.bullet if self.start is None else f"{self.start + self.items - 1}."


def open_list(token: Token, outer: Sequence[ListState], inside: Inside | None) -> ListState:
    """The list that a token opens.

    Args:
        token: opens it.
        outer: the lists it lies in.
        inside: the block that the text continues.
    """
    line = token.map[0] if token.map else 0
    if isinstance(inside, InsideList):
        return ListState(line, inside.start, _BULLETS[0], inside.items)
    if token.type == "ordered_list_open":
        return ListState(line, int(token.attrs.get("start", 1)))
    depth = sum(each.start is None for each in outer)
    return ListState(line, None, _BULLETS[min(depth, 2)])


def cut_before_item(parsed: Parsed, lines: Lines, token: Token, opened: ListState) -> None:
    """Note that an outermost list can be cut before an item: it begins on a complete line.

    Only where no line is indented: indentation counts from the first item.

    Args:
        parsed: takes the place.
        lines: what is parsed.
        token: opens the item.
        opened: the list.
    """
    line = token.map[0] if token.map else 0
    indented = lines.texts[line][:1].isspace() or lines.texts[opened.line][:1].isspace()
    if line > opened.line and lines.is_complete(line) and not indented:
        at = lines.at(line)
        blank = lines.is_blank(line - 1)
        inside = InsideList("", at, opened.start, opened.items, blank)
        parsed.cut_inside(inside, at, len(parsed.blocks), line)
