"""The rows of the lists of models: what each says, decided before anything is painted."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from slipstream.errors import SlipstreamError
from slipstream.hub.library.copies import Copy
from slipstream.hub.library.models import Companion, Library, LocalModel, Stored
from slipstream.hub.library.stored import Part
from slipstream.hub.library.unfinished import Begun, begun_of, is_unfinished
from slipstream.paths import printable
from slipstream.ui.i18n import tr
from slipstream.ui.library import wording
from slipstream.ui.widgets.rows import Pill, Row
from slipstream.words import Tone, far, several, size

if TYPE_CHECKING:
    # Brings the HTTP client along; the window shows before.
    from slipstream.hub.downloads.leftovers import Leftover

Thing = LocalModel | Companion | Part | Copy | SlipstreamError
"""What a row is about."""


class Order(StrEnum):
    """What models are sorted by."""

    NAME = "name"
    SIZE = "size"
    USED = "used"


_KEYS: dict[Order, Callable[[LocalModel], float]] = {
    Order.NAME: lambda _model: 0,  # as the library has them
    Order.SIZE: lambda model: -model.bytes,
    Order.USED: lambda model: -(model.last_used or 0),
}


def chosen(models: Sequence[LocalModel], text: str, order: Order = Order.NAME) -> list[LocalModel]:
    """The models in whose name, file, repository or source all words of a text stand, in order."""
    asked = text.lower().split()
    found = [one for one in models if all(word in _searched(one) for word in asked)]
    return sorted(found, key=_KEYS[order])


def _searched(model: LocalModel) -> str:
    place = model.places[0]
    said = (model.name, model.path.name, place.name, wording.where(place), model.quant or "")
    return " ".join(said).lower()


@dataclass(frozen=True)
class Around:
    """What the row of a model depends on besides the model.

    Attributes:
        downloads: that are not finished.
        loaded: the file of the model that is loaded.
        alike: names that models of several repositories have.
    """

    downloads: Sequence[Begun] = ()
    loaded: Path | None = None
    alike: frozenset[str] = frozenset()


def around(library: Library, downloads: Sequence[Begun], loaded: Path | None) -> Around:
    """What there is on this computer."""
    named = {(one.name, one.places[0].name) for one in library.models}
    times = Counter(name for name, _repository in named)
    return Around(downloads, loaded, frozenset(name for name in times if times[name] > 1))


def short_row(model: LocalModel, beside: Around) -> Row:
    """A model in a narrow list."""
    quant = model.quant if model.quant and model.quant not in model.name else ""
    detail = " · ".join(filter(None, (quant, size(model.bytes), _where(model, beside))))
    return Row(
        key=str(model.path),
        title=printable(model.name),
        detail=detail,
        pills=_pills(model, beside),
        thing=model,
    )


def _where(model: LocalModel, beside: Around) -> str:
    """Where it lies; its repository, where another one's model has the same name."""
    place = model.places[0]
    repository = printable(place.name) if model.name in beside.alike else ""
    return repository or wording.where(place)


def model_row(model: LocalModel, beside: Around, today: date) -> Row:
    """A model on the page."""
    place, used = _where(model, beside), wording.last_use(model.last_used, today)
    return Row(
        key=str(model.path),
        title=printable(model.name),
        pills=_pills(model, beside),
        amount=size(model.bytes),
        note=" · ".join(filter(None, (place, used))),
        thing=model,
    )


def loose_row(one: Companion) -> Row:
    """A drafter or a projector without a model."""
    return Row(
        key=str(one.path),
        title=printable(one.path.name),
        pills=(Pill(wording.kind_name(one), Tone.GOOD), *_damage(one)),
        amount=size(one.bytes),
        note=wording.where(one.places[0]),
        thing=one,
    )


def part_row(part: Part, downloads: Sequence[Begun]) -> Row:
    """A file that has not arrived in full and belongs to no model."""
    left = begun_of(part, downloads)
    title = left.repo if left else part.of or part.repo or tr("A download of another program")
    arrived = tr("Unfinished: {size}").format(size=size(part.bytes))
    if left:
        arrived = _arrived(left)
    return Row(
        key=str(part.path),
        title=printable(title),
        pills=(Pill(arrived, Tone.CAUTION),),
        amount=size(part.bytes),
        note=wording.where_in(part.source, part.path.parent),
        thing=part,
    )


def copy_row(copy: Copy) -> Row:
    """One of several copies."""
    return Row(
        key=f"copy {copy.file.path}",
        title=printable(copy.owner.name),
        detail=printable(copy.file.path),
        pills=(Pill(copy.kept_for),) if copy.kept_for else (),
        amount=size(copy.file.bytes),
        note=wording.where(copy.place),
        thing=copy,
    )


def problem_row(problem: SlipstreamError) -> Row:
    """Something that could not be looked at."""
    return Row(
        key=f"{problem.code} {problem.message}",
        title=problem.message,
        detail=problem.action,
        thing=problem,
    )


def heading(title: str, detail: str = "", key: str = "") -> Row:
    """The name of what follows."""
    return Row(key=key or f"heading {title}", title=title, detail=detail, heading=True)


def _pills(model: LocalModel, beside: Around) -> tuple[Pill, ...]:
    states = tuple(_states(model, beside))
    drafters = [Pill(text, Tone.GOOD) for text in wording.drafter_pills(model)]
    none = [] if drafters or model.problem or is_unfinished(model) else [Pill(tr("No drafter"))]
    eyes = [Pill(tr("Reads images"))] if model.projectors else []
    return (*states, *drafters, *none, *eyes)


def _states(model: LocalModel, beside: Around) -> Iterator[Pill]:
    files = (file.path for place in model.places for file in place.files)
    if beside.loaded is not None and beside.loaded in files:
        yield Pill(tr("Loaded"), Tone.GOOD)
    if is_unfinished(model):
        yield Pill(_unfinished(model, beside.downloads), Tone.CAUTION)
    else:
        yield from _damage(model)


def _unfinished(model: LocalModel, downloads: Sequence[Begun]) -> str:
    left = begun_of(model, downloads)
    if left:
        return _arrived(left)
    if model.missing:
        files = several(len(model.missing), tr("file"))
        return tr("Unfinished: {files} missing").format(files=files)
    return tr("Unfinished: {size}").format(size=size(model.unfinished))


def _arrived(left: "Leftover") -> str:
    return tr("Unfinished: {far}").format(far=far(left.done, left.total))


def _damage(one: Stored) -> Iterator[Pill]:
    if one.problem:
        yield Pill(tr("Damaged"), Tone.BAD)
