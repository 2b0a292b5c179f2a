"""What to download of a repository: a quantization that suits this computer, and its drafter."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.drafters.pairing import prove
from slipstream.engine.advice import Question, advise, desk_for, look_up
from slipstream.errors import SlipstreamError
from slipstream.hub.address import Address
from slipstream.hub.calls import silent
from slipstream.hub.companions import Companion
from slipstream.paths import printable
from slipstream.planning.offer import Offer
from slipstream.planning.quantizations import Quantization
from slipstream.planning.rows import Row
from slipstream.weights.shards import read_model

_LISTED = 8


@dataclass(frozen=True)
class Chosen:
    """What is to be downloaded: a quantization of an offer, and what drafts for it."""

    offer: Offer
    row: Row
    drafter: Companion | None

    @property
    def repo(self) -> str:
        """Its repository."""
        return self.offer.listing.repo


def choose_download(
    address: Address,
    question: Question,
    cancel: CancelToken,
    waiting: Callable[[float], None] = silent,
    progress: Callable[[Quantization], None] = lambda _: None,
) -> Chosen:
    """Look into a repository and choose what to download: what is asked for, or is recommended.

    Args:
        address: the repository; with a quantization or a file that one.
        question: how it is to run, and which drafter is wanted.
        cancel: ends it at once.
        waiting: told the seconds whenever a rate limit makes us wait.
        progress: is told before each quantization is planned.

    Raises: Cancelled; SlipstreamError: ``nothing_fits``, ``ambiguous_model``, ``drafter_unfit``,
        what ``look_up`` raises.
    """
    desk = desk_for(question)
    subject = look_up(address, question, desk, cancel, waiting)
    offer = subject.offer
    if offer is None:  # the Hub cannot be reached
        raise subject.problems[0]
    row = offer.rows[0]
    if len(offer.rows) > 1:
        plans = advise(subject.quantizations, question, desk, cancel, progress).plans
        recommended = [plan.quantization for plan in plans if plan.recommended]
        if len(recommended) != 1:
            raise _no_choice(offer, recommended)
        row = offer.row(recommended[0])
    if not question.drafter:
        return Chosen(offer, row, row.drafter)
    drafter = row.drafters[0]
    if not drafter.fits:
        file = drafter.files.path if drafter.files else ""
        raise _unfit(f"{drafter.repo}/{file}", drafter.reason)
    return Chosen(offer, row, drafter)


def refuse_unfit(chosen: Chosen, own: Path) -> None:
    """Raises: SlipstreamError, if a file cannot draft for what was chosen."""
    proof = prove(chosen.row.quantization.header, read_model(own))
    if not proof.fits:
        raise _unfit(printable(own), proof.reason)


def _unfit(file: str, reason: str) -> SlipstreamError:
    return SlipstreamError(
        "drafter_unfit",
        f"{file} cannot draft for this model. {reason}",
        facts={"file": file},
        action="Choose another drafter, or leave the choice to Slipstream.",
    )


def _no_choice(offer: Offer, recommended: Sequence[Quantization]) -> SlipstreamError:
    """Nothing fits, or the repository holds several models."""
    repo, there = offer.listing.repo, [row.quantization.label for row in offer.rows]
    available = ", ".join(there[:_LISTED])
    if not recommended:
        return SlipstreamError(
            "nothing_fits",
            f"No quantization of {repo} fits into the memory that is free now.",
            facts={"repository": repo, "available": available},
            action=f"Name one to download it all the same: {repo}:{there[0]}",
        )
    names = ", ".join(f"{one.name} {one.label}" for one in recommended[:_LISTED])
    return SlipstreamError(
        "ambiguous_model",
        f"{repo} holds several models: {names}.",
        facts={"repository": repo, "available": available},
        action="Name one of its files: owner/repo/file.gguf.",
    )
