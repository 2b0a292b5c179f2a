"""Load a model and talk to it, on the real engine: what the window and the command line do."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gguf_files import write_dflash_of_another_target
from slipstream.cancel import Cancelled, CancelToken
from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecChoice
from slipstream.engine.events import (
    EngineState,
    FellBack,
    Finished,
    LoadEvent,
    Piece,
    ReplyEvent,
    ReplyNumbers,
    Source,
    StateChanged,
)
from slipstream.engine.requests import ChatMessage, LoadRequest, ReplyOptions
from slipstream.engine.session import Session
from slipstream.engine.spec import EngineSpec
from slipstream.errors import SlipstreamError

STORY = [ChatMessage("user", "Tell me a story about a fox.")]
GREEDY = ReplyOptions(temperature=0.0, max_tokens=120)


@pytest.fixture
def session(embedded: EngineSpec) -> Iterator[Session]:
    one = Session(lambda: embedded)
    yield one
    one.stop()


def load(session: Session, model: Path, spec: SpecChoice = "auto") -> list[LoadEvent]:
    return list(session.load(LoadRequest(model, spec, context=1024), CancelToken()))


def reply(session: Session, messages: list[ChatMessage] = STORY) -> list[ReplyEvent]:
    return list(session.reply(messages, GREEDY, CancelToken()))


def text_of(events: list[ReplyEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, Piece))


def numbers_of(events: list[ReplyEvent]) -> ReplyNumbers:
    assert isinstance(events[-1], Finished)
    return events[-1].numbers


@pytest.mark.parametrize(
    ("spec", "share"), [(DrafterKind.MTP, 0.7), (DrafterKind.DFLASH, 0.4), ("auto", 0.7)]
)
def test_a_drafter_supplies_much_of_a_story(
    session: Session, demo: Path, spec: SpecChoice, share: float
) -> None:
    events = load(session, demo, spec)
    assert session.loaded
    assert session.loaded.fallback is None
    assert isinstance(events[-1], StateChanged)
    assert events[-1].state is session.state is EngineState.READY
    told = reply(session)
    numbers = numbers_of(told)
    assert numbers.acceptance
    assert numbers.acceptance > share
    drafted = [p for p in told if isinstance(p, Piece) and p.source is Source.DRAFTER]
    assert len(drafted) == numbers.accepted
    assert sum(numbers.by_position) == pytest.approx(numbers.accepted / numbers.steps)
    assert text_of(told).startswith("Once upon a time")


def test_the_text_is_the_same_with_every_kind_and_without(session: Session, demo: Path) -> None:
    texts = set()
    for spec in ("off", DrafterKind.MTP, DrafterKind.DFLASH, DrafterKind.NGRAM):
        load(session, demo, spec)  # type: ignore[arg-type]
        texts.add(text_of(reply(session)))
    assert len(texts) == 1


def test_plain_decoding_makes_one_token_a_step(session: Session, demo: Path) -> None:
    load(session, demo, "off")
    assert session.loaded
    assert session.loaded.spec == PLAIN
    numbers = numbers_of(reply(session))
    assert (numbers.drafted, numbers.acceptance, numbers.tokens_per_step) == (0, None, 1.0)


def test_a_conversation_continues(session: Session, demo: Path) -> None:
    load(session, demo)
    first = reply(session)
    more = [*STORY, ChatMessage("assistant", text_of(first)), ChatMessage("user", "Hello")]
    second = numbers_of(reply(session, more))
    assert second.prompt_cached > 0


def test_a_drafter_that_the_engine_rejects_costs_the_drafter_not_the_chat(
    session: Session, demo: Path, tmp_path: Path
) -> None:
    """Its header is all right, so that only the engine can find out."""
    target = Path(shutil.copy(demo.with_name("Slipstream-Demo-3M-Q8_0.gguf"), tmp_path))
    drafter = demo.with_name("dflash-Slipstream-Demo-3M-Q8_0.gguf").read_bytes()
    broken = drafter.replace(b"blk.1.attn_norm.weight", b"blk.1.attn_mron.weight")
    assert broken != drafter
    (tmp_path / "dflash-Slipstream-Demo-3M-Q8_0.gguf").write_bytes(broken)
    events = load(session, target, DrafterKind.DFLASH)
    (fall,) = [event for event in events if isinstance(event, FellBack)]
    assert fall.now == PLAIN
    assert session.loaded
    assert session.loaded.fallback == fall.reason
    assert "dflash-Slipstream-Demo-3M-Q8_0.gguf" in fall.reason
    assert text_of(reply(session)).startswith("Once upon a time")


def test_the_drafter_of_another_target_is_not_taken(
    session: Session, demo: Path, tmp_path: Path
) -> None:
    target = Path(shutil.copy(demo, tmp_path))
    write_dflash_of_another_target(tmp_path / "dflash-Slipstream-Demo-3M-Q8_0.gguf")
    with pytest.raises(SlipstreamError) as raised:
        load(session, target, DrafterKind.DFLASH)
    assert raised.value.code == "no_drafter"


def test_stopping_a_reply_keeps_what_was_said(session: Session, demo: Path) -> None:
    load(session, demo)
    cancel = CancelToken()
    told: list[ReplyEvent] = []
    for event in session.reply(STORY, GREEDY, cancel):
        told.append(event)
        if len(told) == 8:
            cancel.cancel()
    assert isinstance(told[-1], Finished)
    assert told[-1].finish == "cancelled"
    assert 0 < told[-1].numbers.tokens < 60
    assert text_of(reply(session)).startswith(text_of(told))


def test_an_engine_that_is_killed_in_a_reply_is_named_and_can_be_started_again(
    session: Session, demo: Path
) -> None:
    load(session, demo)
    told: list[ReplyEvent] = []
    with pytest.raises(SlipstreamError) as raised:
        for event in session.reply(STORY, GREEDY, CancelToken()):
            told.append(event)
            if len(told) == 8:
                _kill_engine()
    assert raised.value.code == "engine_killed"
    assert text_of(told)
    load(session, demo)
    assert text_of(reply(session)).startswith(text_of(told))


def test_a_prompt_longer_than_the_context_is_refused_with_both_numbers(
    session: Session, demo: Path
) -> None:
    load(session, demo)
    with pytest.raises(SlipstreamError) as raised:
        reply(session, [ChatMessage("user", "fox " * 3000)])
    assert raised.value.code == "context_too_long"
    assert raised.value.facts["context"] == 1024
    assert text_of(reply(session))


def test_a_wrong_file_does_not_unload_what_runs(
    session: Session, demo: Path, tmp_path: Path
) -> None:
    load(session, demo)
    text = tmp_path / "notes.gguf"
    text.write_text("not a model")
    with pytest.raises(SlipstreamError) as raised:
        load(session, text)
    assert raised.value.code == "not_a_model"
    assert text_of(reply(session))


def test_cancelling_a_load_leaves_no_engine(session: Session, demo: Path) -> None:
    cancel = CancelToken()
    with pytest.raises(Cancelled):
        for _ in session.load(LoadRequest(demo), cancel):
            cancel.cancel()
    assert session.loaded is None
    assert session.state is EngineState.STOPPED


def test_without_a_model_there_is_a_clear_error(session: Session) -> None:
    with pytest.raises(SlipstreamError) as raised:
        reply(session)
    assert raised.value.code == "not_loaded"


def _kill_engine() -> None:
    (guardian,) = [
        child for child in psutil.Process().children() if "guardian.py" in " ".join(child.cmdline())
    ]
    (engine,) = guardian.children()
    engine.kill()
