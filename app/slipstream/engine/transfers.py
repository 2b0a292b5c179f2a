"""What a quantization of a repository takes from the Hub, and how much of that is missing."""

from dataclasses import replace
from functools import cached_property

from slipstream.hub.candidates import Source
from slipstream.hub.companions import Companion
from slipstream.hub.downloads.orders import Order
from slipstream.hub.here import look_here
from slipstream.planning.offer import Offer
from slipstream.planning.plan import Plan
from slipstream.planning.quantizations import Quantization
from slipstream.planning.rows import Row, path_of


class Transfers:
    """The files of one repository, and of the drafters that are elsewhere.

    Args:
        offer: what the repository offers; None for files on this computer.
    """

    def __init__(self, offer: Offer | None) -> None:
        self._offer = offer
        rows = offer.rows if offer else ()
        self._rows = {row.quantization.files: row for row in rows}

    def row(self, quantization: Quantization) -> Row | None:
        """The row of a quantization; None for one on this computer."""
        return self._rows.get(quantization.files)

    def missing(self, row: Row, plan: Plan, *, projector: bool) -> int:
        """Bytes that are not on this computer, of all that a plan would run with."""
        missing, drafter = row.quantization.download, self.drafter(row, plan)
        if drafter and drafter.files:
            missing += self._beside[drafter.repo, drafter.files.path]
        if self._offer and row.projector and projector:
            missing += self._beside[self._offer.listing.repo, row.projector.path]
        return missing

    def order(self, row: Row, plan: Plan, *, projector: bool, by_hand: bool) -> Order | None:
        """What to download for a plan.

        Args:
            row: of its quantization.
            plan: which also tells the drafter.
            projector: whether what reads images is wanted.
            by_hand: a person chose the drafter.
        """
        if self._offer is None:
            return None
        drafter = self.drafter(row, plan)
        if drafter and by_hand:
            drafter = replace(drafter, source=Source.ASKED_FOR)
        return self._offer.order(row, drafter, projector=projector)

    def drafter(self, row: Row, plan: Plan) -> Companion | None:
        """What drafts in a plan, if it is of the Hub."""
        spec = plan.setup.spec
        if self._offer is None or spec.kind is None:
            return None
        alike = (one for one in row.drafters if one.kind is spec.kind)
        listing = self._offer.listing
        return next((one for one in alike if path_of(one, listing) == spec.drafter), None)

    @cached_property
    def _beside(self) -> dict[tuple[str, str], int]:
        """Missing bytes of drafters and projectors, each looked for once."""
        missing: dict[tuple[str, str], int] = {}
        for row in self._rows.values():
            beside = [(one.repo, one.revision, one.files) for one in row.drafters]
            if self._offer:
                listing = self._offer.listing
                beside.append((listing.repo, listing.revision, row.projector))
            for repo, revision, files in beside:
                if files and (repo, files.path) not in missing:
                    missing[repo, files.path] = look_here(repo, revision, files).missing
        return missing
