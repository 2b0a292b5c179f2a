"""What the client makes of a stream, whatever way its bytes are cut: a server that sends ours."""

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipstream.cancel import CancelToken
from slipstream.engine.chunks import Chunk
from slipstream.engine.client import EngineClient
from slipstream.engine.requests import ChatMessage, ReplyOptions
from slipstream.errors import SlipstreamError

PING = ":\n\n"
EVENTS = {"Content-Type": "text/event-stream"}


class Server(ThreadingHTTPServer):
    """Answers every request with ``pieces``, each in an HTTP chunk of its own, and ``headers``."""

    pieces: list[bytes]
    http_status = 200
    headers: ClassVar[dict[str, str]] = {}
    hold: threading.Event


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(self.server.http_status)
        for name, value in {**EVENTS, **self.server.headers}.items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            for piece in self.server.pieces:
                self.send(piece)
            while not self.server.hold.wait(0.2):
                self.send(PING.encode())
            self.send(b"")
        self.close_connection = True

    def send(self, piece: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as server:
        server.hold = threading.Event()
        server.hold.set()
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def client(server: Server) -> EngineClient:
    return EngineClient(f"http://127.0.0.1:{server.server_port}", "key", decode_silence=1)


def event(text: str, finish: str | None = None) -> str:
    choice = {"delta": {"content": text}, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]}, ensure_ascii=False)}\n\n"


@contextlib.contextmanager
def held(server: Server) -> Iterator[None]:
    """Inside the block the server goes on with pings instead of ending its answer."""
    server.hold.clear()
    try:
        yield
    finally:
        server.hold.set()


def ask(client: EngineClient) -> list[Chunk]:
    question = [ChatMessage("user", "?")]
    return list(client.chat(question, ReplyOptions(), CancelToken()))


texts = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=6)


@given(texts, st.data())
def test_text_survives_any_cut_of_the_bytes_and_any_pings(
    server: Server, client: EngineClient, texts: list[str], data: st.DataObject
) -> None:
    events = [event(text) for text in texts] + [event("", "stop"), "data: [DONE]\n\n"]
    pings = [PING if data.draw(st.booleans()) else "" for _ in events]
    stream = "".join(ping + one for ping, one in zip(pings, events, strict=True))
    if data.draw(st.booleans(), label="lines end with CR LF"):
        stream = stream.replace("\n", "\r\n")
    sent = stream.encode()
    cuts = sorted(data.draw(st.sets(st.integers(1, len(sent) - 1), max_size=20)))
    server.pieces = [sent[a:b] for a, b in zip([0, *cuts], [*cuts, len(sent)], strict=True)]
    assert [chunk.text for chunk in ask(client)] == [*texts, ""]


def test_an_error_inside_the_stream_is_the_engines_refusal(
    server: Server, client: EngineClient
) -> None:
    error = {"error": {"code": 500, "message": "Compute error.", "type": "server_error"}}
    server.pieces = [event("Hel").encode(), f"data: {json.dumps(error)}\n\n".encode()]
    with pytest.raises(SlipstreamError) as caught:
        ask(client)
    assert caught.value.code == "engine_refused"
    assert caught.value.facts == {"engine_message": "Compute error.", "http_status": 500}


def test_an_event_without_end_is_named(server: Server, client: EngineClient) -> None:
    server.pieces = [b"data: ", *[b"x" * (1 << 20)] * 8]
    with held(server), pytest.raises(SlipstreamError) as caught:
        ask(client)
    assert caught.value.code == "not_an_engine"


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/html"},
        {"Content-Encoding": "gzip"},
        {"Content-Type": "text/event-stream; charset=base64"},
    ],
)
@pytest.mark.parametrize("http_status", [200, 500])
def test_what_is_no_stream_of_events_is_named(
    server: Server,
    client: EngineClient,
    monkeypatch: pytest.MonkeyPatch,
    headers: dict[str, str],
    http_status: int,
) -> None:
    monkeypatch.setattr(server, "headers", headers)
    monkeypatch.setattr(server, "http_status", http_status)
    server.pieces = [b"<html>hi</html>"]
    with pytest.raises(SlipstreamError) as caught:
        ask(client)
    assert caught.value.code in ("not_an_engine", "engine_refused", "engine_gone")


@pytest.mark.parametrize(
    "body",
    [
        '{"error":"nope"}',
        '{"error":null}',
        "[1]",
        '{"error":{"type":"exceed_context_size_error"}}',
        '{"error":{"type":"exceed_context_size_error","n_prompt_tokens":"x","n_ctx":null}}',
        "<html>hi</html>",
        "",
    ],
)
def test_any_answer_with_an_error_s_status_is_a_refusal(
    server: Server, client: EngineClient, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    monkeypatch.setattr(server, "http_status", 400)
    server.pieces = [body.encode()] if body else []
    with pytest.raises(SlipstreamError) as caught:
        ask(client)
    assert caught.value.code == "engine_refused"
    assert caught.value.facts["http_status"] == 400


def test_a_stream_that_ends_without_saying_why_is_a_lost_connection(
    server: Server, client: EngineClient
) -> None:
    server.pieces = [event("Hel").encode()]
    with pytest.raises(SlipstreamError) as caught:
        ask(client)
    assert caught.value.code == "engine_gone"


def test_pings_are_no_sign_that_the_engine_works(server: Server, client: EngineClient) -> None:
    server.pieces = [event("Hel").encode()]
    with held(server), pytest.raises(SlipstreamError) as caught:
        ask(client)
    assert caught.value.code == "engine_hung"
