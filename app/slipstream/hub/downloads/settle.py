"""What is noted when a download is complete: which drafter came along for which model."""

from dataclasses import dataclass
from pathlib import Path

from slipstream.drafters.attached import Fetched, attach, choose_drafter
from slipstream.drafters.lineage import Place
from slipstream.hub.downloads.orders import Downloaded, Order


@dataclass(frozen=True)
class Settled:
    """What is ready now.

    Attributes:
        target: the file to load.
        drafter: what drafts for it; None if none was downloaded.
    """

    target: Path
    drafter: Path | None


def settle(order: Order, done: Downloaded) -> Settled:
    """Note which drafter an order brought, so that it is found wherever it lies.

    Raises: SlipstreamError ``not_saved``, ``home_not_writable``.
    """
    target, pairing = done.files[0].path, order.pairing
    if pairing is None:
        return Settled(target, None)
    drafter = next(
        one.path for one in done.files if (one.repo, one.file.path) == (pairing.repo, pairing.path)
    )
    attach(target, Fetched(drafter, Place(pairing.repo, bases=pairing.bases)))
    if pairing.chosen:
        choose_drafter(target, drafter)
    return Settled(target, drafter)
