"""Downloads that were begun and are not finished: how far they are, and giving one up."""

from dataclasses import dataclass

from slipstream.hub.downloads.blocks import held
from slipstream.hub.downloads.failures import download_elsewhere
from slipstream.hub.downloads.locks import release
from slipstream.hub.downloads.orders import places_of
from slipstream.hub.downloads.places import Place
from slipstream.hub.downloads.records import Record, Records
from slipstream.hub.downloads.sets import discard


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
    places = list(places_of(record.order))
    return Leftover(
        record=record,
        done=sum(map(_done, places)),
        total=sum(place.file.bytes for place in places),
        running=records.is_held(record.id),
    )


def _done(place: Place) -> int:
    try:
        return place.file.bytes if place.became.exists() else held(place.part)
    except OSError:  # the folder cannot be looked into, or none can have this name
        return 0
