"""Deletes what was decided on, and nothing else."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slipstream.errors import SlipstreamError
from slipstream.hub.library.doomed import Doomed, freed_by, is_changed
from slipstream.hub.library.removal import Removal
from slipstream.paths import printable, real

Failure = tuple[Path, str]
_CHANGED = "It was replaced meanwhile."
_STUCK = "It is in use, or may not be deleted."


@dataclass(frozen=True)
class Removed:
    """What came of a removal.

    Attributes:
        removed: what was deleted.
        freed: bytes.
        failed: what could not be deleted, and why.
    """

    removed: tuple[Path, ...]
    freed: int
    failed: tuple[tuple[Path, str], ...]


def remove(removal: Removal) -> Removed:
    """Delete what was decided on; what is gone already does not matter.

    Links go before what they lead to, so that nothing leads nowhere if it is interrupted; where
    one cannot be deleted, the files stay.

    Raises: SlipstreamError ``changed_meanwhile``, before anything was deleted.
    """
    for one in (*removal.links, *removal.shared, *removal.files):
        if is_changed(one):
            raise _changed_meanwhile(one.path)
    links, failed = _delete(removal.links)
    if failed:
        return _outcome(links, 0, failed)
    freed, stuck = _delete_shared(removal.shared)
    files, failed = _delete(removal.files)
    for folder in removal.folders:
        with contextlib.suppress(OSError):  # something is left in it
            folder.rmdir()
    return _outcome((*links, *files), freed + freed_by(files), (*stuck, *failed))


def _delete(things: Sequence[Doomed]) -> tuple[list[Doomed], list[Failure]]:
    removed, failed = [], []
    for one in things:
        if is_changed(one):
            failed.append((one.path, _CHANGED))
            continue
        try:
            one.path.unlink()
        except FileNotFoundError:
            continue
        except OSError as error:
            failed.append((one.path, f"{error.strerror}."))
        else:
            removed.append(one)
    return removed, failed


def _delete_shared(links: Sequence[Doomed]) -> tuple[int, list[Failure]]:
    """Delete links to shared content, and by huggingface_hub's own locks and lists the content
    that nothing else needs; returns the bytes."""
    if not links:
        return 0, []
    from huggingface_hub import DeleteCacheStrategy

    contents = {real(one.path): _size(one.path) for one in links}
    none: frozenset[Path] = frozenset()
    for cache in {one.path.parents[2] for one in links}:
        blobs = frozenset(one.path for one in links if one.path.parents[2] == cache)
        DeleteCacheStrategy(0, blobs, none, none, none, cache_dir=cache).execute()
    freed = sum(size for path, size in contents.items() if not path.exists())
    return freed, [(one.path, _STUCK) for one in links if one.path.is_symlink()]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _outcome(removed: Sequence[Doomed], freed: int, failed: Sequence[Failure]) -> Removed:
    return Removed(tuple(one.path for one in removed), freed, tuple(failed))


def _changed_meanwhile(path: Path) -> SlipstreamError:
    return SlipstreamError(
        "changed_meanwhile",
        f"Nothing was deleted: {printable(path)} is not what it was when this was decided.",
        facts={"path": printable(path)},
        action="Look at the list of models again, and then delete.",
    )


def not_all_removed(name: str, done: Removed) -> SlipstreamError:
    """Some of it could not be deleted.

    Args:
        name: of what was to be removed.
        done: what came of it.
    """
    path, why = done.failed[0]
    return SlipstreamError(
        "not_all_removed",
        f"{name} was not removed, or only in part: {printable(path.name)} stays. {why}",
        facts={
            "removed": ", ".join(printable(one) for one in done.removed) or None,
            "failed": ", ".join(printable(one) for one, _ in done.failed),
        },
        action="Close what uses it, or ask for the right to delete it; then remove it again.",
    )
