"""The messages of a chat, and the blocks that show each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from slipstream.engine.events import Piece, Source
from slipstream.ui.i18n import tr
from slipstream.ui.transcript.blocks import (
    ACTION,
    LINE_BREAK,
    Block,
    Box,
    BoxKind,
    Kind,
    Run,
    Style,
    displayable,
)
from slipstream.ui.transcript.breaks import with_breaks, without_breaks
from slipstream.ui.transcript.entries import Entry
from slipstream.ui.transcript.stream import Stream
from slipstream.ui.transcript.thought import Thought

COPY = f"{ACTION}copy"
REGENERATE = f"{ACTION}regenerate"


@dataclass
class Message:
    """Something in the chat that stands between two others.

    Attributes:
        number: its place in the chat.
        entries: where it stands in the document.
        settled: so many of its first blocks stand there and need no look any more.
    """

    number: int
    entries: list[Entry] = field(default_factory=list)
    settled: int = 0

    @property
    def unread(self) -> int:
        """How many characters of it are left out so far."""
        return 0

    @property
    def final(self) -> int:
        """How many of its first blocks do not change while it is read or written on."""
        return 0

    def read(self, most: int) -> None:
        """Take in up to so many characters more."""

    def blocks(self, start: int = 0) -> list[Block]:
        """What to show, from this block on."""
        raise NotImplementedError


@dataclass
class UserMessage(Message):
    """What the user wrote; shown as it is, not as Markdown.

    Attributes:
        text: what they wrote.
        can_regenerate: offers to answer it.
    """

    text: str = ""
    can_regenerate: bool = False

    def blocks(self, start: int = 0) -> list[Block]:
        """What to show, from this block on."""
        shown = displayable(self.text).replace("\n", LINE_BREAK)
        said = Block(Kind.USER, with_breaks((Run(shown),), ())[0], boxes=(Box(BoxKind.USER),))
        if not self.can_regenerate:
            return [said][start:]
        runs = (
            Run(tr("There is no answer yet.") + "\u00a0" * 4),
            Run(tr("Answer"), Style.MUTED, REGENERATE),
        )
        return [said, Block(Kind.FOOTER, runs)][start:]


@dataclass
class Notice(Message):
    """One muted line between messages."""

    text: str = ""

    def blocks(self, start: int = 0) -> list[Block]:
        """What to show, from this block on."""
        shown = displayable(self.text).replace("\n", LINE_BREAK)
        return [Block(Kind.NOTICE, with_breaks((Run(shown),), ())[0])][start:]


@dataclass
class Reply(Message):
    """What the model wrote.

    Attributes:
        answer: its Markdown.
        thought: the thinking before it.
        streaming: more is to come.
        note: the speed line.
        can_regenerate: offers to make it anew.
        copied: the address of the link that says for a moment that it copied.
    """

    answer: Stream = field(default_factory=Stream)
    thought: Thought = field(default_factory=Thought)
    streaming: bool = False
    note: str = ""
    can_regenerate: bool = False
    copied: str = ""
    _drafted: bytearray = field(default_factory=bytearray)
    _spans: Iterable[tuple[int, bool]] = ()

    @property
    def unread(self) -> int:
        """How many characters of it are left out so far."""
        return self.answer.unread

    @property
    def final(self) -> int:
        """How many of its first blocks do not change while it is read or written on."""
        above = len(self.thought.lines) if self.thought.unfolded else 0
        if not self.answer.blocks:
            above = max(above - 1, 0)  # its last line grows
        return bool(self.thought.lines) + above + self.answer.final

    def read(self, most: int) -> None:
        """Take in up to so many characters more."""
        if self.answer.unread:
            self.answer.read(most)
            if not self.answer.unread:
                self._complete()

    def add_text(self, text: str, spans: Iterable[tuple[int, bool]]) -> None:
        """Append to the answer what is to be read later.

        Args:
            text: Markdown.
            spans: run lengths over it, True where the drafter supplied it.
        """
        self._note_drafted()
        self.answer.add(text)
        self._spans = spans

    def add_pieces(self, pieces: Sequence[Piece]) -> None:
        """Append what the model just wrote."""
        thought = "".join(piece.text for piece in pieces if piece.reasoning)
        said = [piece for piece in pieces if piece.text and not piece.reasoning]
        if thought:
            self.thought.grow(thought)
            if self.answer.blocks:
                self.settled = 0
        if said:
            self._end_thinking()
            spans = [(len(piece.text), piece.source is Source.DRAFTER) for piece in said]
            self.add_text("".join(piece.text for piece in said), spans)
            self.answer.read(self.answer.unread)

    def finish(self, note: str) -> None:
        """It is complete; ``note`` becomes its speed line."""
        self.streaming = False
        self.note = note
        if not self.answer.blocks:
            self.settled = 0  # the line above the thinking says something else now
        self._end_thinking()
        self._complete()

    def fold(self) -> None:
        """Show the thinking, or hide it again."""
        self.thought.unfolded = not self.thought.unfolded
        self.settled = 0

    def show_copied(self, address: str) -> None:
        """Let the link with this address, and no other, say that it copied."""
        self.copied = address
        self.settled = 0

    @property
    def drafted(self) -> bytearray:
        """For each character of the answer, 1 if the drafter supplied it."""
        self._note_drafted()
        return self._drafted

    def spans(self) -> list[tuple[int, bool]]:
        """Run lengths over the answer, True where the drafter supplied it."""
        return [(len(list(run)), bool(drafted)) for drafted, run in groupby(self.drafted)]

    def code(self, key: str) -> str:
        """The text of a code block, by the key in its link."""
        lines = (
            without_breaks(block.text)
            for block in self.answer.blocks
            if block.kind is Kind.CODE and str(block.boxes[-1].key) == key
        )
        return "\n".join(lines)

    def blocks(self, start: int = 0) -> list[Block]:
        """What to show, from this block on."""
        found: list[Block] = []
        pill = self.thought.pill(streaming=self.streaming)
        thought = self.thought.lines if self.thought.unfolded else []
        # While there is nothing else to show, the caret needs a place.
        place = [Block(Kind.PARAGRAPH)] if self.streaming and not self.answer.blocks else []
        for part in (pill, thought, self.answer.blocks, place, self._footer()):
            found += part[start:]
            start = max(start - len(part), 0)
        return [self._marked(block) for block in found] if self.copied else found

    def _end_thinking(self) -> None:
        if self.thought.end():
            self.settled = 0

    def _complete(self) -> None:
        if self.answer.finish():
            self.settled = 0

    def _note_drafted(self) -> None:
        """Not before it is asked for: a long chat opens sooner."""
        for length, drafted in self._spans:
            self._drafted += bytes([drafted]) * length
        self._spans = ()
        self._drafted += bytes(max(len(self.answer) - len(self._drafted), 0))

    def _marked(self, block: Block) -> Block:
        said = Run(tr("Copied"), Style.MUTED)
        runs = tuple(said if run.href == self.copied else run for run in block.runs)
        return replace(block, runs=runs) if runs != block.runs else block

    def _footer(self) -> list[Block]:
        if self.streaming:
            return []
        speed, dot, others = self.note.partition(" · ")
        runs = [Run(self.note)] if self.note else []
        if dot:
            runs = [Run(speed, Style.BOLD | Style.ACCENT), Run(dot + others)]
        # The spaces keep the actions off a line that is almost full; otherwise they wrap together.
        runs += [Run("    \t"), Run(tr("Copy"), Style.MUTED, COPY)]
        if self.can_regenerate:
            runs += [Run("\u00a0" * 4), Run(tr("Regenerate"), Style.MUTED, REGENERATE)]
        return [Block(Kind.FOOTER, tuple(runs))]
