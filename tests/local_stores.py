"""Stores of models as other programs lay them out, for tests."""

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from slipstream.hub.library import ollama


def _obeys_permissions() -> bool:
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).chmod(0)
        return not os.access(file.name, os.R_OK)


may_not_do_everything = pytest.mark.skipif(
    not _obeys_permissions(), reason="an administrator may read and delete everything"
)

MAIN = "a" * 40
OLD = "b" * 40


def in_cache(
    cache: Path,
    repository: str,
    file: Path,
    path: str | None = None,
    *,
    revision: str = MAIN,
    ref: str | None = "main",
    links: bool = True,
) -> Path:
    """Move a file into the Hugging Face cache; returns its path in the snapshot.

    Args:
        path: in the repository.
        links: whether the system has symbolic links.
    """
    home = cache / f"models--{repository.replace('/', '--')}"
    entry = home / "snapshots" / revision / (path or file.name)
    entry.parent.mkdir(parents=True, exist_ok=True)
    (home / "blobs").mkdir(exist_ok=True)
    if ref:
        (home / "refs").mkdir(exist_ok=True)
        (home / "refs" / ref).write_text(revision)
    if links:
        blob = home / "blobs" / hashlib.sha256(file.read_bytes()).hexdigest()
        shutil.move(file, blob)
        entry.symlink_to(os.path.relpath(blob, entry.parent))
    else:
        shutil.move(file, entry)
    return entry


def share(cache: Path, entry: Path) -> Path:
    """Move a blob into the store that repositories share, as huggingface_hub does with Xet files;
    returns where it lies."""
    blob = entry.parent / entry.readlink()
    store = cache / "blobs"
    store.mkdir(exist_ok=True)
    (store / ".huggingface-shared-blobs").write_text("1\n")
    number = hashlib.sha256(b"xet" + blob.read_bytes()).hexdigest()
    payload = store / number[:2] / number
    blob = Path(os.path.normpath(blob))
    if payload.exists():
        blob.unlink()
    else:
        payload.parent.mkdir(exist_ok=True)
        shutil.move(blob, payload)
    blob.symlink_to(os.path.relpath(payload, blob.parent))
    with payload.with_name(f"{number}.refs").open("a") as names:
        names.write(f"{blob.relative_to(cache).as_posix()}\n")
    return payload


def tree(cache: Path, repository: str, names: Mapping[str, str], revision: str = MAIN) -> None:
    """The listing of a repository that huggingface_hub keeps; names by sha256."""
    folder = cache / f"models--{repository.replace('/', '--')}" / "trees"
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        name: {"size": 1, "blob_id": "c" * 40, "lfs_sha256": digest, "lfs_size": 1}
        for digest, name in names.items()
    }
    listing = {"format_version": 1, "files": files}
    (folder / f"{revision}.json").write_text(json.dumps(listing))


def in_ollama(
    store: Path,
    name: str,
    layers: Sequence[tuple[str, Path]],
    manifests: str = "manifests",
    **about: object,
) -> list[Path]:
    """Move files into Ollama's store as a model ``host/namespace/name/tag``; returns the blobs."""
    blobs = [blob_of(store, file) for _, file in layers]
    listed = [
        {
            "mediaType": f"application/vnd.ollama.image.{kind}",
            "digest": blob.name.replace("-", ":"),
            "size": blob.stat().st_size,
        }
        for (kind, _), blob in zip(layers, blobs, strict=True)
    ]
    write_manifest(store, name, {"schemaVersion": 2, "layers": listed, **about}, manifests)
    return blobs


def write_manifest(store: Path, name: str, content: object, folder: str = "manifests") -> Path:
    """A manifest with any content."""
    manifest = store / folder / name
    manifest.parent.mkdir(parents=True, exist_ok=True)
    manifest.write_text(content if isinstance(content, str) else json.dumps(content))
    return manifest


def blob_of(store: Path, file: Path) -> Path:
    """Move a file among Ollama's blobs."""
    (store / "blobs").mkdir(parents=True, exist_ok=True)
    blob = store / "blobs" / f"sha256-{hashlib.sha256(file.read_bytes()).hexdigest()}"
    shutil.move(file, blob)
    return blob


def settle(folder: Path) -> None:
    """Make every file look as if it had not been touched for a while."""
    past = time.time() - 100
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            os.utime(path, (past, past))


def own_stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A computer without any models; returns its Hugging Face cache and home folder."""
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "slipstream"))
    monkeypatch.setenv("OLLAMA_MODELS", str(home / ".ollama" / "models"))
    # A computer that tests run on may have a service of its own.
    monkeypatch.setattr(ollama, "_HOMES", ("~/.ollama/models",))
    return tmp_path / "cache", home
