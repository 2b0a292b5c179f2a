"""What the list says of a model on the Hub: what the Hub told, and what was seen since."""

from dataclasses import dataclass

from slipstream.drafters.kinds import MADE_FOR_A_TARGET
from slipstream.engine.picture import Picture, Tone
from slipstream.hub.search import FoundModel
from slipstream.ui.i18n import tr
from slipstream.ui.picker.results import Entry, Pill
from slipstream.ui.picker.wording import downloads_words, drafter_pill
from slipstream.weights.names import parameters as named_parameters
from slipstream.words import parameters


@dataclass(frozen=True)
class Seen:
    """What a look into a repository showed.

    Attributes:
        drafters: in pills.
        verdict: of the quantization to take.
        fits: it is a good one.
    """

    drafters: tuple[str, ...]
    verdict: str
    fits: bool


def seen(picture: Picture) -> Seen:
    """What is worth remembering of a picture."""
    proven = [one for one in picture.drafters if one.proven and one.kind in MADE_FOR_A_TARGET]
    words = (drafter_pill(one.kind, inside=not one.bytes and not one.repo) for one in proven)
    line = picture.recommended
    verdict = line.verdict if line else tr("too large")
    return Seen(tuple(dict.fromkeys(words)), verdict, bool(line and line.tone is Tone.GOOD))


def entry(found: FoundModel, most: int | None, known: Seen | None) -> Entry:
    """A model in the list.

    Args:
        found: what the Hub told.
        most: parameters of the largest model that may fit; None as long as that is not known.
        known: what was seen of it.
    """
    owner, _, name = found.repo.partition("/")
    below = f"{owner} · {downloads_words(found.downloads)}"
    return Entry(found.repo, name, below, tuple(_pills(found, most, known)))


def entry_of(repo: str, known: Seen | None) -> Entry:
    """A model that was looked at before, of which only the name is remembered."""
    owner, _, name = repo.partition("/")
    pills = [Pill(words, stands_out=True) for words in known.drafters] if known else []
    return Entry(repo, name, owner, tuple(pills))


def _pills(found: FoundModel, most: int | None, known: Seen | None) -> list[Pill]:
    drafters = known.drafters if known else [drafter_pill(k, inside=False) for k in found.drafters]
    pills = [Pill(words, stands_out=True) for words in drafters]
    size = found.parameters or named_parameters(found.repo)
    if size:
        pills.append(Pill(parameters(size)))
    if known:
        pills.append(Pill(known.verdict, stands_out=known.fits))
    elif size and most is not None:
        pills.append(Pill(tr("fits") if size <= most else tr("too large")))
    if found.gated:
        pills.append(Pill(tr("gated")))
    if found.only_drafters:
        pills.append(Pill(tr("drafters only")))
    return pills
