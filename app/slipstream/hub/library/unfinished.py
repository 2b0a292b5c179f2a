"""What of a model has not arrived in full, and which download is to complete it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slipstream.hub.downloads.orders import Order, places_of
from slipstream.hub.library.models import LocalModel, Place
from slipstream.hub.library.stored import Part, Source

if TYPE_CHECKING:
    # Brings the HTTP client along; the window shows before.
    from slipstream.hub.downloads.leftovers import Leftover

Unfinished = LocalModel | Part


@dataclass(frozen=True)
class Begun:
    """A download that is not finished, and the files that it works on.

    Attributes:
        leftover: what is kept of it.
        paths: its parts, and the files they become.
    """

    leftover: "Leftover"
    paths: frozenset[Path]


def begun(leftovers: Iterable["Leftover"]) -> tuple[Begun, ...]:
    """The downloads that are not finished, with their files."""
    return tuple(Begun(one, frozenset(_paths(one.record.order))) for one in leftovers)


def begun_of(thing: Unfinished, downloads: Sequence[Begun]) -> "Leftover | None":
    """The download that is to complete a model or a part; None if none is known."""
    wanted = _files_of(thing)
    return next((one.leftover for one in downloads if wanted & one.paths), None)


def is_unfinished(model: LocalModel) -> bool:
    """Whether files of a model are missing, or have not arrived in full."""
    return bool(model.missing or model.parts)


def can_be_finished(thing: Unfinished, downloads: Sequence[Begun]) -> bool:
    """Whether it is known where the rest of it is."""
    if begun_of(thing, downloads):
        return True
    if isinstance(thing, Part):
        return bool(thing.repo)
    return is_unfinished(thing) and origin_of(thing) is not None


def origin_of(model: LocalModel) -> Place | None:
    """The place of a model in the Hugging Face cache; None if it has none there."""
    in_cache = (place for place in model.places if place.source is Source.HUGGINGFACE)
    return next((place for place in in_cache if place.files and place.revision), None)


def _paths(order: Order) -> Iterator[Path]:
    for place in places_of(order):
        yield place.part
        yield place.became


def _files_of(thing: Unfinished) -> set[Path]:
    if isinstance(thing, Part):
        return {thing.path}
    missing = {thing.path.with_name(name) for name in thing.missing}
    return missing | {part.path for part in thing.parts}
