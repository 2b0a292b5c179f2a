"""What reading a text gives: blocks, and the places where a text that still grows can be cut."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from slipstream.ui.transcript.blocks import Block

References = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Inside:
    """A block that goes on after a cut.

    Attributes:
        opening: what must stand before the text that follows, so that it is read as a part of it.
        key: where the block starts in the raw text.
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
        inside: the last block, if it can be cut.
        inner_cut: the last place for that.
    """

    blocks: list[Block] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    references: References = field(default_factory=dict)
    inside: Inside | None = None
    inner_cut: Cut | None = None

    def cut_inside(self, inside: Inside, at: int, blocks: int, line: int) -> None:
        """Note that the last block can be cut at this offset."""
        self.inside, self.inner_cut = inside, Cut(at, at, blocks, line)


class Lines:
    """The lines of a text, and where each starts in the whole raw text.

    Args:
        text: what is parsed.
        base: where it starts in the whole.
    """

    def __init__(self, text: str, base: int) -> None:
        self.texts = text.split("\n")
        self._starts = [base]
        for line in self.texts:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def is_complete(self, line: int) -> bool:
        """Whether the end of a line is there."""
        return line < len(self.texts) - 1

    def is_blank(self, line: int) -> bool:
        """Whether a line parts two paragraphs."""
        return not self.texts[line].strip(" \t>")

    def at(self, line: int) -> int:
        """The offset in the whole raw text where a line starts."""
        return self._starts[min(line, len(self._starts) - 1)]
