"""How much room the stores take, and how much there is."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from slipstream.hub.library.models import Library
from slipstream.hub.library.stored import Identity, Source


@dataclass(frozen=True)
class Room:
    """One store and the disk it is on; all sizes in bytes.

    Attributes:
        source, root: the store.
        bytes: what its models take, what belongs to them and what is unfinished.
        free, total: of its disk; None where the system does not tell.
    """

    source: Source
    root: Path
    bytes: int
    free: int | None
    total: int | None


def disk(library: Library) -> tuple[Room, ...]:
    """The room that each store takes; what lies in two counts for the first."""
    taken: dict[Path, int] = {store.root: 0 for store in library.stores}
    seen: set[Identity] = set()
    for one in library.everything():
        for place in one.places:
            for file in place.files:
                if file.identity not in seen:
                    seen.add(file.identity)
                    taken[place.root] += file.bytes
    for part in library.all_parts():
        root = next((root for root in taken if part.path.is_relative_to(root)), None)
        if root:
            taken[root] += part.bytes
    return tuple(
        Room(store.source, store.root, taken[store.root], *_space(store.root))
        for store in library.stores
    )


def _space(root: Path) -> tuple[int | None, int | None]:
    try:
        found = shutil.disk_usage(root)
    except OSError:
        return None, None
    return found.free, found.total
