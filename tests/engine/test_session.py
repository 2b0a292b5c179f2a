"""Load a model and talk to it, on the real engine: what the window and the command line do."""

import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from gguf_files import write_dflash_of_another_target
from running_engine import guardians
from slipstream.cancel import Cancelled, CancelToken
from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecChoice
from slipstream.engine import session as session_module
from slipstream.engine.events import (
    EngineState,
    FellBack,
    Finished,
    LoadEvent,
    Piece,
    Reading,
    ReplyEvent,
    ReplyNumbers,
    Source,
    StateChanged,
)
from slipstream.engine.requests import ChatMessage, LoadRequest, ReplyOptions
from slipstream.engine.session import Session
from slipstream.engine.spec import Choice, EngineSpec
from slipstream.errors import SlipstreamError
from slipstream.machine.memory import Memory
from slipstream.weights import header as header_module
from slipstream.weights.header import Header

STORY = [ChatMessage("user", "Tell me a story about a fox.")]
GREEDY = ReplyOptions(temperature=0.0, max_tokens=120)


@pytest.fixture
def session(embedded: EngineSpec) -> Iterator[Session]:
    # Two spinning threads crawl on a machine that has other things to do.
    one = Session(lambda: Choice(embedded, threads=1))
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


def test_the_demo_says_the_same_on_this_engine_with_every_kind_and_without(
    session: Session, demo: Path
) -> None:
    texts = set()
    for spec in ("off", DrafterKind.MTP, DrafterKind.DFLASH, DrafterKind.NGRAM):
        load(session, demo, spec)
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


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_stopping_does_not_wait_for_an_engine_that_is_deep_in_a_prompt(
    session: Session, demo: Path
) -> None:
    """A frozen engine stands for one that computes a batch of a very large prompt."""
    load(session, demo)
    cancel = CancelToken()
    engine = _engine()
    started = time.monotonic()
    try:
        for event in session.reply(STORY, GREEDY, cancel):
            if isinstance(event, Reading):
                engine.suspend()
                started = time.monotonic()
                cancel.cancel()
            last = event
        waited = time.monotonic() - started
    finally:
        engine.resume()
    assert isinstance(last, Finished)
    assert last.finish == "cancelled"
    assert waited < 5  # the engine would have 10 seconds to answer a question
    assert text_of(reply(session)).startswith("Once upon a time")
    assert numbers_of(reply(session)).by_position


def test_an_engine_that_is_killed_in_a_reply_is_named_and_can_be_started_again(
    session: Session, demo: Path
) -> None:
    load(session, demo)
    told: list[ReplyEvent] = []
    with pytest.raises(SlipstreamError) as raised:
        for event in session.reply(STORY, GREEDY, CancelToken()):
            told.append(event)
            if len(told) == 8:
                _engine().kill()
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


@pytest.mark.parametrize("moment", [EngineState.STARTING, EngineState.LOADING, EngineState.READY])
def test_cancelling_a_load_leaves_no_engine(
    session: Session, demo: Path, moment: EngineState
) -> None:
    cancel = CancelToken()
    states = []
    with pytest.raises(Cancelled):
        for event in session.load(LoadRequest(demo), cancel):
            assert isinstance(event, StateChanged)
            states.append(event.state)
            if event.state is moment:
                cancel.cancel()
    assert states[-1] is moment
    assert session.loaded is None
    assert session.state is EngineState.STOPPED


def test_without_a_model_there_is_a_clear_error(session: Session) -> None:
    with pytest.raises(SlipstreamError) as raised:
        reply(session)
    assert raised.value.code == "not_loaded"


def test_an_engine_that_lacks_a_kind_of_drafter_still_loads(
    embedded: EngineSpec, demo: Path
) -> None:
    old = replace(embedded, spec_types=("draft-simple", "draft-dflash"))
    session = Session(lambda: Choice(old, threads=1))
    try:
        load(session, demo, "auto")
        assert session.loaded
        assert session.loaded.spec.kind is DrafterKind.DFLASH
        assert session.loaded.fallback is None
        (fall,) = [e for e in load(session, demo, DrafterKind.MTP) if isinstance(e, FellBack)]
        assert (fall.code, fall.now) == ("engine_cannot", PLAIN)
        assert "MTP" in str(session.loaded.fallback)
    finally:
        session.stop()


def test_a_model_gets_no_more_context_than_it_was_trained_for(session: Session, demo: Path) -> None:
    list(session.load(LoadRequest(demo, "off", context=10_000_000), CancelToken()))
    assert session.loaded
    assert session.loaded.context == 4096


def test_the_user_chooses_threads_and_context(embedded: EngineSpec, demo: Path) -> None:
    session = Session(lambda: Choice(embedded, threads=1, context=2560))
    try:
        list(session.load(LoadRequest(demo, "off"), CancelToken()))
        assert session.loaded
        assert session.loaded.context == 2560
        words = _engine().cmdline()
        assert words[words.index("--threads") + 1] == "1"
    finally:
        session.stop()


def test_a_model_larger_than_memory_is_told_once_and_does_not_unload_what_runs(
    session: Session, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(session, demo, "off")
    monkeypatch.setattr(session_module, "read_memory", lambda: Memory(8 << 20, 8 << 20))
    told: list[LoadEvent] = []
    with pytest.raises(SlipstreamError) as raised:
        told.extend(session.load(LoadRequest(demo), CancelToken()))
    assert raised.value.code == "model_too_large"
    assert not told or not any(isinstance(event, FellBack) for event in told)
    assert text_of(reply(session))


def test_a_drafter_that_makes_it_too_large_is_left_out(
    session: Session, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    just_enough = Memory(demo.stat().st_size + 1000, 8 << 20)
    monkeypatch.setattr(session_module, "read_memory", lambda: just_enough)
    falls = [e for e in load(session, demo, DrafterKind.DFLASH) if isinstance(e, FellBack)]
    assert [(fall.code, fall.now) for fall in falls] == [("model_too_large", PLAIN)]


def test_the_header_of_the_target_is_read_once(
    session: Session, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = Path(shutil.copy(demo, tmp_path))
    read = Counter[Path]()
    parse = header_module._read

    def counted(path: Path, *rest: Any) -> Header:
        read[path] += 1
        return parse(path, *rest)

    monkeypatch.setattr(header_module, "_read", counted)
    load(session, target)
    assert read == {target: 1}


def _engine() -> psutil.Process:
    (guardian,) = guardians()
    (engine,) = guardian.children()
    return engine
