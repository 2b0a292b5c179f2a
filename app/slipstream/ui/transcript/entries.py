"""Where the blocks of a chat stand in the text document."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import QRectF
from PySide6.QtGui import QTextBlock, QTextTable

from slipstream.ui.transcript.blocks import Block


@dataclass(frozen=True, slots=True)
class Tint:
    """The areas of a text that the drafter supplied, from its origin, in this width."""

    width: float
    areas: tuple[QRectF, ...]


@dataclass(slots=True, eq=False)
class Place:
    """Text that stands in one block of the document.

    Attributes:
        block: that block.
        tint: its tinted areas, once they were painted; None again when the text changes.
    """

    block: QTextBlock
    tint: Tint | None = None


@dataclass(slots=True, eq=False)
class Entry:
    """A block that stands in the document.

    Attributes:
        block: what it shows.
        first, last: the document's blocks it lies in; they differ for a table only.
        place: its text, if it is no table.
        table: the table, if it is one.
        cells: the texts in its cells, row by row.
    """

    block: Block
    first: QTextBlock
    last: QTextBlock
    place: Place
    table: QTextTable | None = None
    cells: list[list[Place]] = field(default_factory=list)

    @property
    def end(self) -> int:
        """Position in the document after its text."""
        return self.last.position() + self.last.length() - 1


def entry_at(block: Block, place: QTextBlock) -> Entry:
    """What stands in one block of the document."""
    return Entry(block, place, place, Place(place))
