"""What goes from the Hugging Face cache when files of its snapshots do.

The rules are those of huggingface_hub (``utils/_cache_manager.py``, ``utils/_shared_blobs.py``):
a blob goes with the last snapshot that leads to it, a reference with its revision, and content
that repositories share with the last of them.
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from slipstream.hub.library.doomed import Doomed, doomed

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
    """

    links: list[Doomed] = field(default_factory=list)
    files: list[Doomed] = field(default_factory=list)
    shared: list[Doomed] = field(default_factory=list)
    shared_bytes: int = 0
    folders: list[Path] = field(default_factory=list)
    kept: list[tuple[Path, str]] = field(default_factory=list)


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
    revisions = {path.relative_to(home).parts[1] for path in going}
    staying = [path for path in _files_below(home / "snapshots") if path not in going]
    needed = {_next(path) for path in staying}
    blobs: set[Path] = set()
    for path in sorted(going):
        one = doomed(path, home)
        if one and one.is_link:
            result.links.append(one)
            blobs.add(_next(path))
        elif one:
            result.files += [one, *_second_names(home, one, staying)]
    for blob in sorted(blobs):
        _content(root, home, blob, needed, result)
    gone = revisions - {path.relative_to(home).parts[1] for path in staying}
    for path in _about(home, gone):
        one = doomed(path, home)
        if one:
            (result.links if path.is_relative_to(home / "refs") else result.files).append(one)
    inner = {parent for path in going for parent in path.parents if parent.is_relative_to(home)}
    inner |= {home, *(home / name for name in _INNER)}
    inner |= {home / ".no_exist" / revision for revision in gone}
    result.folders += sorted(inner, key=lambda path: len(path.parts), reverse=True)


def _content(root: Path, home: Path, blob: Path, needed: set[Path], result: Emptied) -> None:
    """What links of snapshots lead to goes, unless something else needs it."""
    one = doomed(blob, home)
    if one is None:
        return
    if blob.parent != home / "blobs":
        result.kept.append((blob, "It lies outside its repository; only the link to it goes."))
    elif blob in needed:
        result.kept.append((blob, "Another file of the repository has the same content."))
    elif not one.is_link:
        result.files.append(one)
    elif _is_shared(_next(blob), root):
        result.shared.append(one)
    else:
        result.links.append(one)
        result.kept.append((_next(blob), "It lies outside the cache; only the link to it goes."))


def _second_names(home: Path, one: Doomed, staying: Iterable[Path]) -> Iterator[Doomed]:
    """The blob that is the same file as an entry of a snapshot, where there are no links."""
    if one.names > 1 and not any(_is_same(path, one, home) for path in staying):
        others = (doomed(path, home) for path in _files_below(home / "blobs"))
        yield from (each for each in others if each and each.found == one.found)


def _is_same(path: Path, one: Doomed, home: Path) -> bool:
    other = doomed(path, home)
    return other is not None and other.found == one.found


def _about(home: Path, revisions: set[str]) -> Iterator[Path]:
    """References to revisions, and what was noted about them."""
    for path in _files_below(home / "refs"):
        try:
            if path.read_text(encoding="utf-8").strip() in revisions:
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
            result.kept.append((payload, "Another repository has the same content."))


def _links_to(payload: Path, root: Path) -> set[Path]:
    """The links to shared content; its own path, too, where they are not known: then
    huggingface_hub leaves it."""
    try:
        names = payload.with_name(f"{payload.name}.refs").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return {payload}
    links = {root / name for name in names.splitlines() if ".." not in Path(name).parts}
    return {link for link in links if link.is_symlink() and _next(link) == payload}


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
