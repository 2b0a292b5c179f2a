"""Goes through a folder of models within bounds, whatever is in it."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub.folders import DEEPEST
from slipstream.paths import printable

MOST = 100_000
"""Entries looked at below one folder, so that choosing a whole disk ends in a moment."""

Problems = list[SlipstreamError]


def files_below(
    folder: Path,
    wanted: Callable[[str], bool],
    problems: Problems,
    cancel: CancelToken,
    *,
    deepest: int = DEEPEST,
    follow: bool = False,
) -> Iterator[Path]:
    """Files with wanted names in a folder and the folders below, hidden ones left out, by name.

    Args:
        folder: nothing is found in one that does not exist.
        wanted: whether a file's name is looked for.
        problems: gets a word on each folder that could not be read.
        deepest: levels of folders to go down.
        follow: whether links to folders are gone along, each folder once.

    Raises: Cancelled.
    """
    waiting = [(folder, 0)]
    seen: set[tuple[int, int]] = set()
    looked = 0
    while waiting:
        cancel.raise_if_cancelled()
        here, depth = waiting.pop()
        if follow and _again(here, seen):
            continue
        entries = entries_of(here, problems)
        looked += len(entries)
        if looked > MOST:
            problems.append(_too_much(folder))
            return
        yield from (Path(each.path) for each in entries if wanted(each.name) and _may_be_file(each))
        if depth < deepest:
            inner = [Path(each.path) for each in entries if _is_entered(each, follow)]
            waiting += [(path, depth + 1) for path in reversed(inner)]


def entries_of(folder: Path, problems: Problems) -> list[os.DirEntry[str]]:
    """What a folder holds, by name; nothing if it is not there, or cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return []
    except OSError as error:
        problems.append(_unreadable(folder, error))
        return []


def is_folder(path: Path) -> bool:
    """Whether a path leads to a folder."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def _is_entered(entry: os.DirEntry[str], follow: bool) -> bool:
    return not entry.name.startswith(".") and _is_folder(entry, follow)


def _may_be_file(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a file, or a link to something that is not there now."""
    try:
        return stat.S_ISREG(entry.stat().st_mode)
    except OSError:
        return True


def _is_folder(entry: os.DirEntry[str], follow: bool) -> bool:
    try:
        return entry.is_dir(follow_symlinks=follow)
    except OSError:
        return False


def _again(folder: Path, seen: set[tuple[int, int]]) -> bool:
    """Whether a folder was already gone into; remembers it."""
    try:
        found = folder.stat()
    except OSError:
        return False
    number = (found.st_dev, found.st_ino)
    if not found.st_ino or number not in seen:
        seen.add(number)
        return False
    return True


def not_a_folder(path: Path) -> SlipstreamError:
    """The word on something that lies where a folder with models should be."""
    return SlipstreamError(
        "not_a_folder",
        f"{printable(path)} is not a folder, so there can be no models in it.",
        facts={"path": printable(path)},
        action="Move it elsewhere if a folder with models should be there.",
    )


def _too_much(folder: Path) -> SlipstreamError:
    return SlipstreamError(
        "too_many_files",
        f"{printable(folder)} holds more than {MOST:,} files. Not all of them were looked at.",
        facts={"path": printable(folder), "of": MOST},
        action="Choose a folder that holds only models.",
    )


def _unreadable(folder: Path, error: OSError) -> SlipstreamError:
    return SlipstreamError(
        "unreadable",
        f"The folder {printable(folder)} cannot be read. {error.strerror}.",
        facts={"path": printable(folder)},
        action="Allow the folder to be read, or take it off the list of folders with models.",
    )
