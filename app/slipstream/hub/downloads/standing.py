"""How an order stands: what runs tells itself, of the rest the disk tells."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from slipstream.hub.downloads.blocks import held
from slipstream.hub.downloads.contents import Piece, Use, pieces_of, title_of
from slipstream.hub.downloads.orders import Order, places_of
from slipstream.hub.downloads.places import Place
from slipstream.hub.downloads.progress import FileProgress, Progress
from slipstream.hub.downloads.queue import Entry


@dataclass(frozen=True)
class Standing:
    """One order with everything a window shows of it.

    Attributes:
        entry: of the queue.
        title: the model's name with its quantization; and its repository, where another one's is
            called the same.
        progress: how far it is, whether it runs or not.
        pieces: the same, by what belongs together.
        target: the file to load, once all of the model is there; None before, or if it has been
            removed since.
        folder: what can be shown of it in a file manager: where it lies, or what failed; None if
            there is no such folder.
    """

    entry: Entry
    title: str
    progress: Progress
    pieces: tuple[Piece, ...]
    target: Path | None
    folder: Path | None

    @property
    def id(self) -> str:
        """Names the order for good."""
        return self.entry.record.id

    @property
    def repo(self) -> str:
        """The repository that made it fail; else that of the model."""
        record = self.entry.record
        failed = record.error.facts.get("repository") if record.error else None
        items = [item.repo for item in record.order.items]
        return str(failed) if failed in items else items[0]


def standings(entries: Sequence[Entry]) -> tuple[Standing, ...]:
    """Look at how orders stand; reads the disk."""
    found = [standing(entry) for entry in entries]
    named = {(one.title, _model_of(one)) for one in found}
    times = Counter(title for title, _repository in named)
    return tuple(
        replace(one, title=f"{one.title} ({_model_of(one)})") if times[one.title] > 1 else one
        for one in found
    )


def _model_of(one: Standing) -> str:
    """The repository of its model."""
    return one.entry.record.order.items[0].repo


def standing(entry: Entry) -> Standing:
    """Look at how an order stands; reads the disk."""
    order = entry.record.order
    seen = on_disk(order)
    pieces = pieces_of(order, entry.progress or seen)
    model = next(piece for piece in pieces_of(order, seen) if piece.use is Use.MODEL)
    target = next(places_of(order)).there if model.complete else None
    return Standing(
        entry,
        title_of(order),
        entry.progress or seen,
        pieces,
        target,
        target.parent if target else _failed_at(entry),
    )


def on_disk(order: Order) -> Progress:
    """How far an order is by what lies on disk."""
    return Progress(tuple(_seen(place) for place in places_of(order)))


def _seen(place: Place) -> FileProgress:
    total = place.file.bytes
    there, done = False, 0
    with suppress(OSError):  # the folder cannot be looked into, or none can have this name
        there = place.there.is_file() and place.there.stat().st_size == total
        done = total if there or place.became.is_file() else min(held(place.part), total)
    return FileProgress(place.repo, place.file.path, done, total, "done" if there else "pending")


def _failed_at(entry: Entry) -> Path | None:
    """The folder that a failure is about."""
    error = entry.record.error
    told = error.facts.get("path") if error else None
    if not isinstance(told, str) or not Path(told).is_absolute():
        return None
    for folder in (Path(told), *Path(told).parents):
        with suppress(OSError):
            if folder.is_dir():
                return folder
    return None
