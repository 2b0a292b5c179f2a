"""Completes a model of which files are missing, and no download is known."""

from slipstream.cancel import CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub.connection import Connection
from slipstream.hub.downloads.orders import Item, Order
from slipstream.hub.library.models import LocalModel, Place
from slipstream.hub.library.unfinished import origin_of
from slipstream.hub.listing import read_listing
from slipstream.hub.repository import FileSet, sort_files
from slipstream.hub.revisions import reference
from slipstream.paths import printable


def order_to_finish(model: LocalModel, connection: Connection, cancel: CancelToken) -> Order:
    """What completes a model of which no download is known, from the commit it came from.

    What is there already is not transferred again.

    Args:
        model: one with a place in the Hugging Face cache.
        connection: the Hub.
        cancel: ends it at once.

    Raises: Cancelled; SlipstreamError: ``origin_unknown``, ``no_longer_there``, and what
        ``read_listing`` raises.
    """
    origin = origin_of(model)
    if origin is None or origin.revision is None:
        raise SlipstreamError(
            "origin_unknown",
            f"Nothing tells where the rest of {printable(model.name)} is.",
            facts={"path": printable(model.path)},
            action="Search for the model and download it again.",
        )
    listing = read_listing(origin.name, connection, cancel, origin.revision)
    repository = sort_files(listing)
    wanted = _path_in(origin, model)
    sets = (*repository.targets, *repository.drafters, *repository.projectors)
    found = next((one for one in sets if _has(one, wanted)), None)
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


def _path_in(origin: Place, model: LocalModel) -> str:
    """What the first file of a model is called in its repository."""
    first = origin.files[0].path.with_name(model.path.name)
    return first.relative_to(origin.home).as_posix()


def _has(one: FileSet, path: str) -> bool:
    return any(file.path == path for file in one.files)
