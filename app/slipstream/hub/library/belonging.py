"""Which drafters and projectors belong to which models."""

from collections.abc import Iterable, Sequence
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
    lent: list["Item"] = field(default_factory=list)
    """Drafters and projectors that it is used with and that did not come with it."""
    owned: bool = False

    def borrow(self, companion: "Item") -> None:
        """Be used with a drafter or a projector that stays when the model goes."""
        if companion not in (self, *self.drafters, *self.projectors):
            self.take(companion)
            self.lent.append(companion)

    def take(self, companion: "Item") -> None:
        """Own a drafter or a projector from now on."""
        self.lent = [one for one in self.lent if one is not companion]
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
        named = _named_by(companion, models)
        for model in named or _unnamed(group, companion, models):
            if not _suits(group, companion, model, notes, named=bool(named)):
                continue
            if named or group.source is not Source.FOLDER:
                model.take(companion)
            else:
                model.borrow(companion)  # a shape is no proof that it came with the model


def assign_fetched(items: Iterable[Item]) -> None:
    """Give models the drafters that were downloaded, or chosen, for them from elsewhere.

    A choice, and a drafter that is a model of its own, are only borrowed.
    """
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
            fetched = (by_file.get(real(one.path)) for one in found.fetched)
            for drafter in filter(None, fetched):
                if drafter.is_model:
                    item.borrow(drafter)
                else:
                    item.take(drafter)
            chosen = by_file.get(real(found.choice)) if isinstance(found.choice, Path) else None
            if chosen:
                item.borrow(chosen)


def _named_by(companion: Item, models: Sequence[Item]) -> list[Item]:
    words = companion.facts.words
    return [model for model in models if words and words == model.facts.words]


def _unnamed(group: Group, companion: Item, models: Sequence[Item]) -> Sequence[Item]:
    """The models that a companion may belong to though it names none of them: all that it was
    published with; in a folder of many things not those of another name."""
    elsewhere = group.source is Source.FOLDER and companion.facts.words
    return () if elsewhere else models


def _suits(group: Group, companion: Item, model: Item, notes: Notes, *, named: bool) -> bool:
    if companion.facts.role is FileRole.PROJECTOR:
        widths = {companion.facts.width, model.facts.width} - {None}
        return len(widths) < 2
    published = group.source is not Source.FOLDER
    return named or published or notes.fits(model.files, companion.files)
