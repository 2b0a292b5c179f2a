"""Orders on disk: one small JSON file each, replaced as a whole, with a lock that tells its owner.

The lock belongs to the process that runs the order. If that is killed, the system frees it: what
says that it is running then is not, and any other process may go on with it.
"""

import json
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from filelock import BaseFileLock

from slipstream.errors import SlipstreamError
from slipstream.hub.downloads.locks import release, try_lock
from slipstream.hub.downloads.orders import Item, Order, Pairing
from slipstream.hub.files import RepoFile

Stage = Literal["waiting", "running", "paused", "failed", "done"]
_VERSION = 1


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
        read = (self.read(path.stem) for path in self._folder.glob("*.json"))
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
            data = json.loads(self._file(name).read_text(encoding="utf-8"))
            return _from_json(name, data) if data["version"] == _VERSION else None
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def save(self, record: Record) -> None:
        """Write an order, whole or not at all.

        Raises: OSError.
        """
        file = self._file(record.id)
        draft = file.with_suffix(f".{secrets.token_hex(4)}.tmp")
        draft.write_text(json.dumps(_to_json(record), indent=1), encoding="utf-8")
        draft.replace(file)

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
    items = tuple(
        Item(
            item["repo"],
            item["revision"],
            item["ref"],
            tuple(RepoFile(**file) for file in item["files"]),
        )
        for item in data["items"]
    )
    folder = Path(data["folder"]) if data["folder"] else None
    told = data["error"]
    error = (
        SlipstreamError(told["code"], told["message"], facts=told["facts"], action=told["action"])
        if told
        else None
    )
    return Record(
        name,
        Order(items, folder, _pairing(data["pairing"])),
        data["stage"],
        data["position"],
        error,
    )


def _pairing(told: dict[str, Any] | None) -> Pairing | None:
    return Pairing(**{**told, "bases": tuple(told["bases"])}) if told else None
