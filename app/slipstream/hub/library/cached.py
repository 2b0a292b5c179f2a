"""What goes from the Hugging Face cache when files of its snapshots do.

The rules are those of huggingface_hub (``utils/_cache_manager.py``, ``utils/_shared_blobs.py``):
a blob goes with the last snapshot that leads to it, a reference with its revision, and content
that repositories share with the last of them.

What lies outside its repository, by a link to a folder, is left alone. Only ``blobs`` as a whole
may have been moved to another disk: the models would otherwise take their room there for ever.
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from slipstream.hub.library.doomed import Doomed, Kept, doomed, lies_in
from slipstream.hub.revisions import snapshots
from slipstream.paths import real
from slipstream.small_files import read_text

_SHARED = re.compile(r"[0-9a-f]{64}")
_INNER = ("refs", "blobs", "snapshots", "trees", ".no_exist")


@dataclass
class Emptied:
    """What goes, and what does not.

    Attributes:
        links: entries of snapshots and references.
        files: their content, and what was noted about revisions that are gone.
        shared: links to content that several repositories share.
        shared_bytes: what goes with these links.
        folders: that may be empty then.
        kept: what stays, and why.
        names: of the files whose content lies at a path.
    """

    links: list[Doomed] = field(default_factory=list)
    files: list[Doomed] = field(default_factory=list)
    shared: list[Doomed] = field(default_factory=list)
    shared_bytes: int = 0
    folders: list[Path] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    names: dict[Path, str] = field(default_factory=dict)

    def keep(self, path: Path, why: str) -> None:
        """Let something stay."""
        self.kept.append(Kept(path, why, self.names.get(path, "")))


def emptied(root: Path, entries: Iterable[Path]) -> Emptied:
    """What goes with some files of snapshots.

    Args:
        root: the cache.
        entries: paths in snapshots.
    """
    result = Emptied()
    homes: dict[Path, set[Path]] = {}
    for path in entries:
        inner = path.relative_to(root).parts
        homes.setdefault(root / inner[0], set()).add(path)
    for home, going in homes.items():
        _empty(root, home, going, result)
    _count_shared(root, result)
    return result


def _empty(root: Path, home: Path, going: set[Path], result: Emptied) -> None:
    outside = {path for path in going if not lies_in(path, home)}
    for path in sorted(outside):
        result.keep(path, "It lies outside its repository.")
    going = going - outside
    revisions = {path.relative_to(home).parts[1] for path in going}
    every = [path for snapshot in snapshots(home) for path in _files_below(snapshot)]
    staying = [path for path in every if path not in going]
    needed = {_next(path) for path in staying} | {real(path) for path in outside}
    blobs: set[Path] = set()
    for path in sorted(going):
        one = doomed(path, home)
        if one and one.is_link:
            blob = _next(path)
            result.links.append(one)
            result.names |= dict.fromkeys((blob, _next(blob)), path.name)
            blobs.add(blob)
        elif one:
            result.files += [one, *_second_names(home, one, staying)]
    if _is_joint(home / "blobs", root):
        for blob in sorted(blobs):
            result.keep(blob, "Another repository keeps its files in the same folder.")
    else:
        for blob in sorted(blobs):
            _content(root, home, blob, needed, result)
    gone = revisions - {path.relative_to(home).parts[1] for path in staying}
    for path in _about(home, gone):
        one = doomed(path, home)
        if one and lies_in(path, home):
            (result.links if path.is_relative_to(home / "refs") else result.files).append(one)
    inner = {parent for path in going for parent in path.parents if parent.is_relative_to(home)}
    inner |= {home, *(home / name for name in _INNER)}
    inner |= {home / ".no_exist" / revision for revision in gone}
    inner = {path for path in inner if path == home or lies_in(path, home)}
    result.folders += sorted(inner, key=lambda path: len(path.parts), reverse=True)


def _content(root: Path, home: Path, blob: Path, needed: set[Path], result: Emptied) -> None:
    """What links of snapshots lead to goes, unless something else needs it."""
    blobs = home / "blobs"
    one = doomed(blob, blobs)
    if one is None:
        return
    if blob.parent != blobs:
        result.keep(blob, "It lies outside its repository; only the link to it goes.")
    elif not needed.isdisjoint({blob, real(blob)}):
        result.keep(blob, "Another file of the repository has the same content.")
    elif not one.is_link:
        result.files.append(one)
    elif _is_shared(_next(blob), root):
        result.shared.append(one)
    else:
        result.links.append(one)
        result.keep(_next(blob), "It lies outside the cache; only the link to it goes.")


def _is_joint(blobs: Path, root: Path) -> bool:
    """Whether two repositories of a cache, not one by two names, have one folder of contents."""
    homes = {real(home) for home in root.iterdir() if real(home / "blobs") == real(blobs)}
    return len(homes) > 1


def _second_names(home: Path, one: Doomed, staying: Iterable[Path]) -> Iterator[Doomed]:
    """The blob that is the same file as an entry of a snapshot, where there are no links."""
    if one.names > 1 and not any(_is_same(path, one, home) for path in staying):
        blobs = home / "blobs"
        others = (doomed(path, blobs) for path in _files_below(blobs))
        yield from (each for each in others if each and each.found == one.found)


def _is_same(path: Path, one: Doomed, home: Path) -> bool:
    other = doomed(path, home)
    return other is not None and other.found == one.found


def _about(home: Path, revisions: set[str]) -> Iterator[Path]:
    """References to revisions, and what was noted about them."""
    for path in _files_below(home / "refs"):
        try:
            if read_text(path) in revisions:
                yield path
        except (OSError, ValueError):
            continue
    for revision in revisions:
        yield home / "trees" / f"{revision}.json"
        yield from _files_below(home / ".no_exist" / revision)


def _files_below(folder: Path) -> list[Path]:
    return sorted(
        Path(parent, name)
        for parent, folders, files in os.walk(folder)
        for name in (*files, *(each for each in folders if Path(parent, each).is_symlink()))
    )


def _next(link: Path) -> Path:
    """What a link leads to, one step on; the path itself, if it is no link."""
    try:
        return Path(os.path.abspath(link.parent / os.readlink(link)))  # noqa: PTH115, PTH100
    except OSError:
        return link


def _is_shared(path: Path, root: Path) -> bool:
    return path.parent.parent == root / "blobs" and _SHARED.fullmatch(path.name) is not None


def _count_shared(root: Path, result: Emptied) -> None:
    """Shared content goes if no link beside those that go leads to it."""
    going = {one.path for one in result.shared}
    for payload in {_next(path) for path in going}:
        if _links_to(payload, root) <= going:
            result.shared_bytes += _size(payload)
        else:
            result.keep(payload, "Another repository has the same content.")


def _links_to(payload: Path, root: Path) -> set[Path]:
    """The links to shared content; its own path, too, where they are not known: then
    huggingface_hub leaves it."""
    try:
        names = read_text(payload.with_name(f"{payload.name}.refs"))
    except (OSError, ValueError):
        return {payload}
    links = {root / name for name in names.splitlines() if ".." not in Path(name).parts}
    return {link for link in links if link.is_symlink() and _next(link) == payload}


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
