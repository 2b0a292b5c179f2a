"""The end of an engine's log, read as it is written, in bounded memory."""

import contextlib
import json
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import BinaryIO

from slipstream.planning.breakdown import tells_of_memory

KEPT_LINES = 200
KEPT_IMPORTANT = 40
KEPT_OF_MEMORY = 400
LONGEST_LINE = 4096
"""Bytes of a line that are kept; the rest of it is dropped."""
_CHUNK = 65536
_PROGRESS = "cmd_child_to_router:state:"

# What tells of trouble, in small letters: an error's level ("0.00.030.478 E srv ..."), or its
# words. Warnings are too many to count by their level.
_TROUBLE = (
    *(" e srv ", " e cmn ", "error", "fail", "abort", "assert", "exception", "terminate", "unable"),
    *("cannot", "could not", "couldn't", "out of memory", "outofdevicememory", "bad_alloc"),
    *("insufficient", "not within the file", "invalid", "unsupported", "unknown model", "requires"),
    *("doesn't contain", "exceeds", "mismatch", "missing"),
)
METADATA = "llama_model_loader: - kv "
"""Before what the model's file says of itself, whatever that is."""
_LOOKED_AT = 400
"""Characters of a line that are searched; a flood must not keep a processor busy."""


class LogTail:
    """Reads a pipe to its end in a thread of its own, so that the engine never waits for us.

    Attributes:
        bytes_read: everything the engine printed.
        last_line_at: ``time.monotonic()`` of the last output; of the start when there was none.
        progress: share of the model that is loaded, 0 to 1; None until the engine tells.
    """

    def __init__(
        self,
        stream: BinaryIO,
        file: logging.Handler | None = None,
        on_end: Callable[[], None] | None = None,
    ) -> None:
        """Start reading.

        Args:
            stream: the read end of the pipe; closed at its end.
            file: also write the lines there, until it fails; closed at the end of the pipe.
            on_end: called from the reading thread when the pipe ends.
        """
        self.bytes_read = 0
        self.last_line_at = time.monotonic()
        self.progress: float | None = None
        self._lines: deque[tuple[int, str]] = deque(maxlen=KEPT_LINES)
        self._important: list[tuple[int, str]] = []
        self._memory: list[str] = []
        self._count = 0
        self._mark = 0
        self._stream = stream
        self._on_end = on_end
        self._file = file
        self._thread = threading.Thread(target=self._read, name="engine log", daemon=True)
        self._thread.start()

    @property
    def lines(self) -> tuple[str, ...]:
        """The last lines."""
        return tuple(line for _, line in self._lines.copy())

    @property
    def memory(self) -> tuple[str, ...]:
        """The first lines that tell what memory the model takes."""
        return tuple(self._memory)

    def evidence(self) -> tuple[str, ...]:
        """Where to look for a reason, in order: the first lines since the mark that tell of
        trouble, so that it survives whatever is printed after it, and the last lines.
        """
        recent = [entry for entry in self._lines.copy() if entry[0] > self._mark]
        return tuple(line for _, line in sorted({*self._important, *recent}))

    def mark(self) -> None:
        """Forget the trouble so far: it was survived."""
        self._important = []
        self._mark = self._count

    def join(self, seconds: float) -> bool:
        """Wait for the end of the pipe; returns whether it was reached."""
        if self._thread is not threading.current_thread():
            self._thread.join(seconds)
        return not self._thread.is_alive()

    def _read(self) -> None:
        try:
            with self._stream:
                self._read_lines()
        finally:
            self._close_file()
            if self._on_end:
                self._on_end()

    def _read_lines(self) -> None:
        rest = b""
        too_long = False
        while chunk := os.read(self._stream.fileno(), _CHUNK):
            self.bytes_read += len(chunk)
            self.last_line_at = time.monotonic()
            first, *others = chunk.split(b"\n")
            rest += b"" if too_long else first
            for next_line in others:
                self._keep(rest)
                rest, too_long = next_line, False
            if len(rest) > LONGEST_LINE:
                rest, too_long = rest[:LONGEST_LINE], True
        self._keep(rest)

    def _keep(self, raw: bytes) -> None:
        line = raw[:LONGEST_LINE].decode("utf-8", errors="replace").rstrip()
        if not line:
            return
        if line.startswith(_PROGRESS):
            self._read_progress(line.removeprefix(_PROGRESS))
            return
        self._count += 1
        self._lines.append((self._count, line))
        if len(self._important) < KEPT_IMPORTANT and _tells_of_trouble(line):
            self._important.append((self._count, line))
        if len(self._memory) < KEPT_OF_MEMORY and tells_of_memory(line[:_LOOKED_AT]):
            self._memory.append(line)
        self._write(line)

    def _write(self, line: str) -> None:
        if self._file:
            try:
                self._file.handle(logging.makeLogRecord({"msg": line}))
            except Exception:  # noqa: BLE001 - whatever becomes of the file, the engine is read
                self._close_file()

    def _close_file(self) -> None:
        file, self._file = self._file, None
        if file:
            with contextlib.suppress(Exception):  # a full disk is told here at the latest
                file.close()

    def _read_progress(self, text: str) -> None:
        progress = parse_progress(text)
        if progress is not None:
            self.progress = progress


def _tells_of_trouble(line: str) -> bool:
    if METADATA in line:
        return False
    start = line[:_LOOKED_AT].lower()
    return any(word in start for word in _TROUBLE)


def parse_progress(text: str) -> float | None:
    """The share that is loaded, from the JSON of one of llama-server's progress lines.

    The stages (text model, drafter, projector) count alike. None if it tells no progress.
    """
    try:
        payload = json.loads(text)["payload"]
        stages = payload["stages"]
        share = (stages.index(payload["current"]) + float(payload["value"])) / len(stages)
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return None
    return share if 0 <= share <= 1 else None
