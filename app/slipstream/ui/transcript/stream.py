"""Markdown that grows. Only its unfinished end is parsed again; what is before never changes.

A top-level block is final as soon as another one starts after it on a line that is complete: the
block grammar of CommonMark works line by line. Code in an open fence is final line by line; very
long paragraphs and tables are parted, and all but the last part are final. Link definitions alone
reach backwards, so a text that has any is parsed once more when it is finished.
"""

from slipstream.ui.transcript.blocks import Block, displayable
from slipstream.ui.transcript.builder import Cut, Inside, Parsed, References
from slipstream.ui.transcript.markdown import parse


class Stream:
    """A growing Markdown text and its blocks.

    Attributes:
        text: the raw text so far.
        blocks: what to show for it.
    """

    def __init__(self, text: str = "") -> None:
        self.text = ""
        self.blocks: list[Block] = []
        self._shown = ""
        self._read = 0
        self._final = 0
        self._cut = 0
        self._inside: Inside | None = None
        self._references: References = {}
        self._has_references = False
        if text:
            self.feed(text)

    def feed(self, text: str) -> None:
        """Append text and read it."""
        self.add(text)
        self.read(len(text))

    def add(self, text: str) -> None:
        """Append text that will be read later."""
        self.text += text
        self._shown += displayable(text)

    @property
    def unread(self) -> int:
        """How many characters were added and not read yet."""
        return len(self._shown) - self._read

    def read(self, most: int) -> None:
        """Make blocks of up to so many characters more."""
        self._read = min(self._read + most, len(self._shown))
        text = self._shown[self._cut : self._read]
        parsed = parse(text, self._cut, self._references, self._inside)
        self._has_references = bool(parsed.references)
        self.blocks[self._final :] = parsed.blocks
        self._freeze(parsed)

    def finish(self) -> None:
        """The text is complete: make the blocks equal to those of parsing all of it at once."""
        if self._has_references:
            self.blocks = parse(self._shown).blocks

    def _freeze(self, parsed: Parsed) -> None:
        cut = self._last_cut(parsed)
        if cut is None:
            return
        final = {
            name: each for name, each in parsed.references.items() if each["map"][1] <= cut.line
        }
        self._references = final | self._references
        self._final += cut.blocks
        self._cut = cut.end
        self._inside = parsed.inside if parsed.inner_cuts else None

    def _last_cut(self, parsed: Parsed) -> Cut | None:
        if parsed.inner_cuts:
            return parsed.inner_cuts[-1]
        complete = self._shown.rfind("\n", 0, self._read) + 1
        cuts = (each for each in reversed(parsed.cuts) if each.start < complete)
        cut = next(cuts, None)
        return cut if cut is not None and cut.blocks else None
