"""One thing that is to be deleted, and what it was when that was decided; one that stays."""

import os
import stat
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slipstream.paths import printable

_Found = tuple[int, int, int, str, int, int]


@dataclass(frozen=True)
class Doomed:
    """A file or a link that is to be deleted.

    Attributes:
        path: what is deleted; never what it leads to.
        root: the folder it must lie in.
        found: what it was when that was decided: type, file system, number, where it leads, bytes,
            and when it was written last (nanoseconds).
        bytes: its size; 0 of a link.
        names: how many names the file has on its file system.
    """

    path: Path
    root: Path
    found: _Found
    bytes: int
    names: int

    @property
    def is_link(self) -> bool:
        """Whether it only leads to something."""
        return stat.S_ISLNK(self.found[0])


@dataclass(frozen=True)
class Kept:
    """What stays where something else goes.

    Attributes:
        path: where it lies.
        why: it stays, in a sentence.
        known_as: the file that people know it as, where its own name is only a number.
    """

    path: Path
    why: str
    known_as: str = ""

    @property
    def name(self) -> str:
        """For people."""
        return printable(self.known_as or self.path.name)


def doomed(path: Path, root: Path) -> Doomed | None:
    """What is to be deleted at a path; None if there is no file and no link."""
    try:
        about = path.lstat()
        found = _found(path, about)
    except OSError:
        return None
    kind = found[0]
    if kind == stat.S_IFLNK:
        return Doomed(path, root, found, 0, 1)
    return (
        Doomed(path, root, found, about.st_size, about.st_nlink) if kind == stat.S_IFREG else None
    )


def is_changed(one: Doomed) -> bool:
    """Whether something else is at its path now, or it no longer lies in its folder.

    A file that is gone has not changed.
    """
    try:
        return _found(one.path, one.path.lstat()) != one.found or not lies_in(one.path, one.root)
    except FileNotFoundError:
        return False
    except OSError:
        return True


def freed_by(files: Sequence[Doomed]) -> int:
    """Bytes that deleting some files gives back; a file with further names stays on disk."""
    names = Counter(one.found for one in files)
    once = {one.found: one for one in files}
    return sum(one.bytes for found, one in once.items() if names[found] >= one.names)


def lies_in(path: Path, root: Path) -> bool:
    """Whether a path itself, not what it leads to, lies in a folder when all links on the way
    are gone along."""
    return Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(root))


def _found(path: Path, about: os.stat_result) -> _Found:
    kind = stat.S_IFMT(about.st_mode)
    leads = os.readlink(path) if kind == stat.S_IFLNK else ""  # noqa: PTH115 - as it is written
    return kind, about.st_dev, about.st_ino, leads, about.st_size, about.st_mtime_ns
