"""One call to the Hub: it ends in time, waits where it is asked to, and says what is wrong."""

import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import httpx2
import pytest

from hub_server import TOKEN, HubFile, HubServer, Repo
from range_server import Served, serving
from slipstream import __version__
from slipstream.cancel import Cancelled, CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub import calls, patience
from slipstream.hub.calls import ask
from slipstream.hub.connection import Connection, connect
from slipstream.hub.headers import read_set
from slipstream.hub.listing import read_listing
from slipstream.hub.patience import patiently
from slipstream.hub.refusals import failure, refusal
from slipstream.hub.replies import LARGEST
from slipstream.hub.repository import sort_files

if TYPE_CHECKING:
    from huggingface_hub import HfApi, ModelInfo

NEVER = CancelToken()


@pytest.fixture
def hub() -> Iterator[HubServer]:
    files = [HubFile("model-Q8_0.gguf", b"GGUF")]
    with HubServer(
        Repo("owner/name", files),
        Repo("owner/gated", files, gated="manual"),
        Repo("owner/private", files, private=True),
        Repo("owner/gone", files, disabled=True),
        Repo("owner/old", renamed_to="owner/name"),
    ) as server:
        yield server


def signed_in(way: Connection, token: str = TOKEN) -> Connection:
    return replace(way, token=token)


def about(repo: str) -> "Callable[[HfApi], ModelInfo]":
    return lambda api: api.model_info(repo)


def refused(way: Connection, call: "Callable[[HfApi], object]") -> SlipstreamError:
    with pytest.raises(SlipstreamError) as caught:
        ask("owner/it", call, way, NEVER)
    return caught.value


def refused_file(way: Connection, repo: str, path: str, revision: str = "main") -> SlipstreamError:
    response = way.client.get(way.file_url(repo, revision, path), headers=way.headers())
    assert response.is_error
    return refusal(response, repo, way)


def test_an_answer_comes_back(hub: HubServer, way: Connection) -> None:
    assert ask("owner/name", about("owner/name"), way, NEVER).id == "owner/name"
    (request,) = hub.requests
    assert request.headers["user-agent"] == f"slipstream/{__version__}"
    assert "authorization" not in request.headers


def test_the_token_goes_along(hub: HubServer, way: Connection) -> None:
    ask("owner/name", about("owner/name"), signed_in(way), NEVER)
    assert hub.requests[0].headers["authorization"] == f"Bearer {TOKEN}"


def test_another_repository_answers_for_a_renamed_one(way: Connection) -> None:
    assert ask("owner/old", about("owner/old"), way, NEVER).id == "owner/name"


def test_two_hubs_can_be_asked_at_once(way: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    with HubServer(Repo("owner/other")) as second:
        monkeypatch.setenv("HF_ENDPOINT", second.endpoint)
        with connect() as there:
            together = threading.Barrier(2)

            def call(api: "HfApi") -> str:
                together.wait(10)
                return api.endpoint + next(iter(api.list_models(search="o"))).id

            answers: list[str] = []
            thread = threading.Thread(
                target=lambda: answers.append(ask("models", call, there, NEVER))
            )
            thread.start()
            assert ask("models", call, way, NEVER).startswith(way.endpoint)
            thread.join()
            assert answers == [f"{second.endpoint}owner/other"]


# --- what the Hub refuses


@pytest.mark.parametrize("repo", ["owner/missing", "owner/private"])
def test_what_is_missing_or_private(way: Connection, repo: str) -> None:
    for connection in (way, signed_in(way)):
        error = refused(connection, about(repo))
        assert error.code == "repo_not_found"
        assert "private" in error.message


def test_a_wrong_token(way: Connection) -> None:
    error = refused(signed_in(way, "hf_wrong"), about("owner/name"))
    assert error.code == "bad_token"
    assert "hf_wrong" not in str(error.to_json())
    assert refused_file(signed_in(way, "hf_wrong"), "owner/name", "x").code == "bad_token"


def test_a_version_that_is_not_there(way: Connection) -> None:
    error = refused(way, lambda api: api.model_info("owner/name", revision="v9"))
    assert error.code == "revision_not_found"
    assert refused_file(way, "owner/name", "x", "v9").code == "revision_not_found"


def test_a_file_that_is_not_there(way: Connection) -> None:
    assert refused_file(way, "owner/name", "x.gguf").code == "file_not_found"


def test_a_repository_that_was_taken_down(way: Connection) -> None:
    assert refused(way, about("owner/gone")).code == "repo_disabled"


def test_conditions_to_accept(way: Connection) -> None:
    stranger = refused_file(way, "owner/gated", "model-Q8_0.gguf")
    reader = refused_file(signed_in(way), "owner/gated", "model-Q8_0.gguf")
    page = f"{way.endpoint}/owner/gated"
    for error in (stranger, reader):
        assert error.code == "gated"
        assert error.facts["page"] == page
        assert page in error.action
    assert "HF_TOKEN" in stranger.action
    assert "sign in" not in reader.action


def test_a_name_that_can_be_none(way: Connection) -> None:
    assert refused(way, about("a/b/../c")).code == "server_error"


# --- rate limits and failures of the server


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [(("RateLimit", "RateLimit-Policy", "Retry-After"), 0), (("Retry-After",), 1)],
)
def test_a_rate_limit_is_waited_for_and_told(
    hub: HubServer, way: Connection, headers: tuple[str, ...], seconds: int
) -> None:
    hub.faults.api = [429]
    hub.faults.retry_headers = headers
    hub.faults.retry_after = seconds
    told: list[tuple[float, str]] = []

    def waiting(seconds: float) -> None:
        told.append((seconds, threading.current_thread().name))

    assert ask("owner/name", about("owner/name"), way, NEVER, waiting).id == "owner/name"
    assert told == [(1.0, threading.current_thread().name)]
    assert len(hub.requests) == 2


