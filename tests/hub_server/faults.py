"""What the test Hub does badly on purpose. All of it may be changed while it runs."""

import threading
from dataclasses import dataclass, field

FOR_EVER = 1 << 62


@dataclass
class Sending:
    """How bodies are sent: of one file (``HubFile.sending``) or of all (``HubServer.sending``).

    Where both ask for something, the file's own counts.

    Attributes:
        rate: bytes per second on each connection; 0 is as fast as it can.
        cut_after: bytes of one answer after which the connection is closed.
        cuts: how many answers are cut; shorter answers do not count.
        stall_after: bytes of one answer after which nothing more comes; the connection stays open.
        stalls: how many answers stall.
        corrupt_at: offset in the file of a byte that arrives changed.
        corrupt_only: only the n-th answer with that byte is wrong (1 is the first); 0 is all.
        ranges: Range is obeyed; else every answer is the whole file, with status 200.
        html: a web page comes instead of the file, with status 200.
    """

    rate: float = 0
    cut_after: int | None = None
    cuts: int = FOR_EVER
    stall_after: int | None = None
    stalls: int = FOR_EVER
    corrupt_at: int | None = None
    corrupt_only: int = 0
    ranges: bool = True
    html: bool = False
    _corruptible: int = field(default=0, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def cut(self, size: int) -> int | None:
        """Bytes after which this answer of ``size`` bytes is cut off; counts it."""
        with self._lock:
            if self.cut_after is None or self.cut_after >= size or not self.cuts:
                return None
            self.cuts -= 1
            return self.cut_after

    def stall(self, size: int) -> int | None:
        """Bytes after which this answer of ``size`` bytes stalls; counts it."""
        with self._lock:
            if self.stall_after is None or self.stall_after >= size or not self.stalls:
                return None
            self.stalls -= 1
            return self.stall_after

    def corrupt(self, first: int, end: int) -> int | None:
        """Offset of the byte that is wrong in this answer; counts it."""
        with self._lock:
            if self.corrupt_at is None or not first <= self.corrupt_at < end:
                return None
            self._corruptible += 1
            wrong = self.corrupt_only in (0, self._corruptible)
            return self.corrupt_at if wrong else None


@dataclass
class Faults:
    """What goes wrong on the server, and when.

    Attributes:
        api: statuses that the next requests to ``/api/...`` are answered with, one each
            (``[429] * 3 + [503]``); 200 lets one pass.
        resolve: the same for ``/owner/name/resolve/...``.
        cdn: the same for the CDN.
        retry_after: seconds that a 429 asks for.
        retry_headers: the headers in which it says so; the Hub sends the first two.
        latency: seconds before each answer.
        link_seconds: how long a link to the CDN is valid.
        link_answers: how many answers (not HEAD) a link is good for.
        link_bytes: bytes that a link is good for; what is being sent then still comes whole.
    """

    api: list[int] = field(default_factory=list)
    resolve: list[int] = field(default_factory=list)
    cdn: list[int] = field(default_factory=list)
    retry_after: int = 1
    retry_headers: tuple[str, ...] = ("RateLimit", "RateLimit-Policy", "Retry-After")
    latency: float = 0
    link_seconds: float = 3600
    link_answers: int = FOR_EVER
    link_bytes: int = FOR_EVER
