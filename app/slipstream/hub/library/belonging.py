"""Which drafters and projectors belong to which models."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from slipstream.drafters.attached import Attached, all_attached
from slipstream.drafters.identify import FileRole
from slipstream.hub.library.facts import Facts, Notes
from slipstream.hub.library.models import Place
from slipstream.hub.library.stored import Group, LocalSet, Source
from slipstream.paths import real

_NEITHER = frozenset({FileRole.IMATRIX, FileRole.ADAPTER, FileRole.VOCABULARY})


@dataclass(eq=False)
class Item:
    """A file or a set of shards while the library is put together."""

    files: LocalSet
    facts: Facts
    declared: bool
    """Its store says that it is no model."""
    places: list[Place] = field(default_factory=list)
    drafters: list["Item"] = field(default_factory=list)
    projectors: list["Item"] = field(default_factory=list)
    owned: bool = False

    def take(self, companion: "Item") -> None:
        """Own a drafter or a projector from now on."""
        projector = companion.facts.role is FileRole.PROJECTOR
        mine = self.projectors if projector else self.drafters
        if companion not in mine:
            mine.append(companion)
        companion.owned = True

    @property
    def is_model(self) -> bool:
        """Whether it answers by itself."""
        return self.facts.role is FileRole.TARGET and not self.declared

    @property
    def is_companion(self) -> bool:
        """Whether it is there for a model."""
        return not self.is_model and self.facts.role not in _NEITHER


def assign(group: Group, items: Sequence[Item], notes: Notes) -> None:
    """Give the models of a group what belongs to them."""
    models = [item for item in items if item.is_model]
    for companion in items:
        if not companion.is_companion:
            continue
        for owner in _owners(group, companion, models, notes):
            owner.take(companion)


def assign_fetched(items: Iterable[Item]) -> None:
    """Give models the drafters that were downloaded, or chosen, for them from elsewhere."""
    known = all_attached()
    items = tuple(items)
    by_file = {
        real(place.files[0].path): item for item in items for place in item.places if place.files
    }
    for item in items:
        if not item.is_model:
            continue
        for place in item.places:
            found = known(place.files[0].path) if place.files else Attached()
            paths = [one.path for one in found.fetched]
            paths += [found.choice] if isinstance(found.choice, Path) else []
            for drafter in filter(None, (by_file.get(real(path)) for path in paths)):
                item.take(drafter)


def _owners(group: Group, companion: Item, models: Sequence[Item], notes: Notes) -> Iterator[Item]:
    """The models that a companion names; else all it was published with, or that it fits."""
    words = companion.facts.words
    named = [model for model in models if words and words == model.facts.words]
    for model in named or models:
        if _suits(group, companion, model, notes, named=bool(named)):
            yield model


def _suits(group: Group, companion: Item, model: Item, notes: Notes, *, named: bool) -> bool:
    if companion.facts.role is FileRole.PROJECTOR:
        widths = {companion.facts.width, model.facts.width} - {None}
        return len(widths) < 2
    published = group.source is not Source.FOLDER
    return named or published or notes.fits(model.files, companion.files)
