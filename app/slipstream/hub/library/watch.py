"""Tells when the models on this computer change.

It looks again every few seconds, by the same walk that the library is read with. Notifications
of the system (the watchfiles package) were considered: they need a watch on every folder of a
tree however deep, of which Linux grants a number that is used up quickly, they do not tell of
network drives or of folders that appear later, end with a folder that is deleted, and wake us for
every block that a download writes. What is looked at here changes only when a model does.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from slipstream.cancel import Cancelled, CancelToken
from slipstream.hub.library.stored import Group, local_file
from slipstream.hub.library.stores import Survey, survey

EVERY = 2.0
"""Seconds between two looks."""
PATIENCE = 10.0
"""Seconds that a change may go on, a file being copied, before it is told."""
_SHARE = 20
"""A look takes at most one part in so many of the time: slow drives are looked at less often."""

_State = dict[Path, frozenset[object]]


def watch(
    folders: Sequence[Path],
    cancel: CancelToken,
    *,
    every: float = EVERY,
    patience: float = PATIENCE,
) -> Iterator[frozenset[Path]]:
    """The stores in which something changed, each time that something did and has settled.

    What changes after this call is told. Ends when it is cancelled.

    Args:
        folders: the user's own folders with models.
        every: seconds between two looks.
        patience: seconds after which a change is told that goes on.
    """
    return _changes(folders, cancel, every, patience, _look(folders, cancel))


def _changes(
    folders: Sequence[Path], cancel: CancelToken, every: float, patience: float, told: _State
) -> Iterator[frozenset[Path]]:
    now, since, cost = told, None, 0.0
    while not cancel.wait(max(every, cost * _SHARE)):
        start = time.monotonic()
        before, now = now, _look(folders, cancel)
        cost = time.monotonic() - start
        if now == told:
            since = None
            continue
        since = start if since is None else since
        settled = now == before or start - since >= patience
        if settled and not cancel.cancelled:
            yield frozenset(root for root in {*told, *now} if told.get(root) != now.get(root))
            told, since = now, None


def _look(folders: Sequence[Path], cancel: CancelToken) -> _State:
    """What matters of every store; nothing if it was cancelled."""
    try:
        return _state(survey(folders, cancel))
    except Cancelled:
        return {}


def _state(found: Survey) -> _State:
    state: dict[Path, set[object]] = {store.root: set() for store in found.stores}
    for group in found.groups:
        state[group.root].update(_of(group))
    return {root: frozenset(facts) for root, facts in state.items()}


def _of(group: Group) -> Iterator[object]:
    """Of files that arrive only their names: they grow all the time."""
    for path in group.files:
        yield group.name, path, local_file(path)
    yield from (part.path for part in group.parts)