def test_a_rate_limit_in_the_middle_continues_there(hub: HubServer, way: Connection) -> None:
    hub.repos["owner/name"].files = [HubFile(f"{n}.gguf", b"GGUF") for n in range(30)]
    hub.tree_page = 10
    hub.faults.api = [200, 429]
    hub.faults.retry_after = 0
    hub.faults.retry_headers = ("Retry-After",)
    found = ask("owner/name", lambda api: list(api.list_repo_tree("owner/name")), way, NEVER)
    assert len(found) == 30
    assert len(hub.asked("/tree/")) == 4


def test_a_rate_limit_that_stays_is_an_error(
    hub: HubServer, way: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "_WAITS", 1)
    hub.faults.api = [429] * 9
    hub.faults.retry_after = 0
    hub.faults.retry_headers = ("Retry-After",)
    error = refused(way, about("owner/name"))
    assert (error.code, error.facts["seconds"], len(hub.requests)) == ("rate_limited", 0, 2)


def test_a_rate_limit_of_hours_is_not_waited_for(hub: HubServer, way: Connection) -> None:
    hub.faults.api = [429]
    hub.faults.retry_after = 7200
    error = refused(way, about("owner/name"))
    assert (error.code, error.facts["seconds"]) == ("rate_limited", 7201)


def test_anything_else_that_asks_the_hub_waits_as_well() -> None:
    def limited(seconds: int) -> SlipstreamError:
        return failing("rate_limited", http_status=429, seconds=seconds)

    def failing(code: str, **facts: int) -> SlipstreamError:
        return SlipstreamError(code, "It says no.", facts=facts, action="Wait.")

    def run(*outcomes: SlipstreamError | int) -> tuple[object, list[float]]:
        left, told = list(outcomes), list[float]()

        def call() -> int:
            outcome = left.pop(0)
            if isinstance(outcome, SlipstreamError):
                raise outcome
            return outcome

        try:
            return patiently(call, NEVER, told.append), told
        except SlipstreamError as error:
            return error.code, told

    assert run(limited(0), limited(0), 7) == (7, [0, 0])
    assert run(*[limited(0)] * 4, 7) == ("rate_limited", [0, 0, 0])
    assert run(limited(7200), 7) == ("rate_limited", [])
    assert run(failing("offline"), 7) == ("offline", [])


def test_waiting_can_be_cancelled(hub: HubServer, way: Connection) -> None:
    hub.faults.api = [429]
    hub.faults.retry_after = 100
    cancel = CancelToken()
    begin = time.monotonic()
    with pytest.raises(Cancelled):
        ask("owner/name", about("owner/name"), way, cancel, lambda _: cancel.cancel())
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize(
    "value", ["", "soon", "Wed, 21 Oct 2015 07:28:00 GMT", "9" * 5000, "-5", "²"]
)
def test_any_retry_header_is_read(way: Connection, value: str) -> None:
    response = httpx2.Response(429, headers=httpx2.Headers([(b"Retry-After", value.encode())]))
    assert refusal(response, "a/b", way).facts["seconds"] in {0, 10, 1_000_000}


def test_a_server_that_stumbles_is_asked_again(hub: HubServer, way: Connection) -> None:
    hub.faults.api = [503]
    assert ask("owner/name", about("owner/name"), way, NEVER).id == "owner/name"


def test_a_server_that_fails_is_told(
    hub: HubServer, way: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "_PAUSES", (0.0, 0.0))
    hub.faults.api = [500] * 9
    error = refused(way, about("owner/name"))
    assert (error.code, error.facts["http_status"], len(hub.requests)) == ("server_error", 500, 3)


# --- no answer, or one that is none


def test_nobody_there(way: Connection) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nowhere = replace(way, endpoint=f"http://127.0.0.1:{free.getsockname()[1]}")
    begin = time.monotonic()
    error = refused(nowhere, about("owner/name"))
    assert error.code == "offline"
    assert time.monotonic() - begin < 5


