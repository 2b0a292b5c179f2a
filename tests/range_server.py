"""A real HTTP server on loopback that serves one file, well or badly."""

import contextlib
import re
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Served:
    """What a server sends, and what it was asked.

    Attributes:
        content: the file.
        etag: of the file.
        ranges: it knows Range.
        status: it refuses with this status.
        stalls_after: bytes of each body after which nothing more comes.
        breaks_after: bytes of each body after which it closes the connection.
        answers: how many answers it breaks off; the later ones are whole.
        pause: seconds between two small pieces of a body.
        redirect: every request is sent on to this address.
        headers: that replace its own; None leaves one out.
        asked: headers of each request, by their names in small letters.
        sent: bytes of all bodies.
    """

    content: bytes
    etag: str = '"one"'
    ranges: bool = True
    status: int = 0
    stalls_after: int | None = None
    breaks_after: int | None = None
    answers: int = 1_000_000
    pause: float = 0.0
    redirect: str = ""
    headers: dict[str, str | None] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)
    sent: int = 0
    ended: threading.Event = field(default_factory=threading.Event)


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away in the middle of an answer is no error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


@contextlib.contextmanager
def serving(served: Served, host: str = "127.0.0.1") -> Iterator[str]:
    """Serve it; yields its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            served.asked.append({name.lower(): value for name, value in self.headers.items()})
            with contextlib.suppress(OSError):
                _answer(self, served)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}/owner/model.gguf"
    finally:
        served.ended.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _answer(handler: BaseHTTPRequestHandler, served: Served) -> None:
    if served.redirect or served.status:
        handler.send_response(served.status or 302)
        handler.send_header("Location", served.redirect)
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        return
    content, etag = served.content, served.etag
    status, first, end = _part(handler, served, etag, len(content))
    body = content[first:end]
    headers: dict[str, str | None] = {"ETag": etag, "Content-Length": str(len(body))}
    if status == 206:
        headers["Content-Range"] = f"bytes {first}-{end - 1}/{len(content)}"
    if status == 416:
        headers["Content-Range"] = f"bytes */{len(content)}"
    handler.send_response(status)
    for name, value in {**headers, **served.headers}.items():
        if value is not None:
            handler.send_header(name, value)
    handler.end_headers()
    _send(handler, served, body)


def _part(
    handler: BaseHTTPRequestHandler, served: Served, etag: str, size: int
) -> tuple[int, int, int]:
    wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", handler.headers.get("Range", ""))
    if not wanted or not served.ranges or handler.headers.get("If-Range", etag) != etag:
        return 200, 0, size
    first, last = int(wanted[1]), int(wanted[2] or size - 1)
    return (206, first, min(last + 1, size)) if first < size else (416, 0, 0)


def _send(handler: BaseHTTPRequestHandler, served: Served, body: bytes) -> None:
    step = 1000 if served.pause else 64 << 10
    broken = served.answers > 0
    served.answers -= 1
    for at in range(0, len(body), step):
        piece = body[at : at + step]
        if broken and served.stalls_after is not None and at + step > served.stalls_after:
            served.ended.wait(30)
            return
        if broken and served.breaks_after is not None and at + step > served.breaks_after:
            handler.wfile.write(piece[: served.breaks_after - at])
            handler.close_connection = True
            return
        handler.wfile.write(piece)
        served.sent += len(piece)
        time.sleep(served.pause)
