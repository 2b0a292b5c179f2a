"""The test Hub itself: two listeners, and what they share."""

import contextlib
import socket
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from hub_server.answers import Answer, Call, Part, Refused, as_json
from hub_server.api import answer_api
from hub_server.bodies import End, send_body
from hub_server.faults import Faults, Sending
from hub_server.files import CACHED, RESOLVE, Links, answer_cdn, answer_resolve
from hub_server.log import Listener, Log, Request
from hub_server.repos import Repo

USER = "reader"
TOKEN = "hf_of_the_reader"
_LIMITS = {"api": 500, "resolvers": 3000}
_WINDOW = 300


class HubServer:
    """A Hub on loopback, and a CDN under another host name; a context manager.

    Attributes:
        endpoint: address of the Hub, without a slash at the end.
        cdn: address of the CDN.
        repos: by id; may be changed while it runs.
        tokens: valid ones, each with its user's name. ``TOKEN`` of ``USER`` is valid.
        faults: what goes wrong.
        sending: how all bodies are sent.
        models_page: most models on a page of the list.
        tree_page: most entries on a page of a tree; 50 with ``expand``, as the Hub does.
        log: what was asked; ``requests``, ``asked`` and ``wait_for`` look into it.
    """

    def __init__(
        self, *repos: Repo, port: int = 0, told: Callable[[Request], None] | None = None
    ) -> None:
        """Bind both listeners; they answer after ``start``.

        Args:
            repos: what it holds.
            port: of the Hub; 0 takes any free one.
            told: of each request when its answer is complete, in the thread that answered.
        """
        self.repos: dict[str, Repo] = {repo.id: repo for repo in repos}
        self.tokens: dict[str, str] = {TOKEN: USER}
        self.faults = Faults()
        self.sending = Sending()
        self.models_page = 100
        self.tree_page = 1000
        self.log = Log(told)
        self.links = Links()
        self.stopped = threading.Event()
        self._popping = threading.Lock()
        self._listeners = [_Listener(self, "hub", port), _Listener(self, "cdn", 0)]
        hub, cdn = (listener.server_address[1] for listener in self._listeners)
        self.endpoint = f"http://127.0.0.1:{hub}"
        self.cdn = f"http://localhost:{cdn}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Serve in threads of its own."""
        for listener in self._listeners:
            listener.start()

    def stop(self) -> None:
        """End both listeners and every connection, also those that stall."""
        self.stopped.set()
        for listener in self._listeners:
            listener.stop()

    @property
    def requests(self) -> list[Request]:
        """What was asked so far, the oldest first."""
        return self.log.requests()

    def asked(
        self, part: str = "", method: str = "", listener: Listener | None = None
    ) -> list[Request]:
        """The requests with this in their path, of one method, to one listener."""
        return [
            request
            for request in self.requests
            if part in request.path
            and method in ("", request.method)
            and listener in (None, request.listener)
        ]

    def wait_for(self, condition: Callable[[], bool], seconds: float = 5) -> bool:
        """Wait until something is true that follows from the log; whether it came true."""
        return self.log.wait_for(condition, seconds)

    def forget(self) -> None:
        """Empty the log."""
        self.log.clear()

    def expire_links(self) -> None:
        """From now on the CDN refuses every link that was given so far."""
        self.links.expire()

    def answer(self, call: Call) -> Answer:
        """What a call is answered, faults included."""
        self.stopped.wait(self.faults.latency)
        try:
            if call.listener == "cdn":
                self._fail(self.faults.cdn, "cdn")
                return answer_cdn(self, call)
            if RESOLVE.fullmatch(call.path) or CACHED.fullmatch(call.path):
                self._fail(self.faults.resolve, "resolvers")
                return _limited(answer_resolve(self, call), "resolvers")
            self._fail(self.faults.api, "api")
            return _limited(answer_api(self, call), "api")
        except Refused as error:
            return error.answer

    def _fail(self, statuses: list[int], resource: str) -> None:
        with self._popping:
            status = statuses.pop(0) if statuses else 200
        if status == 200:
            return
        headers = {"X-Error-Message": "Asked to fail"}
        if status == 429:
            wait, limit = self.faults.retry_after, _LIMITS.get(resource, 0)
            said = {
                "RateLimit": f'"{resource}";r=0;t={wait}',
                "RateLimit-Policy": f'"fixed window";"{resource}";q={limit};w={_WINDOW}',
                "Retry-After": str(wait),
            }
            headers |= {name: said[name] for name in self.faults.retry_headers}
        raise Refused(as_json({"error": "Asked to fail"}, status, headers))


def _limited(answer: Answer, resource: str) -> Answer:
    """The Hub tells its limits with every answer."""
    limit = _LIMITS[resource]
    said = {
        "RateLimit": f'"{resource}";r={limit - 1};t={_WINDOW}',
        "RateLimit-Policy": f'"fixed window";"{resource}";q={limit};w={_WINDOW}',
    }
    return Answer(answer.status, {**said, **answer.headers}, answer.body)


class _Listener(ThreadingHTTPServer):
    request_queue_size = 128

    def __init__(self, hub: HubServer, name: Listener, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.hub, self.name = hub, name
        self._open: set[socket.socket] = set()
        self._answering: list[threading.Thread] = []
        self._serving = threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    def start(self) -> None:
        self._serving.start()

    def stop(self) -> None:
        if self._serving.is_alive():
            self.shutdown()
            self._serving.join()
        self.server_close()
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._answering:
            thread.join(5)

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = threading.Thread(
            target=self.process_request_thread, args=(request, client_address), daemon=True
        )
        self._open.add(request)
        self._answering = [thread, *(one for one in self._answering if one.is_alive())]
        thread.start()

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):  # the other side may go at any time
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Listener
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        hub = self.server.hub
        headers = {name.lower(): value for name, value in self.headers.items()}
        posted = self.rfile.read(int(headers.get("content-length", 0)))
        call = Call(self.server.name, self.command, self.path, headers, posted)
        request = hub.log.begin(Request(call.listener, call.method, call.target, headers))
        try:
            self._reply(call, request, hub.answer(call))
        finally:
            hub.log.end(request)

    do_HEAD = do_GET  # noqa: N815
    do_POST = do_GET  # noqa: N815

    def _reply(self, call: Call, request: Request, answer: Answer) -> None:
        hub = self.server.hub
        hub.log.status(request, answer.status)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(answer.size))
        self.end_headers()
        if call.method == "HEAD":
            return
        body = answer.body
        part = body if isinstance(body, Part) else Part(body, 0, len(body))

        def sent(count: int) -> None:
            hub.log.sent(request, count)
            hub.links.spend(call, count)

        if send_body(self.connection, part, hub.stopped, sent) is End.CUT:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: ``HubServer.log`` has it."""
