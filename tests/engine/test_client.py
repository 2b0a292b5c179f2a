import http.server
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import islice

import httpx2
import pytest

from running_engine import RunningEngine
from slipstream.cancel import Cancelled, CancelToken
from slipstream.engine import client as client_module
from slipstream.engine.client import EngineClient
from slipstream.engine.requests import ChatMessage, ReplyOptions
from slipstream.errors import SlipstreamError

GREEDY = ReplyOptions(max_tokens=60, temperature=0, seed=1)
ENDLESS = "1 2 3 4 5 6"
"""The demo model continues this with zeros until the context is full."""

STOPS_WITHIN = 15.0
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


GarbageServer = Callable[[str], str]


@pytest.fixture
def garbage_server() -> Iterator[GarbageServer]:
    """Answers every request with the text it was made with; gives its address."""
    answers = [""]

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write(answers[0].encode())

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()

        def make(text: str) -> str:
            answers[0] = text
            return f"http://127.0.0.1:{server.server_port}"

        yield make
        server.shutdown()
        thread.join()


def say(text: str) -> list[ChatMessage]:
    return [ChatMessage("user", text)]


def asked(client: EngineClient, path: str) -> httpx2.Response:
    key = {"Authorization": f"Bearer {client._key}"}
    return httpx2.get(client._address + path, headers=key, trust_env=False)


def idle_within(client: EngineClient, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while asked(client, "/slots").json()[0]["is_processing"]:
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


def test_the_engine_counts_speculation(client: EngineClient) -> None:
    assert client.metrics(CancelToken()) is not None


def test_counters_of_a_frozen_engine_are_unknown_after_a_moment(
    client: EngineClient, frozen: None
) -> None:
    started = time.monotonic()
    assert client.metrics(CancelToken()) is None
    assert time.monotonic() - started < 8


def test_asking_for_counters_can_be_cancelled_at_once(
    client: EngineClient, frozen: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "_ANSWER", 60.0)
    cancel = CancelToken()
    cancel_soon(cancel)
    started = time.monotonic()
    with pytest.raises(Cancelled):
        client.metrics(cancel)
    assert time.monotonic() - started < 30


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
        list(EngineClient(running.address, "wrong").chat(say("Hello"), GREEDY, CancelToken()))
    assert caught.value.code == "engine_refused"
    assert caught.value.facts["http_status"] == 401


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
    assert time.monotonic() - started < 30


def test_cancel_while_no_byte_has_arrived_yet(client: EngineClient, frozen: None) -> None:
    cancel = CancelToken()
    cancel_soon(cancel)
    started = time.monotonic()
    with pytest.raises(Cancelled):
        list(client.chat(say("Hello"), GREEDY, cancel))
    assert time.monotonic() - started < 30


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
    threading.Timer(1.0, cancel.cancel).start()
    with pytest.raises(Cancelled):
        list(client.chat(say("Hello"), GREEDY, cancel))


def test_a_reader_that_takes_its_time_does_not_make_the_engine_look_hung(
    running: RunningEngine,
) -> None:
    client = EngineClient(running.address, running.key, decode_silence=0.3, prefill_silence=5)
    options = ReplyOptions(max_tokens=300, temperature=0)
    chunks = client.complete(ENDLESS, options, CancelToken())
    for chunk in chunks:
        if chunk.text:
            break
    time.sleep(0.7)
    assert list(chunks)[-1].finish == "length"


@pytest.mark.parametrize(
    "event", ["{oops", "7", "[]", '{"choices": 7}', '{"timings": {"predicted_n": 1}}']
)
def test_an_engine_that_streams_garbage_is_named(garbage_server: GarbageServer, event: str) -> None:
    client = EngineClient(garbage_server(f"data: {event}\n\n"), "key")
    with pytest.raises(SlipstreamError) as caught:
        list(client.chat(say("Hello"), GREEDY, CancelToken()))
    assert caught.value.code == "not_an_engine"


@pytest.mark.parametrize("value", ["nan", "inf", "many"])
def test_counters_that_are_no_numbers_are_no_counters(
    garbage_server: GarbageServer, value: str
) -> None:
    text = "".join(
        f"llamacpp:spec_decode_num_{name}_total {value}\n"
        for name in ("drafts", "draft_tokens", "accepted_tokens")
    )
    assert EngineClient(garbage_server(text), "key").metrics(CancelToken()) is None


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
    with pytest.raises(SlipstreamError) as caught:
        client.metrics(CancelToken())
    assert caught.value.code == "engine_gone"
