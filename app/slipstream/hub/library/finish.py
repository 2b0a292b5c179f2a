"""Completes what has not arrived in full, and no download of it is known."""

from collections.abc import Sequence

from slipstream.cancel import CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub.connection import Connection
from slipstream.hub.downloads.orders import Item, Order
from slipstream.hub.files import Listing
from slipstream.hub.library.models import LocalModel, Place
from slipstream.hub.library.stored import Part
from slipstream.hub.library.unfinished import Unfinished, origin_of
from slipstream.hub.listing import read_listing
from slipstream.hub.repository import FileSet, sort_files
from slipstream.hub.revisions import reference
from slipstream.paths import printable


def order_to_finish(thing: Unfinished, connection: Connection, cancel: CancelToken) -> Order:
    """What completes a model, or a file, of which no download is known.

    What is there already is not transferred again.

    Args:
        thing: a model with a place in the Hugging Face cache, which is completed from the commit it
            came from; or a part there, which becomes what its repository has now.
        connection: the Hub.
        cancel: ends it at once.

    Raises: Cancelled; SlipstreamError: ``origin_unknown``, ``no_longer_there``, and what
        ``read_listing`` raises.
    """
    if isinstance(thing, Part):
        return _order_of_part(thing, connection, cancel)
    return _order_of_model(thing, connection, cancel)


def _order_of_part(part: Part, connection: Connection, cancel: CancelToken) -> Order:
    listing = read_listing(part.repo, connection, cancel)
    content = part.path.name.partition(".")[0]
    found = next(
        (one for one in _sets(listing) if any(file.blob == content for file in one.files)), None
    )
    if found is None or found.missing:
        raise SlipstreamError(
            "no_longer_there",
            f"{part.repo} does not have this file any more.",
            facts={"repository": part.repo, "path": printable(part.path)},
            action="Remove what has arrived of it, and choose another quantization.",
        )
    return Order((Item(part.repo, listing.revision, listing.ref, found.files),))


def _order_of_model(model: LocalModel, connection: Connection, cancel: CancelToken) -> Order:
    origin = origin_of(model)
    if origin is None or origin.revision is None:
        raise SlipstreamError(
            "origin_unknown",
            f"Nothing tells where the rest of {printable(model.name)} is.",
            facts={"path": printable(model.path)},
            action="Search for the model and download it again.",
        )
    listing = read_listing(origin.name, connection, cancel, origin.revision)
    wanted = _path_in(origin, model)
    found = next((one for one in _sets(listing) if _has(one, wanted)), None)
    if found is None or found.missing:
        raise SlipstreamError(
            "no_longer_there",
            f"{origin.name} does not have all files of {printable(model.name)}.",
            facts={"repository": origin.name, "path": wanted},
            action="Search for the model and choose another quantization.",
        )
    is_main = reference(origin.repository, "main") == origin.revision
    ref = "main" if is_main else origin.revision
    # By the name that its folder has, though the repository may be called otherwise now.
    return Order((Item(origin.name, listing.revision, ref, found.files),))


def _sets(listing: Listing) -> Sequence[FileSet]:
    repository = sort_files(listing)
    return (*repository.targets, *repository.drafters, *repository.projectors)


def _path_in(origin: Place, model: LocalModel) -> str:
    """What the first file of a model is called in its repository."""
    first = origin.files[0].path.with_name(model.path.name)
    return first.relative_to(origin.home).as_posix()


def _has(one: FileSet, path: str) -> bool:
    return any(file.path == path for file in one.files)
