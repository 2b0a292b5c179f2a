"""Finds the same content in several places."""

import hashlib
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.hub.library.models import Library
from slipstream.hub.library.stored import Identity, LocalFile, Source

_SHA256 = re.compile(r"(?:sha256-)?([0-9a-f]{64})")
_CHUNK = 4 << 20
_SAMPLE = 64 << 10
"""Bytes at the end of a file that tell nearly all unlike files of one size apart."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Duplicate:
    """Files with the same content, each taking its room on disk.

    Attributes:
        paths: one name of each copy.
        bytes: of one copy.
    """

    paths: tuple[Path, ...]
    bytes: int

    @property
    def freed(self) -> int:
        """Bytes that deleting all copies but one gives back."""
        return self.bytes * (len(self.paths) - 1)


@dataclass(frozen=True)
class _Copy:
    path: Path
    bytes: int
    sha256: str | None


@dataclass(frozen=True)
class Reading:
    """How far the reading is: bytes read so far, and those to read in all."""

    done: int
    total: int


def duplicates(library: Library, cancel: CancelToken, progress: Progress) -> tuple[Duplicate, ...]:
    """The same content in several places, the largest first.

    Args:
        library: what there is.
        progress: told the bytes read so far, and those to read in all.

    Raises: Cancelled.
    """
    found: tuple[Duplicate, ...] = ()
    for value in look_for_duplicates(library, cancel):
        if isinstance(value, Reading):
            progress(value.done, value.total)
        else:
            found = value
    return found


def look_for_duplicates(
    library: Library, cancel: CancelToken
) -> Iterator[Reading | tuple[Duplicate, ...]]:
    """The same step by step: how far it is, and in the end what was found.

    Only files whose sha256 no store tells, and that another one of the same size ends like, are
    read.

    Raises: Cancelled.
    """
    by_size: dict[int, list[_Copy]] = {}
    for copy in _copies(library):
        by_size.setdefault(copy.bytes, []).append(copy)
    alike = [group for copies in by_size.values() for group in _alike(copies, cancel)]
    total = sum(copy.bytes for group in alike for copy in group if not copy.sha256)
    reader = _Reader(cancel, total)
    found: dict[str, list[_Copy]] = {}
    for copy in (copy for group in alike for copy in group):
        digest = copy.sha256 or (yield from reader.sha256(copy.path))
        if digest:
            found.setdefault(digest, []).append(copy)
    several = [
        Duplicate(tuple(copy.path for copy in copies), copies[0].bytes)
        for copies in found.values()
        if len(copies) > 1
    ]
    yield tuple(sorted(several, key=lambda each: each.freed, reverse=True))


class _Reader:
    """Reads files to the end, and tells how far it is."""

    def __init__(self, cancel: CancelToken, total: int) -> None:
        self._cancel, self._total = cancel, total
        self._done = 0

    def sha256(self, path: Path) -> Generator[Reading, None, str | None]:
        """Of a file's content; None if it cannot be read. Raises: Cancelled."""
        digest = hashlib.sha256()
        try:
            with path.open("rb") as stream:
                while chunk := stream.read(_CHUNK):
                    self._cancel.raise_if_cancelled()
                    digest.update(chunk)
                    self._done += len(chunk)
                    yield Reading(self._done, self._total)
        except OSError:
            return None
        return digest.hexdigest()


def _copies(library: Library) -> Iterator[_Copy]:
    """Every file on disk once, whatever names it has."""
    names: dict[Identity, list[tuple[LocalFile, Source]]] = {}
    for one in library.everything():
        for place in one.places:
            for file in place.files:
                names.setdefault(file.identity, []).append((file, place.source))
    for found in names.values():
        known = (_told_sha256(file.path, source) for file, source in found)
        file = found[0][0]
        if file.bytes:
            yield _Copy(file.path, file.bytes, next(filter(None, known), None))


def _told_sha256(path: Path, source: Source) -> str | None:
    """What a store says the content's sha256 is, by the name of its blob."""
    try:
        if source is Source.HUGGINGFACE:
            # One step only: content that repositories share has another kind of name.
            path = path.readlink()
        elif source is not Source.OLLAMA:
            return None
    except OSError:
        return None
    match = _SHA256.fullmatch(path.name)
    return match[1] if match else None


def _alike(copies: Sequence[_Copy], cancel: CancelToken) -> Iterator[list[_Copy]]:
    """Of files of one size those that may be equal."""
    if len(copies) < 2:
        return
    told = {copy.sha256 for copy in copies}
    if None not in told and len(told) == len(copies):
        return
    ends: dict[bytes, list[_Copy]] = {}
    for copy in copies:
        cancel.raise_if_cancelled()
        ends.setdefault(_end(copy), []).append(copy)
    yield from (group for group in ends.values() if _undecided(group))


def _undecided(group: Iterable[_Copy]) -> bool:
    told = [copy.sha256 for copy in group]
    return len(told) > 1 and (None in told or len(set(told)) < len(told))


def _end(copy: _Copy) -> bytes:
    try:
        with copy.path.open("rb") as stream:
            stream.seek(max(0, copy.bytes - _SAMPLE))
            return stream.read(_SAMPLE)
    except OSError:
        return b""
