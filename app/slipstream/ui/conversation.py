"""The conversation that is open: what the user can do with it, and what it reports to the page.

A reply goes on when the user opens another chat; it is shown again when they come back.
"""

from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, Signal

from slipstream.cancel import Cancelled
from slipstream.chats.records import Chat, Message
from slipstream.chats.store import ChatStore
from slipstream.engine.events import Reading, ReplyEvent
from slipstream.ui.archive import Archive
from slipstream.ui.engine_control import EngineControl, Turn
from slipstream.ui.models import Selection
from slipstream.ui.reply import Reply


@dataclass(frozen=True, eq=False)
class _Opening:
    """One wish to open a chat; the next one makes it void."""

    chat_id: int


class Conversation(QObject):
    """One open chat.

    Attributes:
        opened: another chat is open now: its messages, a list; while a question is answered, up to
            that question.
        not_opened: what was raised instead, and the id of the chat.
        asked: the text of a message of the user's.
        refused: it could not be kept: the text, and what was raised.
        rewound: the conversation ends earlier again: its messages, a list.
        reply_began: a reply runs or waits for the model.
        reading: how many tokens of the prompt were read, and of how many.
        pieces: new pieces of the reply, a list.
        numbers: ReplyNumbers while it runs.
        replied: the reply ended: Finished (None if it failed) and the line under it.
        failed: what was raised instead of an end, and the id of the chat.
        chat: None while nothing was said yet.
        reply: the reply to the open chat that runs or waits; None if there is none.
    """

    opened = Signal(list)
    not_opened = Signal(object, int)
    asked = Signal(str)
    refused = Signal(str, object)
    rewound = Signal(list)
    reply_began = Signal()
    reading = Signal(int, int)
    pieces = Signal(list)
    numbers = Signal(object)
    replied = Signal(object, str)
    failed = Signal(object, int)

    def __init__(
        self, archive: Archive, control: EngineControl, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._archive = archive
        self._control = control
        self._replies: list[Reply] = []
        self._question: Message | None = None
        self._opening: _Opening | None = None  # the chat that is being read
        self.chat: Chat | None = None
        self.reply: Reply | None = None

    @property
    def busy(self) -> bool:
        """Whether a reply to this chat runs or waits."""
        return self.reply is not None

    @property
    def answerable(self) -> bool:
        """Whether there is a question to answer (again)."""
        return self._question is not None and not self.busy

    @property
    def answering(self) -> set[int]:
        """The chats that are being answered."""
        return {each.chat_id for each in self._replies if each.chat_id is not None}

    def start_new(self) -> None:
        """Open an empty chat; it is kept once something is said."""
        self.chat = self.reply = self._question = self._opening = None
        self.opened.emit([])

    def open(self, chat_id: int) -> None:
        """Open a chat that is kept, as soon as it is read."""
        opening = self._opening = _Opening(chat_id)
        self._archive.run(
            partial(_read, chat_id),
            lambda read: self._on_read(opening, *read),
            lambda error: self._on_not_read(opening, error),
        )

    def reopen(self) -> None:
        """Show again what is kept of the open chat."""
        if self.chat is None:
            self.start_new()
        else:
            chat_id = self.chat.id
            self._archive.run(
                lambda store: store.messages(chat_id), lambda said: self._on_reread(chat_id, said)
            )

    def leave(self, chat_id: int) -> bool:
        """Stop answering a chat that will be gone, and close it; returns whether it was open."""
        for reply in [each for each in self._replies if each.chat_id == chat_id]:
            self._stop(reply)
        if self._opening is not None and self._opening.chat_id == chat_id:
            self._opening = None
        if self.chat is None or self.chat.id != chat_id:
            return False
        self.start_new()
        return True

    def send(self, text: str) -> None:
        """Say something: it is kept, and the reply follows."""
        chat_id = self.chat.id if self.chat is not None else None
        reply = Reply(text, chat_id)
        self._begin(reply)
        self.asked.emit(text)
        self.reply_began.emit()
        self._archive.run(
            partial(_keep, chat_id, text, self._control.wanted),
            lambda kept: self._on_kept(reply, *kept),
            lambda error: self._on_refused(reply, error),
        )

    def regenerate(self) -> None:
        """Answer the last question again, as a new branch."""
        question = self._question
        if question is None or self.busy:
            return
        reply = Reply(question.content, question.chat_id, question)
        self._begin(reply)
        self._archive.run(
            partial(_read, question.chat_id),
            lambda read: self._on_rewound(reply, read[1]),
            lambda error: self._on_not_rewound(reply, error),
        )

    def stop(self) -> None:
        """Stop the reply to the open chat; what is there stays."""
        if self.reply is not None:
            self._stop(self.reply)

    def remember_model(self, selection: Selection) -> None:
        """Keep with the open chat which model it talks to and how."""
        if self.chat is not None:
            chat_id = self.chat.id
            self._archive.run(lambda store: store.update_chat(chat_id, **selection.values()))

    def _on_read(self, opening: _Opening, chat: Chat, said: list[Message]) -> None:
        if opening is not self._opening:
            return  # the user went on to another one
        questions = [each for each in said if each.role == "user"]
        self.chat, self._opening = chat, None
        self._question = questions[-1] if questions else None
        self.reply = next((each for each in self._replies if each.chat_id == chat.id), None)
        self._archive.run(lambda store: store.mark_opened(chat.id))
        self.opened.emit(self._said_before(said))

    def _on_not_read(self, opening: _Opening, error: BaseException) -> None:
        if opening is self._opening:
            self._opening = None
        self.not_opened.emit(error, opening.chat_id)

    def _on_reread(self, chat_id: int, said: list[Message]) -> None:
        if self.chat is not None and self.chat.id == chat_id and not self.busy:
            self.rewound.emit(said)

    def _on_rewound(self, reply: Reply, said: list[Message]) -> None:
        if reply is self.reply:
            self.rewound.emit(self._said_before(said))
            self.reply_began.emit()
        if reply.stopped:
            self._on_ended(reply, None)
        else:
            self._answer(reply)

    def _on_not_rewound(self, reply: Reply, error: BaseException) -> None:
        self._forget(reply)
        self.not_opened.emit(error, reply.chat_id)

    def _said_before(self, said: list[Message]) -> list[Message]:
        """Of these messages the ones up to the question that is being answered."""
        asked = self.reply.question if self.reply is not None else None
        return [each for each in said if asked is None or each.id <= asked.id]

    def _begin(self, reply: Reply) -> None:
        self._replies.append(reply)
        self.reply, self._opening = reply, None

    def _stop(self, reply: Reply) -> None:
        reply.stopped = True
        if reply.turn is not None:
            self._control.stop_reply(reply.turn)

    def _on_kept(self, reply: Reply, chat: Chat, question: Message) -> None:
        reply.chat_id = chat.id
        reply.question = question
        if reply is self.reply:
            self.chat = chat
            self._question = question
        if reply.stopped:
            self._on_ended(reply, None)
        else:
            self._answer(reply)

    def _on_refused(self, reply: Reply, error: BaseException) -> None:
        self._forget(reply)
        self.refused.emit(reply.text, error)

    def _answer(self, reply: Reply) -> None:
        self._archive.changed.emit()
        reply.turn = Turn(
            partial(reply.steps, self._archive.store),
            on_values=lambda events: self._on_events(reply, events),
            on_done=lambda: self._on_ended(reply, None),
            on_error=lambda error: self._on_ended(reply, error),
        )
        self._control.reply(reply.turn)

    def _on_events(self, reply: Reply, events: list[ReplyEvent]) -> None:
        known = len(reply.pieces)
        reply.take(events)
        if reply is not self.reply:
            return  # the user is elsewhere
        if len(reply.pieces) > known:
            self.pieces.emit(reply.pieces[known:])
        for event in events:
            if isinstance(event, Reading):
                self.reading.emit(event.done, event.total)
        if reply.numbers is not None:
            self.numbers.emit(reply.numbers)

    def _on_ended(self, reply: Reply, error: BaseException | None) -> None:
        seen = reply is self.reply
        self._forget(reply)
        if self._opening is not None and self._opening.chat_id == reply.chat_id:
            self.open(self._opening.chat_id)  # what was read so far ends before the reply does
        if seen:
            self.replied.emit(reply.finished, reply.line(failed=error is not None))
        self._archive.changed.emit()
        if error is not None and not isinstance(error, Cancelled):
            self.failed.emit(error, reply.chat_id)

    def _forget(self, reply: Reply) -> None:
        self._replies.remove(reply)
        if reply is self.reply:
            self.reply = None


def _read(chat_id: int, store: ChatStore) -> tuple[Chat, list[Message]]:
    """Read a chat; in the worker thread."""
    return store.chat(chat_id), store.messages(chat_id)


def _keep(
    chat_id: int | None, text: str, selection: Selection, store: ChatStore
) -> tuple[Chat, Message]:
    """Keep a question, with the model it is for; in the worker thread."""
    if chat_id is None:
        chat_id = store.create_chat(**selection.values()).id
        store.mark_opened(chat_id)
    elif selection.ref:
        store.update_chat(chat_id, **selection.values())
    question = store.add_message(chat_id, "user", text)
    return store.chat(chat_id), question
