"""Answer a question: store and engine together. No Qt here.

The reply is saved while it grows and at its end, also when it is stopped or fails, so that a crash
costs at most the last seconds.
"""

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from slipstream.cancel import CancelToken
from slipstream.chats.records import Message, Span
from slipstream.chats.store import ChatStore
from slipstream.drafters.kinds import DrafterKind, SpecConfig
from slipstream.engine.events import Finished, Piece, ReplyEvent, ReplyNumbers, Source
from slipstream.engine.requests import ChatMessage, Loaded, ReplyOptions
from slipstream.errors import SlipstreamError

if TYPE_CHECKING:
    from slipstream.engine.session import Session

_SAVE_EVERY = 2.0  # seconds


def answer(
    store: ChatStore,
    session: "Session",
    question: Message,
    cancel: CancelToken,
) -> Iterator[ReplyEvent]:
    """Generate and save the reply to a question; yields what the session reports.

    Args:
        store: where the chat is kept.
        session: a loaded model.
        question: the user's message. If it has a reply already, a new branch begins.
        cancel: stops the reply; what is there stays.

    Raises: SlipstreamError.
    """
    before = [m for m in store.messages(question.chat_id) if m.id <= question.id]
    reply = _GrowingReply(store, question, _spec_values(session.loaded))
    finish = "failed"
    try:
        for event in session.reply(history(before), ReplyOptions(), cancel):
            reply.take(event)
            if isinstance(event, Finished):
                finish = event.finish
            yield event
    finally:
        reply.save(finish)


def history(messages: Sequence[Message]) -> list[ChatMessage]:
    """The conversation for the engine: questions without an answer are left out, except the last.

    Many chat templates accept only alternating roles.
    """
    spoken = [m for m in messages if m.role != "assistant" or m.content]
    following = [*spoken[1:], None]
    return [
        ChatMessage(message.role, message.content)
        for message, after in zip(spoken, following, strict=True)
        if message.role != "user" or after is None or after.role == "assistant"
    ]


def numbers_of(message: Message) -> ReplyNumbers | None:
    """The numbers a reply was saved with; None if it has none."""
    if not message.numbers:
        return None
    known = {each.name for each in fields(ReplyNumbers)}
    values: dict[str, Any] = {k: v for k, v in message.numbers.items() if k in known}
    values["by_position"] = tuple(values.get("by_position", ()))
    return ReplyNumbers(**values)


def spec_of(message: Message) -> SpecConfig | None:
    """How a reply was speculated; None if that is not known."""
    values = message.spec
    if "kind" not in values:
        return None
    try:
        kind = None if values["kind"] is None else DrafterKind(str(values["kind"]))
    except ValueError:  # of a newer version
        return None
    number = values.get("draft_tokens")
    return SpecConfig(kind, draft_tokens=number if isinstance(number, int) else 0)


def text_runs(message: Message) -> Iterator[Span]:
    """Who chose the characters of the text alone, without the thinking before it."""
    left = len(message.reasoning)
    for length, drafted in message.pieces:
        thinking = min(left, length)
        left -= thinking
        if length > thinking:
            yield length - thinking, drafted


@dataclass
class _GrowingReply:
    """What has been generated so far, saved every now and then.

    Attributes:
        store: where it is saved.
        question: the message it answers.
        spec: how it is speculated, as it is kept.
    """

    store: ChatStore
    question: Message
    spec: dict[str, object]
    _id: int | None = None
    _text: list[str] = field(default_factory=list)
    _thinking: list[str] = field(default_factory=list)
    _text_runs: list[Span] = field(default_factory=list)
    _thinking_runs: list[Span] = field(default_factory=list)
    _numbers: ReplyNumbers | None = None
    _saved: float = 0.0

    def take(self, event: ReplyEvent) -> None:
        """Take one event over, and save if it is time to."""
        if isinstance(event, Piece):
            self._add(event)
        elif isinstance(event, ReplyNumbers):
            self._numbers = event
        elif isinstance(event, Finished):
            self._numbers = event.numbers
        if time.monotonic() - self._saved > _SAVE_EVERY:
            # The end is saved in any case; a full disk must not break the stream.
            with contextlib.suppress(SlipstreamError):
                self.save("")

    def save(self, finish: str) -> None:
        """Write it to the store; nothing was generated, nothing is written."""
        if not self._text and not self._thinking:
            return
        if self._id is None:
            chat_id = self.question.chat_id
            self._id = self.store.add_message(chat_id, "assistant", after=self.question.id).id
        self._saved = time.monotonic()
        self.store.update_message(
            self._id,
            content="".join(self._text),
            reasoning="".join(self._thinking),
            pieces=[*self._thinking_runs, *self._text_runs],
            numbers=asdict(self._numbers) if self._numbers else None,
            spec=self.spec,
            finish=finish,
        )

    def _add(self, piece: Piece) -> None:
        if not piece.text:
            return
        words = self._thinking if piece.reasoning else self._text
        runs = self._thinking_runs if piece.reasoning else self._text_runs
        words.append(piece.text)
        drafted = piece.source is Source.DRAFTER
        if runs and runs[-1][1] == drafted:
            runs[-1] = (runs[-1][0] + len(piece.text), drafted)
        else:
            runs.append((len(piece.text), drafted))


def _spec_values(loaded: Loaded | None) -> dict[str, object]:
    """How a model speculates, as plain values."""
    if loaded is None:
        return {}
    spec = loaded.spec
    return {
        "kind": spec.kind,
        "draft_tokens": spec.draft_tokens,
        "fallback": loaded.fallback,
    }
