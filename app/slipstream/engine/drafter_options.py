"""What may draft for a model, as its page offers it."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from slipstream.drafters.choose import choose
from slipstream.drafters.flags import can_run
from slipstream.drafters.gains import Gain, Run, gain_of
from slipstream.drafters.kinds import PLAIN, Drafter, DrafterKind, Found, SpecConfig, Unfit
from slipstream.drafters.verdicts import verdict_on
from slipstream.engine.picture import AUTO, OFF, DrafterOption, drafter_key
from slipstream.hub.companions import Companion
from slipstream.hub.files import Listing
from slipstream.paths import printable
from slipstream.planning.quantizations import Quantization
from slipstream.planning.rows import Row, path_of
from slipstream.weights.names import quantization
from slipstream.words import SPECULATION

_MOST_LOWER = 3
"""Lower quantizations that are offered; the best come first."""


@dataclass(frozen=True)
class Known:
    """What there is to offer drafters from.

    Attributes:
        shown: the quantization that they are to draft for.
        all: quantizations of the model.
        row, listing: of its repository; None for files on this computer.
        engine: build of the engine.
        spec_types: kinds of speculation that it knows, in its words.
    """

    shown: Quantization
    all: Sequence[Quantization]
    row: Row | None
    listing: Listing | None
    engine: str
    spec_types: Collection[str]


def key_of(drafter: Drafter | Unfit) -> str:
    """A name for a drafter that stays the same however often it is looked for."""
    return drafter_key(drafter.kind, drafter.path)


def with_key(found: Found, key: str) -> Drafter | None:
    """The drafter of that name, if it is among those that fit."""
    return next((one for one in found.drafters if key_of(one) == key), None)


def meant_by(found: Found, key: str) -> Drafter | None:
    """The same, or the first of a kind where the key is the word of a kind."""
    of_kind = (one for one in found.drafters if one.kind.value == key)
    return with_key(found, key) or next(of_kind, None)


def chosen(found: Found, wanted: str, offered_types: Collection[str], engine: str) -> SpecConfig:
    """How a launch speculates; plainly, where it has not got what is wanted.

    Args:
        found: what may draft.
        wanted: AUTO, OFF, the key of a drafter, or the word of a kind.
        offered_types: kinds of speculation that the engine knows, in its words.
        engine: build of the engine.
    """
    if wanted == AUTO:
        return choose(found, AUTO, offered_types, engine=engine)
    drafter = None if wanted == OFF else meant_by(found, wanted)
    if drafter is None:
        return PLAIN
    return choose(replace(found, drafters=(drafter,)), drafter.kind, offered_types)


def options(known: Known, wanted: str) -> Iterator[DrafterOption]:
    """What may draft: what fits, what does not with the reason, and n-grams last.

    Args:
        known: what there is.
        wanted: key of the one that was chosen, which is offered whatever is shown.
    """
    found = known.shown.found
    fit = [one for one in found.drafters if one.kind is not DrafterKind.NGRAM]
    lower = [one for one in fit if one.kind is DrafterKind.SELF]
    left_out = {key_of(one) for one in lower[_MOST_LOWER:]} - {wanted}
    fit = [one for one in fit if key_of(one) not in left_out]
    if wanted not in {key_of(one) for one in fit}:
        fit += [one for each in known.all if (one := with_key(each.found, wanted)) and one.path][:1]
    made = [_option(one, known) for one in fit]
    yield from (one for one in made if one.fits)
    yield from (one for one in made if not one.fits)
    yield from (_unfit(one, known) for one in found.unfit if known.row or one.missed)
    yield from (_option(one, known) for one in found.drafters if one.kind is DrafterKind.NGRAM)


def _option(one: Drafter, known: Known) -> DrafterOption:
    companion = _companion(one, known)
    runs = can_run(one.kind, known.spec_types)
    gain = _gain(one, known)
    seen = _measured(gain) if gain else _seen(one, known)
    detail = f"{one.reason} {seen}".strip()
    return DrafterOption(
        key=key_of(one),
        kind=one.kind,
        title=_title(one, known),
        detail=detail if runs else f"The engine that is in use cannot run it. {one.reason}",
        repo=_other_repo(companion, known),
        proven=one.proven,
        fits=runs,
        bytes=one.bytes,
        memory=None,
        gain=gain,
    )


def _unfit(one: Unfit, known: Known) -> DrafterOption:
    companion = _companion(one, known)
    return DrafterOption(
        key=key_of(one),
        kind=one.kind,
        title=_title(one, known),
        detail=one.reason,
        repo=_other_repo(companion, known),
        proven=False,
        fits=False,
        bytes=companion.bytes if companion else 0,
        memory=None,
    )


def _title(one: Drafter | Unfit, known: Known) -> str:
    name = SPECULATION[one.kind].name
    if one.kind is DrafterKind.NGRAM:
        return f"{name}, needs no drafter"
    if one.path is None:
        every = len(known.all) > 1 and all(with_key(each.found, key_of(one)) for each in known.all)
        return f"{name} head, inside {'every' if every else 'the'} file"
    label = quantization(one.path.name) if one.kind is DrafterKind.SELF else None
    return f"{name}, {label or printable(one.path.name)}"


def _companion(one: Drafter | Unfit, known: Known) -> Companion | None:
    if known.row is None or known.listing is None or one.path is None:
        return None
    alike = (each for each in known.row.drafters if each.kind is one.kind)
    return next((each for each in alike if path_of(each, known.listing) == one.path), None)


def _other_repo(companion: Companion | None, known: Known) -> str:
    if companion is None or known.listing is None or companion.repo == known.listing.repo:
        return ""
    return companion.repo


def _gain(one: Drafter, known: Known) -> Gain | None:
    target = known.shown.found.target
    return gain_of(Run(target, one.here, one.kind, known.engine)) if target else None


def _measured(gain: Gain) -> str:
    day = f"{datetime.fromtimestamp(gain.when):%d %B %Y}"
    return (
        f"Measured here on {day}: {gain.speedup:.2f} times as fast as without a drafter"
        f" (between {gain.low:.2f} and {gain.high:.2f})."
    )


def _seen(one: Drafter, known: Known) -> str:
    """What running it with this very quantization on this engine showed."""
    target = known.shown.found.target
    if target is None or one.kind is DrafterKind.NGRAM:
        return ""
    verdict = verdict_on(target, one.here, one.kind, known.engine)
    return verdict.reason if verdict else ""
