"""Orders on disk: one small JSON file each, replaced as a whole, with a lock that tells its owner.

The lock belongs to the process that runs the order. If that is killed, the system frees it: what
says that it is running then is not, and any other process may go on with it.
"""

import json
import math
import re
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from filelock import BaseFileLock

from slipstream.errors import Fact, SlipstreamError
from slipstream.hub.address import is_repo, is_safe_path
from slipstream.hub.downloads.locks import release, try_lock
from slipstream.hub.downloads.orders import Item, Order, Pairing
from slipstream.hub.files import RepoFile
from slipstream.paths import is_path
from slipstream.small_files import read_json, write_text

Stage = Literal["waiting", "running", "paused", "failed", "done"]
_VERSION = 1
_HASH = re.compile(r"[0-9A-Za-z]{1,128}")
"""Commits and contents are named so; git's names have 40 digits, a sha256 has 64."""
_NOT_GOOD = (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError)


@dataclass(frozen=True)
class Record:
    """One order and what became of it.

    Attributes:
        id: names it for good.
        order: what to get.
        stage: what is to happen with it, or happened.
        position: orders with lower ones are run first.
        error: why it failed.
    """

    id: str
    order: Order
    stage: Stage = "waiting"
    position: float = 0.0
    error: SlipstreamError | None = None


class Records:
    """The orders in one folder; any number of processes may use it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, order: Order, stage: Stage = "waiting") -> Record:
        """Keep a new order, behind all others.

        Raises: OSError.
        """
        last = max((record.position for record in self.all()), default=0.0)
        name = f"{time.time_ns():x}{secrets.token_hex(3)}"
        record = Record(name, order, stage, last + 1)
        self.save(record)
        return record

    def all(self) -> list[Record]:
        """Every order that can be read, in the order in which they are run."""
        read = [self.read(name) for name in self._names()]
        found = [record for record in read if record is not None]
        return sorted(found, key=lambda record: (record.position, record.id))

    def for_order(self, order: Order) -> Record:
        """The record of an order: the one that is there already, or a new one, paused.

        Raises: OSError.
        """
        same = (record for record in self.all() if record.order == order)
        return next(same, None) or self.add(order, "paused")

    def read(self, name: str) -> Record | None:
        """One order; None if there is none, or it cannot be read."""
        try:
            data = read_json(self._file(name))
            return _from_json(name, data) if data["version"] == _VERSION else None
        except _NOT_GOOD:
            return None

    def save(self, record: Record) -> None:
        """Write an order, whole or not at all.

        Raises: OSError.
        """
        write_text(self._file(record.id), json.dumps(_to_json(record), indent=1))

    def change(self, name: str, change: Callable[[Record], Record]) -> None:
        """Change an order, if it is still there.

        Raises: OSError.
        """
        record = self.read(name)
        if record is not None:
            self.save(change(record))

    def set_stage(self, name: str, stage: Stage, error: SlipstreamError | None = None) -> None:
        """Say what became of an order.

        Raises: OSError.
        """
        self.change(name, lambda record: replace(record, stage=stage, error=error))

    def remove(self, name: str) -> None:
        """Forget an order."""
        for file in (self._file(name), self._lock(name)):
            with suppress(OSError):
                file.unlink()

    def hold(self, name: str) -> BaseFileLock | None:
        """Become the owner of an order until the lock is released; None if somebody else is.

        Raises: OSError.
        """
        return try_lock(self._lock(name))

    def is_held(self, name: str) -> bool:
        """Whether a process that lives is at it."""
        try:
            lock = self.hold(name) if self._lock(name).exists() else None
        except OSError:
            return False
        if lock is not None:
            release(lock)
        return lock is None and self._lock(name).exists()

    def _names(self) -> list[str]:
        try:
            return [path.stem for path in self._folder.glob("*.json")]
        except OSError:  # the folder was there a moment ago, or is none any more
            return []

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def _lock(self, name: str) -> Path:
        return self._folder / f"{name}.lock"


def _to_json(record: Record) -> dict[str, object]:
    order = record.order
    return {
        "version": _VERSION,
        "stage": record.stage,
        "position": record.position,
        "error": record.error.to_json() if record.error else None,
        "folder": str(order.folder) if order.folder else None,
        "items": [asdict(item) for item in order.items],
        "pairing": asdict(order.pairing) if order.pairing else None,
    }


def _from_json(name: str, data: dict[str, Any]) -> Record:
    """The record that a file tells; anybody can have written it.

    Raises: one of ``_NOT_GOOD``: no order can be so.
    """
    stage, position, folder = data["stage"], data["position"], data["folder"]
    items = tuple(_item(item) for item in data["items"])
    _check(items and stage in get_args(Stage))
    _check(type(position) in (int, float) and math.isfinite(position))
    _check(folder is None or is_path(folder))
    order = Order(items, Path(folder) if folder else None, _pairing(data["pairing"], items))
    return Record(name, order, stage, position, _error(data["error"]))


def _item(told: dict[str, Any]) -> Item:
    files = tuple(_file(file) for file in told["files"])
    _check(files and is_repo(told["repo"]) and _HASH.fullmatch(told["revision"]))
    return Item(told["repo"], told["revision"], _text(told["ref"]), files)


def _file(told: dict[str, Any]) -> RepoFile:
    file = RepoFile(**told)
    _check(is_safe_path(file.path) and _HASH.fullmatch(file.blob))
    _check(file.sha256 is None or _HASH.fullmatch(file.sha256))
    _check(type(file.bytes) is int and 0 <= file.bytes < 1 << 63)
    return file


def _pairing(told: dict[str, Any] | None, items: tuple[Item, ...]) -> Pairing | None:
    if told is None:
        return None
    pairing = Pairing(**{**told, "bases": tuple(_text(base) for base in told["bases"])})
    _check(isinstance(told["bases"], list) and isinstance(pairing.chosen, bool))
    listed = ((item.repo, file.path) for item in items for file in item.files)
    _check((pairing.repo, pairing.path) in listed)
    return pairing


def _error(told: dict[str, Any] | None) -> SlipstreamError | None:
    if told is None:
        return None
    facts = {_text(name): _fact(value) for name, value in told["facts"].items()}
    code, message, action = (_text(told[name]) for name in ("code", "message", "action"))
    return SlipstreamError(code, message, facts=facts, action=action)


def _fact(told: Any) -> Fact:
    _check(told is None or isinstance(told, (str, int, float)))
    return _text(told) if isinstance(told, str) else told


def _text(told: str) -> str:
    """Raises: AttributeError, ValueError: it is no text, or has half characters."""
    told.encode()
    return told


def _check(good: object) -> None:
    if not good:
        raise ValueError("not as an order is")
