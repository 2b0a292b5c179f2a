"""The bytes of one answer, read into a buffer with as few copies as there can be.

httpx2 hands out a body in pieces of 64 KiB that were copied four times; on a fast link that costs
more than anything else. After the first piece, a long body is therefore read from the socket
itself. The connection cannot be used again then, so this is done for long bodies only.
"""

import contextlib
import socket
import ssl
from collections.abc import Iterator

import httpx2

_LONG = 8 << 20
"""Bytes from which a new connection costs less than the copies."""

_WINDOW = 1 << 20
"""Bytes that may be on the way or in the system's buffers; they are lost with the program. So
much keeps 50 MB/s flowing on each connection from 20 ms away."""


class Body:
    """The body of an answer whose status and headers were read."""

    def __init__(self, answer: httpx2.Response, length: int, silence: float) -> None:
        """Begin to read.

        Args:
            answer: streamed, nothing read of its body yet.
            length: bytes that it should have.
            silence: seconds without a byte after which the connection counts as cut.
        """
        self._pieces: Iterator[bytes] = answer.iter_raw()
        self._piece = memoryview(b"")
        self._first = True
        self._socket = _socket_of(answer) if length >= _LONG else None
        self._endless = "content-length" not in answer.headers
        self._silence = silence

    def read_into(self, buffer: memoryview) -> int:
        """Read some bytes; returns how many, 0 at the end.

        Raises: httpx2.HTTPError: the connection is cut.
        """
        if self._socket is None or self._first:
            return self._copy_piece(buffer)
        try:
            return self._socket.recv_into(buffer)
        except TimeoutError as error:
            raise httpx2.ReadTimeout("no byte for too long") from error
        except OSError as error:
            raise httpx2.ReadError(str(error)) from error

    def has_more(self) -> bool:
        """Whether bytes follow, where no length was told."""
        return self._endless and self.read_into(memoryview(bytearray(1))) > 0

    def _copy_piece(self, buffer: memoryview) -> int:
        if not self._piece:
            self._piece = memoryview(next(self._pieces, b""))
        count = min(len(buffer), len(self._piece))
        buffer[:count] = self._piece[:count]
        self._piece = self._piece[count:]
        if not self._piece and self._socket is not None:
            # the first piece emptied what httpx2 had read along with the headers
            self._first = False
            self._prepare(self._socket)
        return count

    def _prepare(self, found: socket.socket) -> None:
        found.settimeout(self._silence)
        if hasattr(socket, "TCP_WINDOW_CLAMP"):
            with contextlib.suppress(OSError):
                found.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, _WINDOW)


def _socket_of(answer: httpx2.Response) -> socket.socket | None:
    """The socket that the body comes from as it is, undivided; None if there is no such."""
    if answer.http_version != "HTTP/1.1" or "content-length" not in answer.headers:
        return None
    stream = answer.extensions.get("network_stream")
    if stream is None:
        return None
    found = stream.get_extra_info("socket")
    if isinstance(found, ssl.SSLSocket):
        return found
    plain = isinstance(found, socket.socket) and stream.get_extra_info("ssl_object") is None
    return found if plain else None  # through TLS to a proxy, the socket carries TLS in TLS
