"""The thinking before an answer: folded behind a line that says how long it took."""

from __future__ import annotations

from time import monotonic

from slipstream.ui.i18n import tr
from slipstream.ui.transcript.blocks import (
    ACTION,
    Block,
    Box,
    BoxKind,
    Kind,
    Run,
    Style,
    displayable,
)
from slipstream.ui.transcript.breaks import with_breaks

FOLD = f"{ACTION}thought"

_PILL = (Box(BoxKind.PILL),)
_THOUGHT = (Box(BoxKind.THOUGHT),)


class Thought:
    """What the model thought; it grows while it does.

    Attributes:
        seconds: how long that took; None if unknown.
        unfolded: it is shown.
        lines: a block for each line of it.
    """

    def __init__(self, text: str = "", seconds: float | None = None) -> None:
        self.seconds = seconds
        self.unfolded = False
        self.lines: list[Block] = []
        self._parts: list[str] = []
        self._last = ""  # the line that grows
        self._since: float | None = None
        self._add(text)

    @property
    def text(self) -> str:
        """The raw text."""
        self._parts = ["".join(self._parts)]
        return self._parts[0]

    def grow(self, text: str) -> None:
        """Append what the model just thought."""
        self._since = self._since or monotonic()
        self._add(text)

    def end(self) -> bool:
        """The thinking is over: note how long it took. Returns: whether that is news."""
        if self._since is None or self.seconds is not None:
            return False
        self.seconds = monotonic() - self._since
        return True

    def pill(self, *, streaming: bool) -> list[Block]:
        """The line that folds it; none if nothing was thought."""
        if not self.lines:
            return []
        arrow = "▾" if self.unfolded else "▸"
        runs = (Run(f"{arrow} {self._title(streaming)}", Style.MUTED, FOLD),)
        return [Block(Kind.THOUGHT_PILL, runs, boxes=_PILL)]

    def _add(self, text: str) -> None:
        self._parts.append(text)
        if self._last.strip():
            self.lines.pop()
        *whole, self._last = (self._last + displayable(text)).split("\n")
        for line in (*whole, self._last):
            if line.strip():
                shown = line.rstrip() if self.lines else line.strip()
                runs, _ = with_breaks((Run(shown),), ())
                self.lines.append(Block(Kind.THOUGHT, runs, gap=6, boxes=_THOUGHT))

    def _title(self, streaming: bool) -> str:
        if self.seconds is not None:
            return tr("Thought for {seconds} s").format(seconds=f"{self.seconds:.1f}")
        return tr("Thinking") if streaming else tr("Thoughts")
