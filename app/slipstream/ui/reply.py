"""One reply on its way: what it answers, and what came of it so far."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from slipstream.cancel import CancelToken
from slipstream.chats.records import Message
from slipstream.chats.store import ChatStore
from slipstream.drafters.kinds import SpecConfig
from slipstream.engine.events import Finished, Piece, ReplyEvent, ReplyNumbers
from slipstream.ui.answering import answer
from slipstream.ui.engine_control import Turn
from slipstream.ui.wording import speed_line

if TYPE_CHECKING:
    from slipstream.engine.session import Session


class Reply:
    """One reply on its way.

    Attributes:
        text: the question.
        chat_id: the chat it belongs to; None until a new chat is kept.
        question: the question as it is kept; None until then.
        pieces: what was generated so far.
        numbers: the newest numbers.
        finished: its end.
        turn: its turn at the engine; None before the question is kept.
        stopped: the user stopped it before that.
    """

    def __init__(self, text: str, chat_id: int | None, question: Message | None = None) -> None:
        self.text = text
        self.chat_id = chat_id
        self.question = question
        self.pieces: list[Piece] = []
        self.numbers: ReplyNumbers | None = None
        self.finished: Finished | None = None
        self.turn: Turn | None = None
        self.stopped = False
        self._spec: SpecConfig | None = None

    def steps(
        self, store: ChatStore, session: "Session", cancel: CancelToken
    ) -> Iterator[ReplyEvent]:
        """The work, in the worker thread."""
        assert self.question is not None  # kept before it is answered
        if session.loaded is not None:
            self._spec = session.loaded.spec
        yield from answer(store, session, self.question, cancel)

    def take(self, events: list[ReplyEvent]) -> None:
        """Remember what was generated and measured."""
        self.pieces += [event for event in events if isinstance(event, Piece)]
        for event in events:
            if isinstance(event, Finished):
                self.finished = event
            elif isinstance(event, ReplyNumbers):
                self.numbers = event

    def line(self, *, failed: bool) -> str:
        """The line under it; empty if nothing was measured."""
        if self.finished is not None:
            return speed_line(self.finished.numbers, self._spec, self.finished.finish)
        if self.numbers is None:
            return ""
        return speed_line(self.numbers, self._spec, "failed" if failed else "cancelled")
