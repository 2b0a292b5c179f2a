"""The Hugging Face cache: ``models--owner--name/{refs,blobs,snapshots,trees}``.

huggingface_hub and llama.cpp write it alike; where there are no symbolic links, the files
themselves lie in the snapshots.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.drafters.lineage import CACHE_FOLDERS, cached_repository
from slipstream.hub.library.stored import Group, Part, Source, is_gguf, is_part, part
from slipstream.hub.library.walk import Problems, entries_of, files_below, is_folder, not_a_folder
from slipstream.hub.revisions import snapshots
from slipstream.small_files import read_json

_LARGEST_TREE = 64 << 20
"""Bytes; the listing of a repository with 1,148 files has some 300 kB."""


def groups(root: Path, problems: Problems, cancel: CancelToken) -> Iterator[Group]:
    """Each snapshot of each repository; of a repository the one called main first, then the
    newest."""
    for entry in _repositories(root, problems):
        home = Path(entry.path)
        if is_folder(home):
            name = cached_repository(entry.name)
            yield from _repository(Group(Source.HUGGINGFACE, root, home, name), problems, cancel)
        elif home.exists():
            problems.append(not_a_folder(home))


def is_cache(folder: Path) -> bool:
    """Whether a folder is a Hugging Face cache: one on another drive is a folder of the user's."""
    return any(is_folder(Path(each.path, "snapshots")) for each in _repositories(folder, []))


def _repositories(root: Path, problems: Problems) -> list[os.DirEntry[str]]:
    return [each for each in entries_of(root, problems) if each.name.startswith(CACHE_FOLDERS)]


def _repository(repository: Group, problems: Problems, cancel: CancelToken) -> Iterator[Group]:
    home = repository.home
    parts = tuple(replace(one, repo=repository.name) for one in _parts(home, problems))
    entries_of(home / "snapshots", problems)  # tells if they cannot be read
    for snapshot in snapshots(home):
        files = tuple(files_below(snapshot, is_gguf, problems, cancel))
        yield Group(
            repository.source, repository.root, snapshot, repository.name,
            files=files, parts=parts, revision=snapshot.name,
        )  # fmt: skip
        parts = ()
    if parts:
        yield Group(repository.source, repository.root, home, repository.name, parts=parts)


def _parts(home: Path, problems: Problems) -> Iterator[Part]:
    unfinished = [each for each in entries_of(home / "blobs", problems) if is_part(each.name)]
    names = _names(home, problems) if unfinished else {}
    for entry in unfinished:
        name = names.get(entry.name.partition(".")[0])
        found = part(Path(entry.path), name, Source.HUGGINGFACE)
        if found:
            yield found


def _names(home: Path, problems: Problems) -> dict[str, str]:
    """What the blobs of a repository are called, by the listings that were kept of it."""
    names: dict[str, str] = {}
    for entry in entries_of(home / "trees", problems):
        try:
            files = read_json(Path(entry.path), _LARGEST_TREE)["files"]
            for path, about in files.items():
                names[about.get("lfs_sha256") or about["blob_id"]] = path.rpartition("/")[2]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
    return names
