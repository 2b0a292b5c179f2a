"""Tables for the terminal and for Markdown."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

_WIDTH = 160
"""Characters, where nobody looks at a terminal."""


@dataclass(frozen=True)
class Table:
    """One table; ``notes`` are sentences below it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def show(self, *, markdown: bool) -> None:
        """Print it."""
        if markdown:
            print(self.markdown())
            return
        table = RichTable(*self.columns, title=self.title, title_justify="left")
        for row in self.rows:
            table.add_row(*(Text(cell) for cell in row))
        console = Console(width=None if sys.stdout.isatty() else _WIDTH)
        console.print(table)
        for note in self.notes:
            console.print(Text(note))

    def markdown(self) -> str:
        """The table as Markdown."""
        ruler = ["---"] * len(self.columns)
        lines = [f"| {' | '.join(cells)} |" for cells in (self.columns, ruler, *self.rows)]
        return "\n".join(
            [f"**{self.title}**", "", *lines, "", *(f"{note}  " for note in self.notes)]
        )
