"""Headers that were read once: local ones in memory until their file changes, those of files in
repositories on disk.
"""

import contextlib
import dataclasses
import hashlib
import io
import json
import os
import threading
import time
from collections import OrderedDict
from pathlib import Path
from types import MappingProxyType
from typing import Any

from slipstream import paths
from slipstream.errors import SlipstreamError
from slipstream.small_files import in_place_of, read_bytes
from slipstream.weights.header import Header, header_of, read_header
from slipstream.weights.parser import SHORT_ARRAY, STRING, ArrayInfo, Value
from slipstream.weights.skeleton import encoded

MEMORY_BYTES = 16 << 20
"""Of headers in memory, their long arrays left out; as objects they take some eight times that."""
DISK_BYTES = 64 << 20
DISK_FILES = 1024
SETTLED = 2.0
"""Seconds after a change from which on every further change shows in a file's times, which some
file systems keep in steps of so much."""

_Version = tuple[str | int, ...]
_ABOUT = "slipstream.header"
"""The key of a kept header that holds what its file would not say: JSON."""
_FORMAT = 1
"""Of the files on disk; those of another are not read."""


class _Memory:
    """The headers read last, by the version of their file."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._headers: OrderedDict[_Version, Header] = OrderedDict()
        self._bytes = 0

    def get(self, version: _Version) -> Header | None:
        with self._lock:
            if version in self._headers:
                self._headers.move_to_end(version)
            return self._headers.get(version)

    def put(self, version: _Version, header: Header) -> None:
        with self._lock:
            if version not in self._headers:
                self._headers[version] = header
                self._bytes += _built_bytes(header)
            while self._bytes > MEMORY_BYTES:
                self._bytes -= _built_bytes(self._headers.popitem(last=False)[1])


_memory = _Memory()


def cached_header(path: Path) -> Header:
    """The header of a local file, read again only if the file has changed.

    Raises: what ``read_header`` raises.
    """
    version = _version(path)
    known = _memory.get(version) if version else None
    if known is not None:
        return known if known.path == path else dataclasses.replace(known, path=path)
    fresh = read_header(path)
    if version and version == _version(path) and _settled(path):
        _memory.put(version, fresh)
    return fresh


def stored(key: str, path: Path) -> Header | None:
    """The header kept on disk under ``key``; None if there is none, or it is damaged.

    Args:
        key: names one content of one file for good.
        path: what the file is called.
    """
    with contextlib.suppress(OSError, SlipstreamError, ValueError):
        file = _file(key)
        digest, content = _split(read_bytes(file, DISK_BYTES))
        if digest == _digest(key, content):
            os.utime(file)  # the ones used last are kept
            return _decoded(path, content)
    return None


def store(key: str, header: Header) -> None:
    """Keep a header on disk, without the contents of its long arrays; a full disk does not matter.

    What is needed to compare vocabularies is kept: how many tokens there are, and the digest of
    their texts. A header whose arrays were built because somebody asked for them is not kept.
    """
    if any(_asked_for(value) for value in header.keys.values()):
        return
    content = _encoded(header)
    with contextlib.suppress(OSError, SlipstreamError):
        file = _file(key)
        file.parent.mkdir(mode=0o700, exist_ok=True)
        with in_place_of(file) as stream:
            stream.write(_digest(key, content) + content)
        _prune(file.parent)


def _version(path: Path) -> _Version | None:
    """What changes when a file does; None if there is no such file."""
    try:
        real = paths.real(path)
        stat = real.stat()
    except (OSError, ValueError):
        return None
    return str(real), stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def _settled(path: Path) -> bool:
    try:
        stat = path.stat()
    except OSError:
        return False
    return time.time() - max(stat.st_mtime, stat.st_ctime) > SETTLED


def _built_bytes(header: Header) -> int:
    arrays = (value.bytes for value in header.keys.values() if isinstance(value, ArrayInfo))
    return header.data_start - sum(arrays)


def _file(key: str) -> Path:
    name = hashlib.sha256(key.encode()).hexdigest()[:32]
    return paths.cache_folder() / "headers" / name


def _digest(key: str, content: bytes) -> bytes:
    return hashlib.sha256(f"{_FORMAT} {key}\n".encode() + content).digest()


def _split(content: bytes) -> tuple[bytes, bytes]:
    size = hashlib.sha256().digest_size
    return content[:size], content[size:]


def _asked_for(value: Value) -> bool:
    return isinstance(value, tuple) and (
        len(value) > SHORT_ARRAY or any(isinstance(item, str) for item in value)
    )


def _encoded(header: Header) -> bytes:
    """A GGUF header of our own: the arrays that were stepped over become one key of JSON."""
    arrays = {
        name: dataclasses.astuple(value)
        for name, value in header.keys.items()
        if isinstance(value, ArrayInfo)
    }
    about = {
        "version": header.version,
        "data_start": header.data_start,
        "data_end": header.data_end,
        "file_bytes": header.file_bytes,
        "order": list(header.keys),
        "arrays": arrays,
    }
    entries: list[tuple[str, int, Value]] = [
        (name, header.types[name], value)
        for name, value in header.keys.items()
        if name not in arrays
    ]
    return encoded([*entries, (_ABOUT, STRING, json.dumps(about))], header.tensors)


def _decoded(path: Path, content: bytes) -> Header:
    read = header_of(path, io.BytesIO(content), len(content))
    about: dict[str, Any] = json.loads(read.text(_ABOUT) or "")
    arrays = {name: ArrayInfo(*info) for name, info in about["arrays"].items()}
    keys = {**read.keys, **arrays}
    types = {**read.types, **{name: info.type for name, info in arrays.items()}}
    return dataclasses.replace(
        read,
        version=about["version"],
        keys=MappingProxyType({name: keys[name] for name in about["order"]}),
        types=MappingProxyType({name: types[name] for name in about["order"]}),
        data_start=about["data_start"],
        data_end=about["data_end"],
        file_bytes=about["file_bytes"],
        missing_bytes=max(0, about["data_end"] - about["file_bytes"]),
    )


def _prune(folder: Path) -> None:
    """Delete the files used longest ago, as far as there are too many."""
    files = [(file, file.stat()) for file in folder.iterdir()]
    files.sort(key=lambda each: each[1].st_mtime, reverse=True)
    total = 0
    for number, (file, stat) in enumerate(files):
        total += stat.st_size
        if number >= DISK_FILES or total > DISK_BYTES:
            file.unlink(missing_ok=True)
