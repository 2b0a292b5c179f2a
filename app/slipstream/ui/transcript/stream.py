"""Markdown that grows. Only its unfinished end is parsed again; what is before never changes.

A top-level block is final as soon as another one starts after it on a line that is complete: the
block grammar of CommonMark works line by line. Code in an open fence and the rows of a table are
final line by line; very long paragraphs are parted, and all but the last part are final. Link
definitions alone reach backwards, so a text that has any is parsed once more when it is finished.
"""

from slipstream.ui.transcript.blocks import Block, displayable
from slipstream.ui.transcript.code_blocks import without_empty_code
from slipstream.ui.transcript.cuts import Cut, Inside, Parsed, References
from slipstream.ui.transcript.markdown import parse


class Stream:
    """A growing Markdown text and its blocks.

    Attributes:
        blocks: what to show for what was read so far.
        final: how many of them reading more will not change.
    """

    def __init__(self, text: str = "") -> None:
        self.blocks: list[Block] = []
        self.final = 0
        self._parts: list[str] = []
        self._length = 0
        self._rest = ""  # from the cut on, displayable
        self._read = 0
        self._cut = 0
        self._inside: Inside | None = None
        self._references: References = {}
        self._has_references = False
        if text:
            self.feed(text)

    @property
    def text(self) -> str:
        """The raw text so far."""
        self._parts = ["".join(self._parts)]
        return self._parts[0]

    def __len__(self) -> int:
        """How long the raw text is."""
        return self._length

    def feed(self, text: str) -> None:
        """Append text and read it."""
        self.add(text)
        self.read(len(text))

    def add(self, text: str) -> None:
        """Append text that will be read later."""
        self._parts.append(text)
        self._length += len(text)
        self._rest += displayable(text)

    @property
    def unread(self) -> int:
        """How many characters were added and not read yet."""
        return self._length - self._read

    def read(self, most: int) -> None:
        """Make blocks of up to so many characters more."""
        self._read = min(self._read + most, self._length)
        text = self._rest[: self._read - self._cut]
        parsed = parse(text, self._cut, self._references, self._inside)
        self._has_references = bool(parsed.references)
        self.blocks[self.final :] = parsed.blocks
        self._freeze(parsed, self._cut + text.rfind("\n") + 1)

    def finish(self) -> bool:
        """The text is complete: make the blocks equal to those of parsing all of it at once.

        Returns: whether final ones may have changed.
        """
        if self._has_references:
            self.blocks = parse(_ended(displayable(self.text))).blocks
            self.final = len(self.blocks)
        elif self._rest:
            # A line of code that is still written is not coloured; with its end it is.
            parsed = parse(_ended(self._rest), self._cut, self._references, self._inside)
            self.blocks[self.final :] = parsed.blocks
        kept = without_empty_code(self.blocks)
        changed = self._has_references or kept[: self.final] != self.blocks[: self.final]
        self.final = min(self.final, len(kept))
        self.blocks = kept
        return changed

    def _freeze(self, parsed: Parsed, complete: int) -> None:
        """Keep what is final. The text has complete lines up to ``complete``."""
        cut = _last_cut(parsed, complete)
        if cut is None:
            return
        final = {
            name: each for name, each in parsed.references.items() if each["map"][1] <= cut.line
        }
        self._references = final | self._references
        self.final += cut.blocks
        self._rest = self._rest[cut.end - self._cut :]
        self._cut = cut.end
        self._inside = parsed.inside if parsed.inner_cut else None


def _ended(text: str) -> str:
    """The text with the end of its last line."""
    return text if text.endswith("\n") else f"{text}\n"


def _last_cut(parsed: Parsed, complete: int) -> Cut | None:
    if parsed.inner_cut:
        return parsed.inner_cut
    cuts = (each for each in reversed(parsed.cuts) if each.start < complete)
    cut = next(cuts, None)
    return cut if cut is not None and cut.blocks else None
