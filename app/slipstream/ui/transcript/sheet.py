"""The messages of a chat, and the document they are written into."""

from __future__ import annotations

from slipstream.ui.theme import LIGHT, Theme
from slipstream.ui.transcript.message import Message, Reply, UserMessage
from slipstream.ui.transcript.page import Page
from slipstream.ui.transcript.styles import Styles
from slipstream.ui.transcript.writer import Writer


class Sheet:
    """Keeps the document of a page equal to the messages.

    Attributes:
        messages: all of them.
        left: so many of the first are not written yet, or not completely.
        styles: how they look.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._theme = LIGHT
        self._percent = 100
        self.messages: list[Message] = []
        self.left = 0
        self.rebuild()

    def clear(self) -> None:
        """Remove all messages."""
        self.messages = []
        self.left = 0
        self.rebuild()

    def last_reply(self) -> Reply | None:
        """The newest reply."""
        replies = (each for each in reversed(self.messages) if isinstance(each, Reply))
        return next(replies, None)

    def last_turn(self) -> Reply | UserMessage | None:
        """The newest reply or question."""
        turns = (each for each in reversed(self.messages) if isinstance(each, Reply | UserMessage))
        return next(turns, None)

    @property
    def written(self) -> int:
        """The number of the first message that stands in the document; all after it do, too."""
        begun = self.left > 0 and bool(self.messages[self.left - 1].entries)
        return self.left - 1 if begun else self.left

    def show(self, message: Message) -> None:
        """Write what changed in a message."""
        if message.number >= self.left:
            message.read(message.unread)
        if message.number >= self.written:
            with self._page.editing():
                self.write(message)

    def write(self, message: Message) -> None:
        """Write what changed in a message, as far as it was read; part of an edit."""
        number = message.number
        before = self.messages[number - 1].entries if number else []
        after = self.messages[number + 1].entries if number + 1 < len(self.messages) else []
        previous = before[-1] if before else self._start
        blocks = message.blocks(message.settled)
        self._writer.update(message.entries, blocks, previous, number, message.settled)
        message.settled = min(message.final, len(message.entries))
        if after:
            self._writer.space_again(after[0], message.entries[-1], starts=True)

    # How it looks

    def apply_theme(self, theme: Theme) -> None:
        """Take over the colours."""
        if theme != self._theme:
            self._theme = theme
            self.rebuild()

    def set_text_size(self, percent: int) -> None:
        """Take over the text size; 100 is normal."""
        if percent != self._percent:
            self._percent = percent
            self.rebuild()

    @property
    def theme(self) -> Theme:
        """The colours."""
        return self._theme

    def rebuild(self) -> None:
        """Write everything anew: the look changed."""
        page = self._page
        written = self.messages[self.written :]
        with page.reading_on():
            for message in written:
                message.entries = []
                message.settled = 0
            column = page.column(self._percent)
            self.styles = Styles(self._theme, self._percent, column)
            page.empty(self._theme, self._percent)
            page.place(column)
            self._writer = Writer(page.document(), self.styles)
            with page.editing():
                self._start = self._writer.start()
                for message in written:
                    self.write(message)

    def fit(self) -> None:
        """Take over the width that the column has now."""
        column = self._page.column(self._percent)
        if column != self.styles.column:
            self.styles.column = column
            before = self._start
            with self._page.editing():
                for message in self.messages[self.written :]:
                    self._writer.refit(message.entries, before)
                    before = message.entries[-1]
        self._page.place(column)
