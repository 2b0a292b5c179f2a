"""The messages of a chat, and the blocks that show each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from time import monotonic

from slipstream.engine.events import Piece, Source
from slipstream.ui.i18n import tr
from slipstream.ui.transcript.blocks import (
    LINE_BREAK,
    Block,
    Box,
    BoxKind,
    Kind,
    Run,
    Style,
    displayable,
)
from slipstream.ui.transcript.stream import Stream
from slipstream.ui.transcript.writer import ACTION, Entry

FOLD = f"{ACTION}thought"
COPY = f"{ACTION}copy"
REGENERATE = f"{ACTION}regenerate"

_PILL = (Box(BoxKind.PILL),)
_THOUGHT = (Box(BoxKind.THOUGHT),)


@dataclass
class Message:
    """Something in the chat that stands between two others.

    Attributes:
        number: its place in the chat.
        entries: where it stands in the document.
    """

    number: int
    entries: list[Entry] = field(default_factory=list)

    @property
    def unread(self) -> int:
        """How many characters of it are left out so far."""
        return 0

    def read(self, most: int) -> None:
        """Take in up to so many characters more."""

    def blocks(self) -> list[Block]:
        """What to show."""
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

    def blocks(self) -> list[Block]:
        """What to show."""
        shown = displayable(self.text).replace("\n", LINE_BREAK)
        said = Block(Kind.USER, (Run(shown),), boxes=(Box(BoxKind.USER),))
        if not self.can_regenerate:
            return [said]
        runs = (
            Run(tr("There is no answer yet.") + "\u00a0" * 4),
            Run(tr("Answer"), Style.MUTED, REGENERATE),
        )
        return [said, Block(Kind.FOOTER, runs)]


@dataclass
class Notice(Message):
    """One muted line between messages."""

    text: str = ""

    def blocks(self) -> list[Block]:
        """What to show."""
        shown = displayable(self.text).replace("\n", LINE_BREAK)
        return [Block(Kind.NOTICE, (Run(shown),))]


@dataclass
class Reply(Message):
    """What the model wrote.

    Attributes:
        answer: its Markdown.
        drafted: for each character of it, 1 if the drafter supplied it.
        reasoning: the thinking before it.
        seconds_thinking: how long that took; None if unknown.
        unfolded: the thinking is shown.
        streaming: more is to come.
        note: the speed line.
        can_regenerate: offers to make it anew.
    """

    answer: Stream = field(default_factory=Stream)
    drafted: bytearray = field(default_factory=bytearray)
    reasoning: str = ""
    seconds_thinking: float | None = None
    unfolded: bool = False
    streaming: bool = False
    note: str = ""
    can_regenerate: bool = False
    _thinking_since: float | None = None

    @property
    def unread(self) -> int:
        """How many characters of it are left out so far."""
        return self.answer.unread

    def read(self, most: int) -> None:
        """Take in up to so many characters more."""
        if self.answer.unread:
            self.answer.read(most)
            if not self.answer.unread:
                self.answer.finish()

    def add_text(self, text: str, spans: Iterable[tuple[int, bool]]) -> None:
        """Append to the answer what is to be read later.

        Args:
            text: Markdown.
            spans: run lengths over it, True where the drafter supplied it.
        """
        for length, drafted in spans:
            self.drafted += bytes([drafted]) * length
        self.answer.add(text)
        missing = len(self.answer.text) - len(self.drafted)
        self.drafted += bytes(max(missing, 0))

    def add_pieces(self, pieces: Sequence[Piece]) -> None:
        """Append what the model just wrote."""
        thought = "".join(piece.text for piece in pieces if piece.reasoning)
        said = [piece for piece in pieces if piece.text and not piece.reasoning]
        if thought:
            self._thinking_since = self._thinking_since or monotonic()
            self.reasoning += thought
        if said:
            self.end_thinking()
            spans = [(len(piece.text), piece.source is Source.DRAFTER) for piece in said]
            self.add_text("".join(piece.text for piece in said), spans)
            self.answer.read(self.answer.unread)

    def end_thinking(self) -> None:
        """The thinking is over: note how long it took."""
        if self._thinking_since is not None and self.seconds_thinking is None:
            self.seconds_thinking = monotonic() - self._thinking_since

    def spans(self) -> list[tuple[int, bool]]:
        """Run lengths over the answer, True where the drafter supplied it."""
        return [(len(list(run)), bool(drafted)) for drafted, run in groupby(self.drafted)]

    def code(self, key: str) -> str:
        """The text of a code block, by the key in its link."""
        lines = (
            block.text
            for block in self.answer.blocks
            if block.kind is Kind.CODE and str(block.boxes[-1].key) == key
        )
        return "\n".join(lines)

    def blocks(self) -> list[Block]:
        """What to show."""
        body = self.answer.blocks
        if self.streaming and not body:
            body = [Block(Kind.PARAGRAPH)]  # a place for the caret
        return [*self._thought(), *body, *self._footer()]

    def _thought(self) -> list[Block]:
        if not self.reasoning.strip():
            return []
        arrow = "▾" if self.unfolded else "▸"
        pill = Block(
            Kind.THOUGHT_PILL, (Run(f"{arrow} {self._title()}", Style.MUTED, FOLD),), boxes=_PILL
        )
        if not self.unfolded:
            return [pill]
        lines = displayable(self.reasoning).strip().split("\n")
        return [
            pill,
            *(
                Block(Kind.THOUGHT, (Run(line),), gap=6, boxes=_THOUGHT)
                for line in lines
                if line.strip()
            ),
        ]

    def _title(self) -> str:
        if self.seconds_thinking is not None:
            return tr("Thought for {seconds} s").format(seconds=f"{self.seconds_thinking:.1f}")
        return tr("Thinking") if self.streaming else tr("Thoughts")

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
