"""The speed limit that all connections share."""

import threading
import time

_BURST = 0.1
"""Seconds worth of bytes that may come at once: the speed is even to the eye."""


class SpeedLimit:
    """So many bytes per second, over all downloads that are given this object."""

    def __init__(self, bytes_per_second: float | None = None) -> None:
        """Begin with a limit in bytes per second; None is no limit."""
        self._lock = threading.Lock()
        self._rate = bytes_per_second or None
        self._tokens = 0.0
        self._filled = time.monotonic()

    @property
    def bytes_per_second(self) -> float | None:
        """The limit now; None is no limit."""
        return self._rate

    def change(self, bytes_per_second: float | None) -> None:
        """Set another limit, at once; None is no limit."""
        with self._lock:
            self._rate = bytes_per_second or None
            self._tokens = 0.0
            self._filled = time.monotonic()

    def take(self, most: int) -> int:
        """Bytes that may be read now; 0 after a short wait if none may be."""
        allowed, wait = self._take(most)
        if wait:
            time.sleep(wait)
        return allowed

    def give_back(self, unused: int) -> None:
        """Return what ``take`` allowed and was not read."""
        with self._lock:
            if self._rate is not None:
                self._tokens += unused

    def _take(self, most: int) -> tuple[int, float]:
        with self._lock:
            if self._rate is None:
                return most, 0.0
            now = time.monotonic()
            burst = max(1.0, self._rate * _BURST)
            self._tokens = min(burst, self._tokens + (now - self._filled) * self._rate)
            self._filled = now
            least = min(most, 16 << 10, burst)
            if self._tokens < least:
                return 0, min(_BURST, (least - self._tokens) / self._rate)
            allowed = max(1, min(most, int(self._tokens)))
            self._tokens -= allowed
            return allowed, 0.0
