"""What the list says of a model on the Hub: what the Hub told, and what was seen since."""

from dataclasses import dataclass

from slipstream.drafters.kinds import MADE_FOR_A_TARGET
from slipstream.engine.picture import Picture
from slipstream.hub.search import FoundModel
from slipstream.ui.i18n import tr
from slipstream.ui.picker.wording import downloads_words
from slipstream.ui.widgets.rows import Pill, Row
from slipstream.ui.wording import drafter_pill
from slipstream.weights.names import parameters as named_parameters
from slipstream.words import Tone, parameters


@dataclass(frozen=True)
class Seen:
    """What a look into a repository showed.

    Attributes:
        drafters: in pills.
        verdict: of the quantization to take; empty as long as that was only estimated.
        fits: it is a good one.
    """

    drafters: tuple[str, ...]
    verdict: str
    fits: bool


def seen(picture: Picture) -> Seen:
    """What is worth remembering of a picture."""
    proven = [one for one in picture.drafters if one.proven and one.kind in MADE_FOR_A_TARGET]
    words = (drafter_pill(one.kind, inside=not one.bytes and not one.repo) for one in proven)
    drafters = tuple(dict.fromkeys(words))
    if not picture.exact:
        return Seen(drafters, "", fits=False)
    line = picture.recommended
    verdict = line.verdict if line else tr("too large")
    return Seen(drafters, verdict, bool(line and line.tone is Tone.GOOD))


def entry(found: FoundModel, most: int | None, known: Seen | None) -> Row:
    """A model in the list.

    Args:
        found: what the Hub told.
        most: parameters of the largest model that may fit; None as long as that is not known.
        known: what was seen of it.
    """
    owner, _, name = found.repo.partition("/")
    below = f"{owner} · {downloads_words(found.downloads)}"
    return Row(found.repo, name, below, tuple(_pills(found, most, known)))


def entry_of(repo: str, known: Seen | None) -> Row:
    """A model that was looked at before, of which only the name is remembered."""
    owner, _, name = repo.partition("/")
    pills = [Pill(words, Tone.GOOD) for words in known.drafters] if known else []
    return Row(repo, name, owner, tuple(pills))


def _pills(found: FoundModel, most: int | None, known: Seen | None) -> list[Pill]:
    """What helps to decide comes first: where there is no room, the last ones are left out."""
    drafters = known.drafters if known else [drafter_pill(k, inside=False) for k in found.drafters]
    made_for_it = [Pill(words, Tone.GOOD) for words in drafters]
    pills = made_for_it[:1]
    if found.only_drafters:
        pills.append(Pill(tr("drafters only")))
    elif fits := _fits(found, most, known):
        pills.append(fits)
    size = _size(found)
    if size:
        pills.append(Pill(parameters(size)))
    if found.gated:
        pills.append(Pill(tr("gated")))
    return [*pills, *made_for_it[1:]]


def _fits(found: FoundModel, most: int | None, known: Seen | None) -> Pill | None:
    """How it fits, as far as that is known; it is a guess as long as nobody looked."""
    if known and known.verdict:
        return Pill(tr("fits"), Tone.GOOD) if known.fits else Pill(known.verdict)
    size = _size(found)
    if size is None or most is None:
        return None
    return Pill(tr("fits") if size <= most else tr("too large"))


def _size(found: FoundModel) -> int | None:
    return found.parameters or named_parameters(found.repo)
