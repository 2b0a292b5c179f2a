"""Downloads that were begun and are not finished: how far they are, and giving one up."""

from dataclasses import dataclass

from slipstream.hub.downloads.failures import download_elsewhere
from slipstream.hub.downloads.locks import release
from slipstream.hub.downloads.records import Record, Records
from slipstream.hub.downloads.sets import discard
from slipstream.hub.downloads.standing import on_disk


@dataclass(frozen=True)
class Leftover:
    """An order that is not finished.

    Attributes:
        record: what is kept of it.
        done: bytes that are on disk.
        total: bytes of all its files.
        running: a program is at it.
    """

    record: Record
    done: int
    total: int
    running: bool

    @property
    def repo(self) -> str:
        """The model's repository."""
        return self.record.order.items[0].repo


def leftovers(records: Records) -> tuple[Leftover, ...]:
    """The orders that are not finished, the next one first."""
    return tuple(_leftover(record, records) for record in records.all() if record.stage != "done")


def give_up(leftover: Leftover, records: Records) -> None:
    """Forget an order, and delete what is not complete of it.

    Raises: OSError; SlipstreamError ``download_elsewhere``.
    """
    lock = records.hold(leftover.record.id)
    if lock is None:
        raise download_elsewhere()
    try:
        discard(leftover.record.order)
    finally:
        release(lock)
        records.remove(leftover.record.id)


def _leftover(record: Record, records: Records) -> Leftover:
    seen = on_disk(record.order)
    return Leftover(record, seen.done, seen.total, running=records.is_held(record.id))
