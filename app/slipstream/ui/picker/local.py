"""What the page of a model has to know of the models on this computer."""

from pathlib import Path

from slipstream.hub.library.models import Library, LocalModel, Stored
from slipstream.ui.library.shelf import Shelf
from slipstream.ui.picker.model_look import Model
from slipstream.weights.names import model_stem

Content = frozenset[tuple[object, ...]]
"""Equal as long as nothing changed on the disk."""


def as_it_is(model: LocalModel, library: Library) -> LocalModel | None:
    """A model as it is now; None if it is gone.

    Args:
        model: as it was.
        library: what there is.
    """
    return next((one for one in library.models if model.path in _files(one)), None)


def of_repository(library: Library, repo: str) -> tuple[LocalModel, ...]:
    """The quantizations of a repository that are here."""
    return tuple(one for one in library.models if _is_of(one, repo))


def content_of(model: Model, shelf: Shelf) -> Content:
    """What is on this computer of the model that is looked at, and of its other quantizations.

    The page of a repository asks the disk, where what was removed stays until it is final.
    """
    if not isinstance(model.what, LocalModel):
        found = of_repository(shelf.found.library, model.repo)
    else:
        own = _beside(model.what)
        found = tuple(one for one in shelf.library.models if _beside(one) == own)
    return frozenset(_state(file) for one in found for file in (one, *one.companions))


def removed(shelf: Shelf) -> frozenset[Path]:
    """The files of models of which the removal is not final."""
    shown = {one.path for one in shelf.library.models}
    hidden = (one for one in shelf.found.library.models if one.path not in shown)
    return frozenset(file for one in hidden for file in _files(one))


def _beside(one: LocalModel) -> tuple[Path, str]:
    """Equal for the quantizations of a model that lie together (``engine.advice.look_at``)."""
    return one.places[0].home, model_stem(one.path.name).lower()


def _files(one: LocalModel) -> frozenset[Path]:
    """Under all names that it has."""
    return frozenset((one.path, *(file.path for place in one.places for file in place.files)))


def _state(one: Stored) -> tuple[object, ...]:
    return one.path, one.problem, one.missing, one.places


def _is_of(one: LocalModel, repo: str) -> bool:
    return bool(repo) and any(place.name == repo for place in one.places)
