"""What a file holds: bytes, a file on disk, or made on the fly, however large."""

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

BLOCK = 1 << 20


@dataclass(frozen=True)
class Made:
    """Content that is made while it is sent: the same for the same size and seed.

    Every MiB begins with its own number, so that parts that were mixed up are noticed.

    Attributes:
        size: bytes.
        seed: other contents.
        head: a file that it begins with: a model that is followed by noise still loads.
    """

    size: int
    seed: int = 0
    head: Path | None = None


Content = bytes | Path | Made


def size_of(content: Content) -> int:
    """Bytes of a content."""
    if isinstance(content, Made):
        return content.size
    return content.stat().st_size if isinstance(content, Path) else len(content)


def pieces(content: Content, first: int, end: int) -> Iterator[memoryview]:
    """The bytes from ``first`` up to ``end``, a MiB at most at once.

    A piece is valid until the next one is asked for.
    """
    if isinstance(content, Made):
        yield from _made(content, first, end)
    elif isinstance(content, Path):
        yield from _read(content, first, end)
    else:
        yield memoryview(content)[first:end]


def sha256(content: Content) -> str:
    """Its SHA-256, which is the oid of a large file; computed once."""
    if isinstance(content, Path):
        return _sha256_of_file(content, *identity(content)[1:])
    return _sha256(content)


def git_oid(data: bytes) -> str:
    """The id that git gives to a small file."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def identity(content: Content) -> tuple[object, ...]:
    """What changes when the content does, without reading it."""
    if isinstance(content, Path):
        status = content.stat()
        return str(content), status.st_size, status.st_mtime_ns
    return (content if isinstance(content, Made) else git_oid(content),)


@lru_cache(maxsize=10_000)
def _sha256(content: bytes | Made) -> str:
    digest = hashlib.sha256()
    for piece in pieces(content, 0, size_of(content)):
        digest.update(piece)
    return digest.hexdigest()


@lru_cache(maxsize=10_000)
def _sha256_of_file(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@lru_cache(maxsize=8)
def _block(seed: int, size: int) -> bytes:
    return random.Random(seed).randbytes(size)


def _made(made: Made, first: int, end: int) -> Iterator[memoryview]:
    if made.head:
        length = min(made.size, made.head.stat().st_size)
        yield from _read(made.head, first, min(end, length))
        first = max(first, length)
    block = bytearray(_block(made.seed, min(made.size, BLOCK)))
    view = memoryview(block)
    at = first
    while at < end:
        number, start = divmod(at, BLOCK)
        mark = number.to_bytes(8, "little")[: len(block)]
        block[: len(mark)] = mark
        stop = min(BLOCK, start + end - at)
        yield view[start:stop]
        at += stop - start


def _read(path: Path, first: int, end: int) -> Iterator[memoryview]:
    with path.open("rb") as file:
        file.seek(first)
        while first < end and (data := file.read(min(BLOCK, end - first))):
            yield memoryview(data)
            first += len(data)
