"""What can be done with a quantization, and what the buttons for it say."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from slipstream.engine.picture import Line
from slipstream.planning.placement import Fit
from slipstream.ui.downloads.wording import Phase, download_button, percent, phase_of
from slipstream.ui.i18n import tr
from slipstream.ui.wording import percent as share_words
from slipstream.words import size

if TYPE_CHECKING:
    from slipstream.hub.downloads.standing import Standing


class What(StrEnum):
    """What a button does."""

    LOAD = "load"
    DOWNLOAD = "download"
    SHOW_DOWNLOADS = "show_downloads"


@dataclass(frozen=True)
class Action:
    """One thing that can be done, and the words for it."""

    what: What
    words: str


def actions(line: Line, standing: "Standing | None", *, finding: bool) -> Sequence[Action]:
    """What can be done with a quantization, the first thing first.

    Args:
        line: the quantization.
        standing: of its download; None if there is none.
        finding: it is to be downloaded as soon as its drafter was looked for.
    """
    found = []
    if line.here:
        anyway = line.plan.placement.fit is Fit.NONE
        found.append(Action(What.LOAD, tr("Load anyway") if anyway else tr("Chat")))
    if standing is not None and phase_of(standing.entry) is not Phase.DONE:
        found.append(Action(What.SHOW_DOWNLOADS, _under_way(standing)))
    elif line.download or not line.here:
        found.append(Action(What.DOWNLOAD, _download(line, finding=finding)))
    return found


def _download(line: Line, *, finding: bool) -> str:
    if finding:
        return tr("Finding its drafter… · download now")
    if line.here:
        return tr("Get what is missing · {size}").format(size=size(line.download))
    if line.plan.placement.fit is Fit.NONE and line.download:
        return tr("Download anyway · {size}").format(size=size(line.download))
    return download_button(line.download)


def _under_way(standing: "Standing") -> str:
    match phase_of(standing.entry):
        case Phase.FAILED:
            return tr("The download failed · show")
        case Phase.PAUSED:
            return tr("The download is paused · show")
        case Phase.WAITING:
            return tr("Waiting to be downloaded · show")
    far = share_words(percent(standing.progress) / 100)
    return tr("Downloading · {share}").format(share=far)
