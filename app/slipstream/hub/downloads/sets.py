"""Get everything that belongs together: shards, drafter, projector."""

import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import BaseFileLock

from slipstream.cancel import CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub import cache
from slipstream.hub.connection import Connection
from slipstream.hub.downloads.blocks import held, map_of
from slipstream.hub.downloads.board import Board
from slipstream.hub.downloads.failures import LOCAL, cannot_write, not_enough_space
from slipstream.hub.downloads.fetch import fetch
from slipstream.hub.downloads.job import Patience, Source
from slipstream.hub.downloads.limit import SpeedLimit
from slipstream.hub.downloads.locks import release, try_lock, wait_for_lock
from slipstream.hub.downloads.orders import Downloaded, Fetched, Order, places_of
from slipstream.hub.downloads.places import FolderPlace, Place
from slipstream.hub.downloads.progress import Watch

RESERVE = 100_000_000
"""Bytes of the disk that a download leaves free."""


def download(
    order: Order,
    connection: Connection,
    cancel: CancelToken,
    progress: Watch,
    limit: SpeedLimit | None = None,
    patience: Patience | None = None,
) -> Downloaded:
    """Get all files of an order, each going on where it was left.

    A file that fails does not keep the others from being fetched.

    Args:
        order: what to get.
        connection: the Hub.
        cancel: ends it within 0.2 s; what arrived is kept.
        progress: told how far it is, by the calling thread.
        limit: of speed.
        patience: with the network.

    Raises: Cancelled; SlipstreamError: ``not_enough_space``, ``file_exists``, ``unsafe_name``, or
        what ``fetch`` raises; the first, if several files fail.
    """
    started = time.monotonic()
    places = tuple(places_of(order))
    board = Board(places, progress, cancel)
    done: dict[int, Fetched] = {}
    errors: dict[int, SlipstreamError] = {}
    for number, place in enumerate(places):
        with _kept(errors, number, place):
            path = None if map_of(place.part).exists() else place.find(board.checking(number))
            if path is not None:
                done[number] = Fetched(place.repo, place.file, path, transferred=False)
                board.done(number)
    missing = [n for n in range(len(places)) if n not in done and n not in errors]
    _check_space([places[number] for number in missing])
    getting = _Getting(connection, cancel, limit or SpeedLimit(), patience or Patience(), board)
    for number in missing:
        with _kept(errors, number, places[number]):
            done[number] = getting.get(number, places[number])
            board.done(number)
        if number in errors:
            board.failed(number)
            if errors[number].code in LOCAL:
                break
    _set_references(order, places, done)
    if errors:
        raise errors[min(errors)]
    return Downloaded(
        tuple(done[number] for number in range(len(places))), time.monotonic() - started
    )


def discard(order: Order) -> None:
    """Delete what is not complete of an order; what another program is writing stays."""
    for place in places_of(order):
        with suppress(OSError):
            lock = try_lock(place.lock) if place.part.exists() else None
            if lock is not None:
                place.discard()
                _release(lock, place)


@contextmanager
def _kept(errors: dict[int, SlipstreamError], number: int, place: Place) -> Iterator[None]:
    """Keep the error of one file, so that the others go on."""
    try:
        yield
    except OSError as error:
        errors[number] = cannot_write(error, place.root, place.file.bytes, None)
    except SlipstreamError as error:
        errors[number] = error


def _check_space(places: list[Place]) -> None:
    """Raises: SlipstreamError ``not_enough_space``."""
    if not places:
        return
    missing = {place.part: place.file.bytes - held(place.part) for place in places}
    folder = next(path for path in (places[0].root, *places[0].root.parents) if path.exists())
    free = shutil.disk_usage(folder).free
    needed = sum(missing.values()) + RESERVE
    if any(missing.values()) and needed > free:
        raise not_enough_space(folder, needed, free)


def _set_references(order: Order, places: tuple[Place, ...], done: dict[int, Fetched]) -> None:
    """Let a branch mean the new commit once all is there, or if it meant none."""
    if order.folder is not None:
        return
    there = {(places[number].repo, places[number].file) for number in done}
    root = cache.hub_cache()
    for item in order.items:
        have = [(item.repo, file) in there for file in item.files]
        if all(have) or (any(have) and not cache.has_reference(root, item.repo, item.ref)):
            with suppress(OSError):  # a cache that cannot be written can still be read
                cache.set_reference(root, item.repo, item.ref, item.revision)


class _Getting:
    """One file after the other."""

    def __init__(
        self,
        connection: Connection,
        cancel: CancelToken,
        limit: SpeedLimit,
        patience: Patience,
        board: Board,
    ) -> None:
        self._connection, self._cancel = connection, cancel
        self._limit, self._patience, self._board = limit, patience, board

    def get(self, number: int, place: Place) -> Fetched:
        """Get one file and make it visible.

        Raises: Cancelled, OSError, SlipstreamError.
        """
        board = self._board
        place.part.parent.mkdir(parents=True, exist_ok=True)
        lock = wait_for_lock(place.lock, self._cancel, lambda: board.waiting(number))
        flushing = False
        try:
            place.doubt()
            path = place.find(board.checking(number))
            if path is not None:
                return Fetched(place.repo, place.file, path, transferred=False)
            source = Source(self._connection, place.repo, place.revision, place.file)
            fetch(
                source,
                place.part,
                self._cancel,
                lambda now, received: board.told(number, now, received),
                self._limit,
                self._patience,
            )
            path = place.publish()
            threading.Thread(target=_flush, args=(path, place, lock), name="flush").start()
            flushing = True
            return Fetched(place.repo, place.file, path, transferred=True)
        finally:
            if not flushing:
                _release(lock, place)


def _flush(path: Path, place: Place, lock: BaseFileLock) -> None:
    """Wait until the disk has a file, then remove its map: from now on nobody doubts it.

    Until then the file is visible, but a computer that goes down could lose parts of it. Nobody
    waits for this, except the end of the program.
    """
    with suppress(OSError):
        file = os.open(path, os.O_RDWR)
        try:
            os.fsync(file)
        finally:
            os.close(file)
        map_of(place.part).unlink(missing_ok=True)
    _release(lock, place)


def _release(lock: BaseFileLock, place: Place) -> None:
    if isinstance(place, FolderPlace):  # in the user's folder nothing of ours stays
        with suppress(OSError):
            place.lock.unlink()
    release(lock)
