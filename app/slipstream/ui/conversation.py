"""The conversation that is open: what the user can do with it, and what it reports to the page."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from slipstream.cancel import Cancelled, CancelToken
from slipstream.chats.records import Chat, Message
from slipstream.chats.store import ChatStore
from slipstream.engine.events import Finished, Piece, Reading, ReplyEvent, ReplyNumbers
from slipstream.ui.answering import answer
from slipstream.ui.engine_control import EngineControl
from slipstream.ui.wording import mode, speed_line

if TYPE_CHECKING:
    from slipstream.engine.session import Session


class Conversation(QObject):
    """One open chat.

    Attributes:
        opened: another chat is open now; its messages follow from ``messages``.
        asked: a Message of the user's was added.
        rewound: the conversation ends with the last question again.
        reply_began: a reply runs or waits for the model.
        reading: how many tokens of the prompt were read, and of how many.
        pieces: new pieces of the reply, a list.
        numbers: ReplyNumbers while it runs.
        replied: the reply ended: Finished (None if it failed) and the line under it.
        failed: what was raised instead of an end.
        chats_changed: the list of chats is another one.
        chat: None while nothing was said yet.
    """

    opened = Signal()
    asked = Signal(object)
    rewound = Signal()
    reply_began = Signal()
    reading = Signal(int, int)
    pieces = Signal(list)
    numbers = Signal(object)
    replied = Signal(object, str)
    failed = Signal(object)
    chats_changed = Signal()

    def __init__(
        self,
        store: ChatStore,
        control: EngineControl,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._control = control
        self.chat: Chat | None = None
        self._question: Message | None = None
        self._reply: _Reply | None = None

    @property
    def busy(self) -> bool:
        """Whether a reply runs or waits."""
        return self._reply is not None

    @property
    def answerable(self) -> bool:
        """Whether there is a question to answer (again)."""
        return self._question is not None and not self.busy

    def messages(self) -> list[Message]:
        """What was said so far; while a question is answered, up to that question."""
        said = self._store.messages(self.chat.id) if self.chat is not None else []
        last = self._question.id if self.busy and self._question is not None else None
        return [each for each in said if last is None or each.id <= last]

    def start_new(self) -> None:
        """Open an empty chat; it is kept once something is said."""
        self._leave()
        self.opened.emit()

    def open(self, chat_id: int) -> None:
        """Open a chat that is kept. Raises: SlipstreamError."""
        chat = self._store.chat(chat_id)
        self._leave()
        self.chat = chat
        questions = [m for m in self.messages() if m.role == "user"]
        self._question = questions[-1] if questions else None
        self._store.mark_opened(chat_id)
        self.opened.emit()

    def send(self, text: str) -> None:
        """Say something: it is kept at once, the reply follows. Raises: SlipstreamError."""
        if self.chat is None:
            self.chat = self._store.create_chat()
            self._store.mark_opened(self.chat.id)
        self._question = self._store.add_message(self.chat.id, "user", text)
        self.chats_changed.emit()
        self.asked.emit(self._question)
        self._answer()

    def regenerate(self) -> None:
        """Answer the last question again, as a new branch."""
        if self.answerable:
            self._answer(again=True)

    def stop(self) -> None:
        """Stop the reply; what is there stays."""
        if self._reply is not None:
            self._control.stop_reply()

    def remember_model(self, ref: str, speculation: str, draft_tokens: int) -> None:
        """Keep with the chat which model it talks to and how."""
        if self.chat is not None:
            self._store.update_chat(
                self.chat.id, model=ref, speculation=speculation, draft_tokens=draft_tokens
            )

    def _leave(self) -> None:
        """Close what is open: a running reply ends where it is and is kept."""
        self.stop()
        self._reply = None
        self.chat = None
        self._question = None

    def _answer(self, *, again: bool = False) -> None:
        question = self._question
        assert question is not None  # callers have one
        reply = _Reply(self._store, question)
        self._reply = reply
        if again:
            self.rewound.emit()
        self.reply_began.emit()
        self._control.reply(
            reply.steps,
            on_values=lambda events: self._on_events(reply, events),
            on_done=lambda: self._on_ended(reply, None),
            on_error=lambda error: self._on_ended(reply, error),
        )

    def _on_events(self, reply: "_Reply", events: list[ReplyEvent]) -> None:
        if reply is not self._reply:
            return  # the user is elsewhere; the reply was saved
        pieces = [event for event in events if isinstance(event, Piece)]
        if pieces:
            self.pieces.emit(pieces)
        for event in events:
            if isinstance(event, Finished):
                reply.finished = event
            elif isinstance(event, ReplyNumbers):
                reply.numbers = event
            elif isinstance(event, Reading):
                self.reading.emit(event.done, event.total)
        if reply.numbers is not None:
            self.numbers.emit(reply.numbers)

    def _on_ended(self, reply: "_Reply", error: BaseException | None) -> None:
        if reply is not self._reply:
            return
        self._reply = None
        self.replied.emit(reply.finished, reply.line(failed=error is not None))
        if error is not None and not isinstance(error, Cancelled):
            self.failed.emit(error)


class _Reply:
    """One reply on its way."""

    def __init__(self, store: ChatStore, question: Message) -> None:
        self._store = store
        self._question = question
        self._mode = ""
        self.finished: Finished | None = None
        self.numbers: ReplyNumbers | None = None

    def steps(self, session: "Session", cancel: CancelToken) -> Iterable[Any]:
        """The work, in the worker thread."""
        if session.loaded is not None:
            self._mode = mode(session.loaded.spec)
        return answer(
            self._store,
            session,
            self._question,
            cancel,
            mode=self._mode,
        )

    def line(self, *, failed: bool) -> str:
        """The line under it; empty if nothing was measured."""
        if self.finished is not None:
            return speed_line(self.finished.numbers, self._mode, self.finished.finish)
        if self.numbers is None:
            return ""
        return speed_line(self.numbers, self._mode, "failed" if failed else "cancelled")
