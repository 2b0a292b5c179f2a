"""Which models to begin with: two or three of the Hub that fit this computer as a whole."""

import json
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.engine.about import QUICK_PARAMETERS, Reach, reach
from slipstream.engine.advice import Desk, Question, advise, look_up
from slipstream.engine.transfers import Transfers
from slipstream.errors import SlipstreamError
from slipstream.hub.address import Address, is_repo
from slipstream.hub.companions import Companion
from slipstream.hub.connection import Connection
from slipstream.hub.downloads.orders import Order
from slipstream.hub.search import PAGE, search
from slipstream.paths import resources
from slipstream.planning.computer import Computer
from slipstream.planning.offer import Offer
from slipstream.planning.placement import Fit
from slipstream.planning.plan import Plan
from slipstream.planning.rows import Row
from slipstream.planning.sentences import drafter_words, verdict

MOST_LOOKS = 8
"""Repositories that are looked into, each by ``read_offer``; beside them one page is searched."""
_TRUSTED_LOOKS = 5
"""Of these, those of the table; the rest is for what a search finds, should the table be old."""
MOST = 3
_ENOUGH = 2
"""Suggestions; with fewer, the Hub is searched."""
_FEWEST = 0.2e9
"""Parameters below which nothing that people would call a model is found by a search."""
_NO_HUB = frozenset(
    {
        *("offline", "offline_mode", "timed_out", "untrusted", "rate_limited"),
        *("bad_endpoint", "bad_token", "bad_proxy", "bad_certificates"),
    }
)
"""The next repository would fare no better."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Candidate:
    """A repository that may be suggested.

    Attributes:
        repo: ``owner/name``.
        parameters: of its model.
        active: of these, those used for each token.
    """

    repo: str
    parameters: float
    active: float

    @property
    def family(self) -> str:
        """What its model is a kind of: "qwen", "gemma"."""
        match = re.match(r"[A-Za-z]+", self.repo.partition("/")[2])
        return match[0].lower() if match else self.repo


@dataclass(frozen=True)
class Looking:
    """A repository is being looked into, which takes a few seconds."""

    repo: str


@dataclass(frozen=True)
class Suggestion:
    """A model to begin with.

    Attributes:
        offer: its repository.
        row: the quantization to take.
        plan: where it would go on this computer.
        drafter: what drafts for it; None if nothing does.
        sentence: how it fits and what drafts, for a person.
        download: bytes still to be transferred, drafter and projector included.
        path: of its first file, if the model is on this computer already.
    """

    offer: Offer
    row: Row
    plan: Plan
    drafter: Companion | None
    sentence: str
    download: int
    path: Path | None

    @property
    def name(self) -> str:
        """The model's name, for people."""
        return re.sub(r"[-_]+", " ", self.plan.quantization.name)

    @property
    def order(self) -> Order:
        """What to download."""
        return self.offer.order(self.row, self.drafter)


def suggestions(
    desk: Desk, connection: Connection, cancel: CancelToken
) -> Iterator[Looking | Suggestion]:
    """Find models to begin with: the largest that run well first, each of another family.

    Args:
        desk: this computer.
        connection: the Hub.
        cancel: ends it at once.

    Returns: before each repository that is looked into, that it is; and up to three suggestions.
        Repositories that are missing or broken are passed over.

    Raises: Cancelled; SlipstreamError, if the Hub cannot be asked.
    """
    can = reach(desk.computer)
    families: set[str] = set()
    looks = 0
    places = ((_TRUSTED_LOOKS, _trusted(can)), (MOST_LOOKS, _searched(can, connection, cancel)))
    for most, candidates in places:
        for candidate in candidates:
            if looks == most or len(families) == MOST:
                break
            if candidate.family in families:
                continue
            looks += 1
            yield Looking(candidate.repo)
            found = _look(candidate.repo, desk, can, cancel)
            if found:
                families.add(candidate.family)
                yield found
        if len(families) >= _ENOUGH:
            return


@cache
def trusted() -> tuple[Candidate, ...]:
    """Repositories that many people use, the largest first: ``first_models.json``; none, if that
    file is damaged."""
    try:
        return read_table(resources() / "first_models.json")
    except (OSError, KeyError, TypeError, ValueError):
        _log.exception("no table of first models")
        return ()


def read_table(file: Path) -> tuple[Candidate, ...]:
    """Read a table of repositories.

    Raises: OSError; KeyError; ValueError: a line of it cannot be so.
    """
    lines = json.loads(file.read_text(encoding="utf-8"))["models"]
    found = []
    for line in lines:
        if not is_repo(line["repo"]):
            raise ValueError(line["repo"])
        billions = line["billions"]
        found.append(Candidate(line["repo"], billions * 1e9, line.get("active", billions) * 1e9))
    return tuple(sorted(found, key=lambda one: -one.parameters))


def _trusted(can: Reach) -> Iterator[Candidate]:
    """What of the table should run well, the largest first."""
    most, active = _largest(can)
    return (one for one in trusted() if one.parameters <= most and one.active <= active)


def _searched(can: Reach, connection: Connection, cancel: CancelToken) -> Iterator[Candidate]:
    """What the Hub has, those with a drafter first; nothing is asked before the first is wanted."""
    _, most = _largest(can)
    if most < _FEWEST:
        return
    found = search("", connection, cancel, largest_parameters=round(most), sort="downloads")
    known = {one.repo for one in trusted()}
    models = [
        one
        for one in islice(found, PAGE)
        if one.parameters and not (one.gated or one.only_drafters or one.repo in known)
    ]
    for one in sorted(models, key=lambda one: not one.drafters):
        yield Candidate(one.repo, one.parameters or 0, one.parameters or 0)


def _largest(can: Reach) -> tuple[float, float]:
    """Parameters that a model has at most, and those it uses for each token."""
    if can.gpu_helps:
        return can.on_gpu, can.on_gpu
    return can.in_memory, min(can.in_memory, QUICK_PARAMETERS)


def _look(repo: str, desk: Desk, can: Reach, cancel: CancelToken) -> Suggestion | None:
    """Look into a repository; None if nothing of it fits as a whole, or it is of no use."""
    try:
        subject = look_up(Address(repo), Question(), desk, cancel)
        if subject.offer is None:  # the Hub does not tell
            raise subject.problems[0]
        plans = advise(subject.quantizations, Question(), desk, cancel).plans
    except SlipstreamError as error:
        if error.code in _NO_HUB:
            raise
        _log.info("%s is not suggested: %s", repo, error.message)
        return None
    fits = {Fit.GPU} if can.gpu_helps else {Fit.GPU, Fit.PARTIAL, Fit.CPU}
    plan = next((one for one in plans if one.recommended and one.placement.fit in fits), None)
    if plan is None:
        _log.info("%s is not suggested: nothing of it fits as a whole", repo)
        return None
    return _suggestion(subject.offer, plan, desk.computer)


def _suggestion(offer: Offer, plan: Plan, computer: Computer) -> Suggestion:
    row, transfers = offer.row(plan.quantization), Transfers(offer)
    drafter = drafter_words(plan.setup.spec)
    with_what = f"with {drafter}" if drafter else "without a drafter"
    images = " It reads images." if row.projector else ""
    return Suggestion(
        offer=offer,
        row=row,
        plan=plan,
        drafter=transfers.drafter(row, plan),
        sentence=f"{verdict(plan, computer)[0]}, {with_what}.{images}",
        download=transfers.missing(row, plan, projector=True),
        path=row.path,
    )
