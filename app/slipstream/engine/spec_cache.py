"""What engines said about themselves, kept until their files change. Losing it costs a second."""

import contextlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from slipstream.errors import SlipstreamError
from slipstream.paths import cache_folder

_LARGEST_FILE = 4_000_000
_KEPT = 20


def fingerprint(files: Sequence[Path]) -> str:
    """A key made of the path, size and modification time of files; missing ones count as empty."""
    parts: list[str] = []
    for file in files:
        size, modified = 0, 0
        with contextlib.suppress(OSError):
            stat = file.stat()
            size, modified = stat.st_size, stat.st_mtime_ns
        parts.append(f"{file}|{size}|{modified}")
    return "\n".join(parts)


def read(key: str) -> dict[str, Any] | None:
    """What was kept under ``key``; None if nothing was, or the file is damaged."""
    value = _read_all().get(key)
    return value if isinstance(value, dict) else None


def write(key: str, value: dict[str, Any]) -> None:
    """Keep ``value`` under ``key``; the oldest entries go. A full disk does not matter."""
    everything = _read_all()
    everything.pop(key, None)
    newest = dict([*everything.items(), (key, value)][-_KEPT:])
    with contextlib.suppress(OSError, SlipstreamError):
        file = _file()
        draft = file.with_name(f"{file.name}.{os.getpid()}")
        draft.write_text(json.dumps(newest), encoding="utf-8")
        draft.replace(file)


def _file() -> Path:
    return cache_folder() / "engines.json"


def _read_all() -> dict[str, Any]:
    with contextlib.suppress(OSError, SlipstreamError, ValueError, RecursionError):
        file = _file()
        if file.stat().st_size <= _LARGEST_FILE:
            content = json.loads(file.read_text(encoding="utf-8"))
            if isinstance(content, dict):
                return content
    return {}