def test_a_silent_server_ends_in_time_or_when_cancelled(
    hub: HubServer, way: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.faults.latency = 20
    monkeypatch.setattr(calls, "TIME_LIMIT", 0.3)
    assert refused(way, about("owner/name")).code == "timed_out"
    monkeypatch.setattr(calls, "TIME_LIMIT", 60)
    monkeypatch.setattr(calls, "TIMEOUT", httpx2.Timeout(0.3))
    assert refused(way, about("owner/name")).code == "timed_out"
    monkeypatch.setattr(calls, "TIMEOUT", httpx2.Timeout(20))
    cancel = CancelToken()
    threading.Timer(0.2, cancel.cancel).start()
    begin = time.monotonic()
    with pytest.raises(Cancelled):
        ask("owner/name", about("owner/name"), way, cancel)
    assert time.monotonic() - begin < 5


def test_a_call_that_was_left_asks_nothing_more(hub: HubServer, way: Connection) -> None:
    cancel, left, ended = CancelToken(), threading.Event(), threading.Event()

    def call(api: "HfApi") -> None:
        try:
            api.model_info("owner/name")
            cancel.cancel()
            left.wait(10)
            api.model_info("owner/name")
        finally:
            ended.set()

    with pytest.raises(Cancelled):
        ask("owner/name", call, way, cancel)
    left.set()
    assert ended.wait(10)
    assert len(hub.requests) == 1


@pytest.mark.parametrize(
    "body", [b"<html>", b"[1]", b"null", b'{"id": 3, "siblings": 4}', b"", b"[" * 200_000]
)
def test_an_answer_that_makes_no_sense(way: Connection, body: bytes) -> None:
    with serving(Served(body)) as address:
        other = replace(way, endpoint=address.rpartition("/owner")[0])
        assert refused(other, about("owner/name")).code == "server_error"


def answered(way: Connection, served: Served) -> str:
    """What becomes of a call that a server answers so."""
    with serving(served) as address:
        other = replace(way, endpoint=address.rpartition("/owner")[0])
        try:
            return ask("owner/name", about("owner/name"), other, NEVER).id
        except SlipstreamError as error:
            return error.code


def test_an_answer_is_unpacked_as_far_as_it_may_be_large(way: Connection) -> None:
    about = b'{"id": "owner/name"}'
    packed: dict[str, str | None] = {"Content-Encoding": "gzip"}
    small = Served(gzip.compress(about), headers=packed)
    bomb = Served(gzip.compress(about + b" " * LARGEST), headers=packed)
    assert len(bomb.content) < LARGEST / 500
    assert (answered(way, small), answered(way, bomb)) == ("owner/name", "server_error")


@pytest.mark.parametrize("status", [302, 404, 500])
def test_what_a_server_adds_to_a_refusal_is_not_waited_for(
    way: Connection, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr(patience, "_PAUSES", ())
    ended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "1000")
            self.end_headers()
            ended.wait(20)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        other = replace(way, endpoint=f"http://127.0.0.1:{server.server_port}")
        begin = time.monotonic()
        error = refused(other, about("owner/name"))
        took = time.monotonic() - begin
        ended.set()
        server.shutdown()
    assert error.code == ("repo_not_found" if status == 404 else "server_error")
    assert took < 5


def test_a_next_page_that_has_no_address(hub: HubServer, way: Connection) -> None:
    page = Served(b"[]", headers={"Link": '<http://a:b>; rel="next"'})
    with serving(page) as address:
        other = replace(way, endpoint=address.rpartition("/owner")[0])
        error = refused(other, lambda api: list(api.list_repo_tree("owner/name")))
    assert error.code == "server_error"


def test_redirects_that_never_end(way: Connection) -> None:
    served = Served(b"")
    with serving(served) as address:
        served.redirect = address
        other = replace(way, endpoint=address.rpartition("/owner")[0])
        assert refused(other, about("owner/name")).code == "server_error"


def test_a_certificate_that_is_not_trusted(way: Connection) -> None:
    error = httpx2.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate")
    assert failure(error, "owner/name", way).code == "untrusted"


def test_a_header_is_asked_for_again_when_the_hub_is_busy(hub: HubServer, way: Connection) -> None:
    hub.faults.resolve += [503]
    listing = read_listing("owner/name", way, NEVER)
    files = sort_files(listing).targets[0]
    with pytest.raises(SlipstreamError) as caught:
        read_set(listing, files, way, NEVER)
    assert caught.value.code == "damaged_file"  # it was read: it is a start without an end
    assert [one.status for one in hub.asked("resolve")] == [503, 302]


def test_listings_are_read_by_many_threads_at_once(hub: HubServer, way: Connection) -> None:
    with ThreadPoolExecutor(8) as pool:
        read = pool.map(lambda _: read_listing("owner/name", way, CancelToken()), range(40))
        assert len({one.revision for one in read}) == 1
