"""Runs one order, and keeps what becomes of it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from slipstream.cancel import Cancelled, CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub.connection import Connection
from slipstream.hub.downloads.failures import cannot_write, download_elsewhere
from slipstream.hub.downloads.job import Patience
from slipstream.hub.downloads.limit import SpeedLimit
from slipstream.hub.downloads.locks import release
from slipstream.hub.downloads.orders import Downloaded
from slipstream.hub.downloads.progress import Watch
from slipstream.hub.downloads.records import Record, Records, Stage
from slipstream.hub.downloads.sets import download
from slipstream.hub.downloads.settle import settle
from slipstream.paths import downloads_folder


def never(_error: SlipstreamError) -> bool:
    """Nothing is tried again by itself."""
    return False


def run(
    record: Record,
    records: Records,
    connection: Connection,
    cancel: CancelToken,
    progress: Watch,
    limit: SpeedLimit | None = None,
    patience: Patience | None = None,
    again: Callable[[SlipstreamError], bool] = never,
) -> Downloaded:
    """Run one order in this thread, keep what becomes of it, and which drafter it brought.

    Args:
        record: of the order.
        records: where it is kept.
        connection: the Hub.
        cancel: ends it; the order is paused then.
        progress: told how far it is.
        limit: of speed.
        patience: with the network.
        again: given why it failed, whether it waits for its turn again.

    Raises: Cancelled; SlipstreamError ``download_elsewhere``, ``disk_full``, ``cannot_write``, or
        what ``download`` and ``settle`` raise.
    """
    with noted():
        lock = records.hold(record.id)
    if lock is None:
        raise download_elsewhere()
    try:
        with suppress(OSError):  # the model may go to another disk than this note
            records.set_stage(record.id, "running")
        downloaded = download(record.order, connection, cancel, progress, limit, patience)
        settle(record.order, downloaded)
    except Cancelled:
        with noted():
            records.set_stage(record.id, "paused")
        raise
    except SlipstreamError as error:
        stage: Stage = "waiting" if again(error) else "failed"
        with suppress(OSError):  # the disk may be full
            records.set_stage(record.id, stage, error)
        raise
    else:
        with noted():
            records.set_stage(record.id, "done")
        return downloaded
    finally:
        release(lock)


@contextmanager
def noted() -> Iterator[None]:
    """What cannot be noted, because the disk is full or cannot be written, is told as such."""
    try:
        yield
    except OSError as error:
        raise cannot_write(error, downloads_folder(), 0, None) from error
