"""All downloads in a few words, for the tray and the badge."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipstream.ui.downloads.wording import (
    BUSY,
    Phase,
    following,
    joined,
    numbers,
    percent,
    phase_of,
    state,
)
from slipstream.ui.i18n import tr
from slipstream.words import far

if TYPE_CHECKING:
    from slipstream.hub.downloads.standing import Standing


@dataclass(frozen=True)
class Brief:
    """All downloads in a few words, for the tray.

    Attributes:
        one: the download that matters most.
        title: its name, and what became of it if that has to be said.
        detail: the rest.
        chat: its model can be talked to.
    """

    one: "Standing"
    title: str
    detail: str
    chat: bool = False

    @property
    def spoken(self) -> str:
        """The same, as a screen reader says it."""
        words = [self.title, self.detail]
        if phase_of(self.one.entry) is not Phase.DONE:
            words.insert(1, tr("{n} percent").format(n=percent(self.one.progress)))
        return ", ".join(filter(None, words))


_MATTERS = (
    *BUSY,
    Phase.DONE,
    Phase.FAILED,
    Phase.ELSEWHERE,
    Phase.LATER,
    Phase.INTERRUPTED,
    Phase.WAITING,
)


def brief(standings: Sequence["Standing"], news: Sequence[str]) -> Brief | None:
    """What the tray shows; None if there is nothing to show.

    Args:
        standings: all downloads, in the order in which they are run.
        news: ids of those that were finished and not looked at since, the oldest first.
    """
    shown = [one for one in standings if phase_of(one.entry) is not Phase.DONE or one.id in news]
    if not shown:
        return None
    order = [phase for phase in (*_MATTERS, Phase.PAUSED)]
    ranks = {phase: 0 if phase in BUSY else order.index(phase) for phase in order}
    first = min(shown, key=lambda one: (ranks[phase_of(one.entry)], -_newness(one, news)))
    rest = _others([one for one in shown if one is not first])
    return _brief(first, rest)


def _newness(one: "Standing", news: Sequence[str]) -> int:
    return news.index(one.id) if one.id in news else 0


def _brief(one: "Standing", rest: str) -> Brief:
    match phase_of(one.entry):
        case Phase.RUNNING:
            parts = [numbers(one), following(one)]
        case Phase.DONE:
            title = tr("Finished: {title}").format(title=one.title)
            return Brief(one, title, rest, chat=one.target is not None)
        case Phase.FAILED:
            error = one.entry.record.error
            title = tr("Failed: {title}").format(title=one.title)
            return Brief(one, title, joined([error.message if error else "", rest]))
        case _:
            parts = [far(one.progress.done, one.progress.total), state(one)]
    return Brief(one, one.title, joined([*parts, rest]))


def _others(standings: Sequence["Standing"]) -> str:
    failed = sum(phase_of(one.entry) is Phase.FAILED for one in standings)
    more = len(standings) - failed
    return joined(
        [
            tr("{n} more").format(n=more) if more else "",
            tr("{n} failed").format(n=failed) if failed else "",
        ]
    )
