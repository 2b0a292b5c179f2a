"""Answering: what is said is kept, whatever happens to the engine."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from slipstream.cancel import CancelToken
from slipstream.chats.records import Message
from slipstream.chats.store import ChatStore, open_chats
from slipstream.drafters.kinds import DrafterKind, SpecConfig
from slipstream.engine.events import Finished, Piece, ReplyEvent, ReplyNumbers, Source
from slipstream.engine.requests import ChatMessage, ReplyOptions
from slipstream.engine.session import Session
from slipstream.errors import SlipstreamError
from slipstream.ui.answering import answer, history, numbers_of, spec_of, text_runs
from slipstream.ui.models import Selection


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ChatStore]:
    opened = open_chats(tmp_path / "chats.sqlite3").store
    yield opened
    opened.close()


@pytest.fixture
def session(kept_session: Session) -> Session:
    for _event in kept_session.load(Selection("demo", DrafterKind.MTP).request(), CancelToken()):
        pass
    return kept_session


class Ending(Session):
    """A session whose engine dies after two words."""

    def __init__(self) -> None:
        self.loaded = None

    def reply(
        self, messages: Sequence[ChatMessage], options: ReplyOptions, cancel: CancelToken
    ) -> Iterator[ReplyEvent]:
        del messages, options, cancel
        yield Piece("Once ", Source.TARGET)
        yield Piece("upon", Source.DRAFTER)
        yield ReplyNumbers(tokens=2)
        raise SlipstreamError("exited", "The engine ended.", action="Restart it.")


def ask(store: ChatStore, text: str) -> Message:
    return store.add_message(store.create_chat().id, "user", text)


def test_a_reply_is_kept_with_its_numbers_and_who_chose_its_words(
    store: ChatStore, session: Session
) -> None:
    question = ask(store, "Tell me a story about a fox.")
    events = list(answer(store, session, question, CancelToken()))
    reply = store.messages(question.chat_id)[-1]
    finished = events[-1]
    assert isinstance(finished, Finished)
    assert reply.role == "assistant"
    assert reply.content == "".join(e.text for e in events if isinstance(e, Piece))
    assert sum(length for length, _ in reply.pieces) == len(reply.content)
    assert any(drafted for _, drafted in reply.pieces)
    assert numbers_of(reply) == finished.numbers
    assert reply.spec == {"kind": "mtp", "draft_tokens": 3, "fallback": None}
    assert spec_of(reply) == SpecConfig(DrafterKind.MTP, draft_tokens=3)
    assert reply.finish == "stop"


def test_a_stopped_reply_is_kept_as_far_as_it_came(store: ChatStore, session: Session) -> None:
    question = ask(store, "Tell me a story about a fox.")
    cancel = CancelToken()
    pieces = []
    for event in answer(store, session, question, cancel):
        if isinstance(event, Piece):
            pieces.append(event.text)
            cancel.cancel()
    reply = store.messages(question.chat_id)[-1]
    assert reply.content == "".join(pieces)
    assert reply.finish == "cancelled"


def test_what_an_engine_said_before_it_died_is_kept(store: ChatStore) -> None:
    question = ask(store, "Tell me a story.")
    with pytest.raises(SlipstreamError, match="The engine ended"):
        list(answer(store, Ending(), question, CancelToken()))
    reply = store.messages(question.chat_id)[-1]
    assert reply.content == "Once upon"
    assert reply.pieces == ((5, False), (4, True))
    assert reply.finish == "failed"


class Thinking(Session):
    """A session that thinks before it says something; the demo never does."""

    def __init__(self, look: Callable[[], None]) -> None:
        self.loaded = None
        self._look = look

    def reply(
        self, messages: Sequence[ChatMessage], options: ReplyOptions, cancel: CancelToken
    ) -> Iterator[ReplyEvent]:
        del messages, options, cancel
        yield Piece("Let me see", Source.TARGET, reasoning=True)
        yield Piece(" ", Source.TARGET, reasoning=True)
        self._look()
        yield Piece("Yes.", Source.TARGET)
        yield Finished("stop", ReplyNumbers())


def test_thinking_is_saved_while_it_grows(
    store: ChatStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slipstream.ui.answering._SAVE_EVERY", 0.0)
    question = ask(store, "Tell me a story.")
    saved: list[Message] = []
    thinking = Thinking(lambda: saved.append(store.messages(question.chat_id)[-1]))
    list(answer(store, thinking, question, CancelToken()))
    assert saved[0].reasoning.startswith("Let me see")
    assert store.messages(question.chat_id)[-1].content == "Yes."


def test_a_second_answer_is_a_branch_of_its_own(store: ChatStore) -> None:
    question = ask(store, "Tell me a story.")
    for _ in range(2):
        with pytest.raises(SlipstreamError):
            list(answer(store, Ending(), question, CancelToken()))
    assert [m.role for m in store.messages(question.chat_id)] == ["user", "assistant"]


def test_the_engine_hears_alternating_roles_even_after_failures() -> None:
    def say(role: str, content: str) -> Message:
        return Message(1, 1, None, role, content)

    said = [
        say("user", "lost"),
        say("user", "first"),
        say("assistant", "answer"),
        say("user", "stopped at once"),
        say("assistant", ""),
        say("user", "last"),
    ]
    assert [m.content for m in history(said)] == ["first", "answer", "last"]


def test_the_runs_of_the_text_start_after_the_thinking() -> None:
    message = Message(
        1, 1, None, "assistant", "Yes.", "Hm well", pieces=((3, False), (6, True), (2, False))
    )
    assert list(text_runs(message)) == [(2, True), (2, False)]


def test_a_question_without_an_answer_leaves_nothing_behind(
    store: ChatStore, session: Session
) -> None:
    question = ask(store, "word " * 20_000)
    with pytest.raises(SlipstreamError) as failure:
        list(answer(store, session, question, CancelToken()))
    assert failure.value.action
    assert [m.role for m in store.messages(question.chat_id)] == ["user"]
