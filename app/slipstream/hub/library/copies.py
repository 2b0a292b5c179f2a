"""The copies of one content, and which of them can go without anything being missed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from slipstream.hub.library.duplicates import Duplicate
from slipstream.hub.library.models import Companion, Library, LocalModel, Place
from slipstream.hub.library.stored import LocalFile, Source
from slipstream.paths import printable


@dataclass(frozen=True)
class Copy:
    """One of several files with the same content.

    Attributes:
        file: this one.
        place: where it lies.
        owner: the model, drafter or projector that it is.
        others: the other copies.
        kept_for: one sentence: why it cannot be removed as a copy; empty if it can.
    """

    file: LocalFile
    place: Place
    owner: LocalModel | Companion
    others: tuple[LocalFile, ...]
    kept_for: str = ""

    @property
    def alone(self) -> LocalModel | Companion:
        """What is removed: the owner without what belongs to it, which no other copy may have."""
        if isinstance(self.owner, LocalModel):
            return replace(self.owner, drafters=(), projectors=(), parts=())
        return self.owner


def copies(found: Sequence[Duplicate], library: Library) -> Iterator[tuple[Copy, ...]]:
    """The copies of each content that are still in a library; single ones are left out.

    Args:
        found: by ``duplicates``, of this library or of an earlier one.
        library: what there is now.
    """
    known = _owners(library) if found else {}
    for duplicate in found:
        there = [known[path] for path in duplicate.paths if path in known]
        files = tuple(file for file, _, _ in there)
        if len(there) > 1:
            yield tuple(
                Copy(
                    file, place, owner,
                    others=tuple(other for other in files if other is not file),
                    kept_for=_kept_for(owner, library),
                )
                for file, place, owner in there
            )  # fmt: skip


def _owners(library: Library) -> dict[Path, tuple[LocalFile, Place, LocalModel | Companion]]:
    found: dict[Path, tuple[LocalFile, Place, LocalModel | Companion]] = {}
    for owner in library.everything():
        if isinstance(owner, LocalModel | Companion):
            for place in owner.places:
                for file in place.files:
                    found.setdefault(file.path, (file, place, owner))
    return found


def _kept_for(owner: LocalModel | Companion, library: Library) -> str:
    if any(place.source is Source.OLLAMA for place in owner.places):
        return "It is Ollama's, which alone knows what else needs it."
    if len(owner.contents) > 1 or owner.missing:
        return "It is one of several files of a model."
    user = next(
        (
            model
            for model in library.models
            if model.path != owner.path and owner.path in {one.path for one in model.companions}
        ),
        None,
    )
    return f"{printable(user.name)} needs it." if user else ""
