"""The Hugging Face cache, laid out as huggingface_hub 2.4 and llama.cpp do.

A repository's folder has ``blobs`` (contents, named by their checksum), ``snapshots`` (per commit
a tree of relative links to them) and ``refs`` (which commit a branch is). Where the file system
has no symbolic links, the file itself stands in the snapshot.
"""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from slipstream.errors import SlipstreamError
from slipstream.hub.address import is_repo, is_safe_path
from slipstream.hub.environment import is_true, place
from slipstream.hub.files import RepoFile

_TAG = (
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This file is a cache directory tag created by huggingface_hub.\n"
    "# For information about cache directory tags, see:\n"
    "#\thttps://bford.info/cachedir/\n"
)
"""As huggingface_hub writes it (``_local_folder.py``)."""


def hub_cache() -> Path:
    """The folder where Hugging Face's own tools keep downloads; it need not exist."""
    return place("hub", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")


def repo_folder(root: Path, repo: str) -> Path:
    """The folder of one repository in a cache.

    Raises: SlipstreamError ``unsafe_name``.
    """
    if not is_repo(repo):
        raise unsafe(repo)
    return root / folder_name(repo)


def folder_name(repo: str) -> str:
    """What a cache calls a repository: ``models--owner--name``."""
    return f"models--{repo.replace('/', '--')}"


def blob_path(root: Path, repo: str, file: RepoFile) -> Path:
    """Where a cache keeps a content.

    Raises: SlipstreamError ``unsafe_name``.
    """
    if not file.blob.isalnum():
        raise unsafe(file.blob)
    return repo_folder(root, repo) / "blobs" / file.blob


def lock_path(root: Path, repo: str, file: RepoFile) -> Path:
    """The lock that huggingface_hub holds while it downloads a content."""
    return root / ".locks" / repo_folder(root, repo).name / f"{file.blob}.lock"


def snapshot_path(root: Path, repo: str, revision: str, path: str) -> Path:
    """Where a file of a commit is found, by the tools that read a cache.

    Raises: SlipstreamError ``unsafe_name``: it would lie elsewhere.
    """
    if not is_safe_path(path) or not revision.isalnum():
        raise unsafe(path)
    return repo_folder(root, repo) / "snapshots" / revision / path


def unsafe(name: str) -> SlipstreamError:
    """A name that no file may have."""
    return SlipstreamError(
        "unsafe_name",
        "A file of this repository has a name that could lead out of its folder.",
        facts={"name": name[:200]},
        action="Choose another repository.",
    )


def find(root: Path, repo: str, revision: str, file: RepoFile) -> Path | None:
    """A complete copy of a file that a cache holds, whoever put it there.

    Looks into the snapshot, among the repository's contents, and among those of the other
    repositories. Nothing is changed.

    Returns: its path; None if the cache has none.
    Raises: SlipstreamError ``unsafe_name``.
    """
    there = snapshot_path(root, repo, revision, file.path)
    own = blob_path(root, repo, file)
    candidates = (there, own, *_of_others(root, file))
    return next((path for path in candidates if _is_whole(path, file)), None)


def take(root: Path, repo: str, revision: str, file: RepoFile, found: Path) -> Path:
    """Make a content that ``find`` found part of a snapshot; returns its path there.

    A content of another repository gets a second name (a hard link), so that either can be
    removed without the other.

    Raises: OSError; SlipstreamError ``unsafe_name``.
    """
    there = snapshot_path(root, repo, revision, file.path)
    if found == there:
        return there
    own = blob_path(root, repo, file)
    _prepare(root, own, there)
    if found != own:
        with suppress(FileExistsError):
            os.link(found.resolve(), own)
    if not _link(own, there):
        _second_name(own, there)
    return there


def publish(root: Path, repo: str, revision: str, file: RepoFile, part: Path) -> Path:
    """Make a file that was downloaded and checked visible; returns its path in the snapshot.

    Args:
        part: the file; it lies in the cache and is moved.

    Raises: OSError; SlipstreamError ``unsafe_name``.
    """
    there = snapshot_path(root, repo, revision, file.path)
    own = blob_path(root, repo, file)
    _prepare(root, own, there)
    part.replace(own)
    if not _link(own, there):
        own.replace(there)
    return there


def set_reference(root: Path, repo: str, ref: str, revision: str) -> None:
    """Note which commit a branch or tag is; a commit itself needs no note.

    Raises: OSError; SlipstreamError ``unsafe_name``.
    """
    if ref == revision:
        return
    if not is_safe_path(ref):
        raise unsafe(ref)
    note = repo_folder(root, repo) / "refs" / ref
    with suppress(OSError):
        if note.read_text(encoding="utf-8") == revision:
            return
    note.parent.mkdir(parents=True, exist_ok=True)
    draft = note.with_name(f"{note.name}.{secrets.token_hex(4)}.tmp")
    draft.write_text(revision, encoding="utf-8")
    draft.replace(note)


def has_reference(root: Path, repo: str, ref: str) -> bool:
    """Whether a cache knows which commit a branch or tag is."""
    return is_safe_path(ref) and (repo_folder(root, repo) / "refs" / ref).is_file()


def _of_others(root: Path, file: RepoFile) -> Iterator[Path]:
    if file.sha256:  # git's ids of small files are not worth a look through the whole cache
        with suppress(OSError):
            yield from (
                folder / "blobs" / file.blob
                for folder in root.iterdir()
                if folder.name.startswith("models--")
            )


def _is_whole(path: Path, file: RepoFile) -> bool:
    try:
        return path.is_file() and path.stat().st_size == file.bytes
    except OSError:
        return False


def _prepare(root: Path, own: Path, there: Path) -> None:
    own.parent.mkdir(parents=True, exist_ok=True)
    there.parent.mkdir(parents=True, exist_ok=True)
    tag = root / "CACHEDIR.TAG"
    if not tag.exists():
        with suppress(OSError):
            tag.write_text(_TAG, encoding="utf-8")


def _link(own: Path, there: Path) -> bool:
    """Make the snapshot's link; False where the file system has none, or none are wanted."""
    if is_true("HF_HUB_DISABLE_SYMLINKS"):
        return False
    draft = there.with_name(f".{secrets.token_hex(4)}.tmp")
    try:
        draft.symlink_to(os.path.relpath(own, there.parent))
    except (OSError, NotImplementedError):
        return False
    draft.replace(there)
    return True


def _second_name(own: Path, there: Path) -> None:
    """Put a content into a snapshot where there are no symbolic links; others may use it, too."""
    there.unlink(missing_ok=True)
    try:
        os.link(own, there)
    except OSError:
        shutil.copyfile(own, there)
