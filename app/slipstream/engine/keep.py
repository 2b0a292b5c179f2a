"""Answers of engines, kept in small files of the cache folder. Losing one costs a second."""

import contextlib
import json
import stat
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from slipstream.errors import SlipstreamError
from slipstream.paths import cache_folder
from slipstream.small_files import in_place_of

_LARGEST_FILE = 4_000_000

Signature = tuple[Path, int, int] | None
"""A file, its time and its size; None for one that is not there."""


class Keep:
    """Objects by key: the newest ones, in memory as well as in a file.

    Args:
        name: of the file.
        most: objects that are kept.
    """

    def __init__(self, name: str, most: int) -> None:
        self._name = name
        self._most = most
        self._lock = threading.Lock()
        self._signature: Signature = None
        self._content: Mapping[str, Any] = {}

    def read(self, key: str) -> dict[str, Any] | None:
        """What was kept under ``key``; None if nothing was, or the file is damaged."""
        with self._lock:
            value = self._read_all().get(key)
        return value if isinstance(value, dict) else None

    def write(self, key: str, value: dict[str, Any]) -> None:
        """Keep ``value`` under ``key``; the oldest ones go. A full disk does not matter."""
        with self._lock:
            others = {name: one for name, one in self._read_all().items() if name != key}
            newest = dict([*others.items(), (key, value)][-self._most :])
            with contextlib.suppress(OSError, SlipstreamError), in_place_of(self._file()) as stream:
                stream.write(json.dumps(newest).encode())
            self._content, self._signature = newest, self._sign()

    def _read_all(self) -> Mapping[str, Any]:
        signature = self._sign()
        if signature != self._signature:
            self._content, self._signature = _object_in(signature), signature
        return self._content

    def _file(self) -> Path:
        return cache_folder() / self._name

    def _sign(self) -> Signature:
        with contextlib.suppress(OSError, SlipstreamError):
            file = self._file()
            facts = file.stat()
            if stat.S_ISREG(facts.st_mode):
                return file, facts.st_mtime_ns, facts.st_size
        return None


def _object_in(signature: Signature) -> Mapping[str, Any]:
    if signature is not None and signature[2] <= _LARGEST_FILE:
        with contextlib.suppress(OSError, ValueError, RecursionError):
            content = json.loads(signature[0].read_text(encoding="utf-8"))
            if isinstance(content, dict):
                return content
    return {}
