import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import islice

import pytest

from running_engine import RunningEngine
from slipstream.cancel import Cancelled, CancelToken
from slipstream.engine.client import EngineClient
from slipstream.engine.requests import ChatMessage, ReplyOptions
from slipstream.errors import SlipstreamError

GREEDY = ReplyOptions(max_tokens=60, temperature=0, seed=1)
ENDLESS = "1 2 3 4 5 6"
"""The demo model continues this with zeros until the context is full."""

STOPS_WITHIN = 3.0
"""Seconds; the engine looks once a second whether somebody still listens."""


@pytest.fixture
def running(engine: Callable[..., RunningEngine]) -> RunningEngine:
    return engine("plain")


@pytest.fixture
def client(running: RunningEngine) -> EngineClient:
    return EngineClient(running.address, running.key)


@pytest.fixture
def frozen(running: RunningEngine) -> Iterator[None]:
    os.kill(running.process.pid, signal.SIGSTOP)
    yield
    os.kill(running.process.pid, signal.SIGCONT)


def say(text: str) -> list[ChatMessage]:
    return [ChatMessage("user", text)]


def idle_within(client: EngineClient, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while client.slots()[0]["is_processing"]:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def cancel_soon(cancel: CancelToken) -> None:
    threading.Timer(0.3, cancel.cancel).start()


def test_importing_the_client_loads_no_http_library() -> None:
    code = "import sys, slipstream.engine.client; sys.exit('httpx2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_chat_streams_text_progress_and_counters(client: EngineClient) -> None:
    chunks = list(client.chat(say("Tell me a story about a fox."), GREEDY, CancelToken()))
    assert "".join(chunk.text for chunk in chunks).startswith("Once upon a time")
    assert [chunk.finish for chunk in chunks if chunk.finish] == ["length"]
    *_, (done, total) = [chunk.progress for chunk in chunks if chunk.progress]
    assert done == total > 0
    last = chunks[-1].timings
    assert last
    assert last.predicted == GREEDY.max_tokens


def test_a_completion_continues_the_text_itself(client: EngineClient) -> None:
    chunks = list(client.complete("def merge(", GREEDY, CancelToken()))
    assert "".join(chunk.text for chunk in chunks)
    assert chunks[-1].finish in ("stop", "length")


def test_the_same_question_twice_gets_the_same_greedy_answer_and_reuses_the_cache(
    client: EngineClient,
) -> None:
    def ask() -> tuple[str, int]:
        chunks = list(client.chat(say("Who are you?"), GREEDY, CancelToken()))
        assert chunks[-1].timings
        return "".join(chunk.text for chunk in chunks), chunks[-1].timings.prompt_cached

    (first, _), (second, cached) = ask(), ask()
    assert first == second
    assert cached > 0


def test_options_left_out_are_the_engines_own(client: EngineClient) -> None:
    chunks = list(client.chat(say("Hello"), ReplyOptions(), CancelToken()))
    assert chunks[-1].finish == "stop"


def test_what_the_engine_tells_of_itself(client: EngineClient) -> None:
    assert client.health()
    assert client.props()["total_slots"] == 1
    assert len(client.slots()) == 1
    assert client.metrics() is not None
    assert len(client.tokenize("Hello fox")) == 2


def test_characters_of_several_bytes_arrive_whole(client: EngineClient) -> None:
    chunks = list(client.chat(say("Say 🦊 — «naïve» 日本語"), GREEDY, CancelToken()))
    assert "�" not in "".join(chunk.text for chunk in chunks)


def test_a_prompt_longer_than_the_context_is_named(client: EngineClient) -> None:
    with pytest.raises(SlipstreamError) as caught:
        list(client.chat(say("word " * 6000), GREEDY, CancelToken()))
    assert caught.value.code == "context_too_long"
    assert caught.value.facts["context"] == 4096
    tokens = caught.value.facts["prompt_tokens"]
    assert isinstance(tokens, int)
    assert tokens > 4096
    assert "12,0" in caught.value.message


def test_another_refusal_carries_the_engines_words(client: EngineClient) -> None:
    with pytest.raises(SlipstreamError) as caught:
        list(client.chat([], ReplyOptions(max_tokens=-9), CancelToken()))
    assert caught.value.code == "engine_refused"
    assert caught.value.facts["engine_message"]


def test_a_wrong_key_is_refused(running: RunningEngine) -> None:
    with pytest.raises(SlipstreamError) as caught:
        EngineClient(running.address, "wrong").slots()
    assert caught.value.code == "engine_refused"
    assert caught.value.facts["status"] == 401


def test_cancel_between_chunks_stops_the_engine(client: EngineClient) -> None:
    cancel = CancelToken()
    chunks = client.complete(ENDLESS, ReplyOptions(temperature=0), cancel)
    assert len(list(islice(chunks, 20))) == 20
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(chunks)
    assert idle_within(client, STOPS_WITHIN)


def test_cancel_while_the_prompt_is_read_stops_the_engine(client: EngineClient) -> None:
    cancel = CancelToken()
    chunks = client.complete("fox " * 1900, ReplyOptions(max_tokens=1), cancel)
    assert next(chunks).progress
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(chunks)
    assert idle_within(client, STOPS_WITHIN)


def test_cancel_before_the_request_was_sent(client: EngineClient, frozen: None) -> None:
    cancel = CancelToken()
    cancel.cancel()
    started = time.monotonic()
    with pytest.raises(Cancelled):
        next(client.chat(say("Hello"), GREEDY, cancel))
    assert time.monotonic() - started < 2


def test_cancel_while_no_byte_has_arrived_yet(client: EngineClient, frozen: None) -> None:
    cancel = CancelToken()
    cancel_soon(cancel)
    started = time.monotonic()
    with pytest.raises(Cancelled):
        list(client.chat(say("Hello"), GREEDY, cancel))
    assert time.monotonic() - started < 2


def test_cancel_while_another_request_has_the_slot(client: EngineClient) -> None:
    stop_first, cancel = CancelToken(), CancelToken()
    first = client.complete(ENDLESS, ReplyOptions(temperature=0), stop_first)
    assert next(first).progress
    cancel_soon(cancel)
    with pytest.raises(Cancelled):
        list(client.chat(say("Hello"), GREEDY, cancel))
    assert next(first), "the other request goes on"
    stop_first.cancel()
    with pytest.raises(Cancelled):
        list(first)
    assert idle_within(client, STOPS_WITHIN)


def test_closing_the_iterator_stops_the_engine(client: EngineClient) -> None:
    chunks = client.complete(ENDLESS, ReplyOptions(temperature=0), CancelToken())
    next(chunks)
    chunks.close()
    assert idle_within(client, STOPS_WITHIN)


def test_a_frozen_engine_is_noticed_before_the_first_token(
    running: RunningEngine, frozen: None
) -> None:
    client = EngineClient(running.address, running.key, prefill_silence=1)
    with pytest.raises(SlipstreamError) as caught:
        list(client.chat(say("Hello"), GREEDY, CancelToken()))
    assert caught.value.code == "engine_hung"


def test_an_engine_that_freezes_while_it_writes_is_noticed(running: RunningEngine) -> None:
    client = EngineClient(running.address, running.key, decode_silence=1)
    chunks = client.complete(ENDLESS, ReplyOptions(temperature=0), CancelToken())
    for chunk in chunks:
        if chunk.text:
            break
    os.kill(running.process.pid, signal.SIGSTOP)
    try:
        with pytest.raises(SlipstreamError) as caught:
            list(chunks)
    finally:
        os.kill(running.process.pid, signal.SIGCONT)
    assert caught.value.code == "engine_hung"
    assert caught.value.facts["seconds"] == 1


def test_a_silent_engine_that_still_logs_is_not_hung(running: RunningEngine, frozen: None) -> None:
    client = EngineClient(running.address, running.key, alive=time.monotonic, prefill_silence=0.5)
    cancel = CancelToken()
    threading.Timer(1.5, cancel.cancel).start()
    with pytest.raises(Cancelled):
        list(client.chat(say("Hello"), GREEDY, cancel))


def test_a_reader_that_takes_its_time_does_not_make_the_engine_look_hung(
    running: RunningEngine,
) -> None:
    client = EngineClient(running.address, running.key, decode_silence=0.5, prefill_silence=0.5)
    options = ReplyOptions(max_tokens=1000, temperature=0)
    chunks = client.complete(ENDLESS, options, CancelToken())
    next(chunks)
    time.sleep(1.2)
    assert list(chunks)[-1].finish == "length"


def test_an_engine_that_dies_while_it_writes_is_gone(
    engine_alone: RunningEngine,
) -> None:
    client = EngineClient(engine_alone.address, engine_alone.key)
    chunks = client.complete(ENDLESS, ReplyOptions(temperature=0), CancelToken())
    next(chunks)
    engine_alone.process.kill()
    with pytest.raises(SlipstreamError) as caught:
        list(chunks)
    assert caught.value.code == "engine_gone"
    assert not client.health()
    with pytest.raises(SlipstreamError) as caught:
        client.props()
    assert caught.value.code == "engine_gone"
