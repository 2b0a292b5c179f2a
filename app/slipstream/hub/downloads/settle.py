"""What is noted when a download is complete: which drafter came along for which model."""

from pathlib import Path

from slipstream.drafters.attached import Fetched, attach, choose_drafter
from slipstream.drafters.lineage import Place
from slipstream.hub.downloads.orders import Downloaded, Order


def target_of(done: Downloaded) -> Path:
    """The file to load of what was downloaded."""
    return done.files[0].path


def settle(order: Order, done: Downloaded) -> None:
    """Note which drafter an order brought, so that it is found wherever it lies.

    Raises: SlipstreamError ``not_saved``, ``home_not_writable``.
    """
    pairing = order.pairing
    if pairing is None:
        return
    drafter = next(
        one.path for one in done.files if (one.repo, one.file.path) == (pairing.repo, pairing.path)
    )
    attach(target_of(done), Fetched(drafter, Place(pairing.repo, bases=pairing.bases)))
    if pairing.chosen:
        choose_drafter(target_of(done), drafter)
