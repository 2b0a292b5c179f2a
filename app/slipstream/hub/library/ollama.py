"""Ollama's models, read where they are: manifests name blobs by their sha256.

Layout: ``manifest/manifest.go`` and ``manifest/paths.go`` of ollama/ollama.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from slipstream.cancel import CancelToken
from slipstream.hub.library.stored import Group, Part, Source, part
from slipstream.hub.library.walk import Problems, entries_of, files_below
from slipstream.paths import expanded
from slipstream.small_files import read_json

_HOMES = ("~/.ollama/models", "/usr/share/ollama/.ollama/models")
_MANIFESTS = ("manifests-v2", "manifests")
_LIST = "application/vnd.ollama.manifest.list.v2+json"
_LAYER = "application/vnd.ollama.image."
_COMPANIONS = ("projector", "draft")
_DIGEST = re.compile(r"sha256[:-]([0-9a-fA-F]{64})")
_PARTIAL = re.compile(r"sha256-[0-9a-fA-F]{64}-partial")
_LONGEST = 4 << 20
"""Bytes of a manifest; one of a model in single tensors has some hundred kB."""


def roots() -> list[Path]:
    """The folders Ollama may keep models in: the user's, and the service's."""
    own = os.environ.get("OLLAMA_MODELS", "").strip()
    return [expanded(Path(each)) for each in (*filter(None, [own]), *_HOMES)]


def groups(root: Path, problems: Problems, cancel: CancelToken) -> Iterator[Group]:
    """The files of each model by name and tag; models that are not GGUF are left out."""
    seen: set[str] = set()
    for folder in _MANIFESTS:
        for path in files_below(root / folder, _is_manifest, problems, cancel, deepest=3):
            name = _name(path.relative_to(root / folder).parts)
            if not name or name in seen:
                continue
            seen.add(name)
            found = _model(Group(Source.OLLAMA, root, root / "blobs", name), path)
            if found:
                yield found
    parts = tuple(_parts(root, problems))
    if parts:
        yield Group(Source.OLLAMA, root, root / "blobs", parts=parts)


def _is_manifest(name: str) -> bool:
    return not name.startswith(".")


def _name(parts: tuple[str, ...]) -> str:
    """What Ollama calls the model of ``host/namespace/name/tag``; empty for what is none."""
    if len(parts) != 4:
        return ""
    host, namespace, name, tag = parts
    if host != "registry.ollama.ai":
        return f"{host}/{namespace}/{name}:{tag}"
    return f"{name}:{tag}" if namespace == "library" else f"{namespace}/{name}:{tag}"


def _model(about: Group, path: Path) -> Group | None:
    """A group like ``about`` with the GGUF layers of a manifest."""
    try:
        manifest = _read(path)
        if manifest.get("mediaType") == _LIST:
            manifest = _child(manifest["manifests"], about.home)
        layers = [(each["mediaType"], each["digest"]) for each in manifest.get("layers") or ()]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if manifest.get("format") not in (None, "", "gguf"):
        return None
    models = _blobs(layers, ("model",), about.home)
    companions = _blobs(layers, _COMPANIONS, about.home)
    if not models:
        return None
    return Group(
        about.source, about.root, about.home, about.name,
        files=(*models, *companions), companions=frozenset(companions),
    )  # fmt: skip


def _read(path: Path) -> dict[str, Any]:
    """Raises: OSError, ValueError, TypeError."""
    manifest = read_json(path, _LONGEST)
    if not isinstance(manifest, dict):
        raise TypeError
    return manifest


def _child(children: list[dict[str, Any]], blobs: Path) -> dict[str, Any]:
    """The manifest for GGUF of several for one model; what it says may stand in a blob."""
    child = next((each for each in children if each.get("runner") != "mlx"), {})
    blob = _blob(child.get("digest"), blobs)
    return {**_read(blob), **child} if blob else child


def _blobs(
    layers: list[tuple[object, object]], kinds: tuple[str, ...], blobs: Path
) -> tuple[Path, ...]:
    wanted = [_LAYER + kind for kind in kinds]
    found = (_blob(digest, blobs) for kind, digest in layers if kind in wanted)
    return tuple(filter(None, found))


def _blob(digest: object, blobs: Path) -> Path | None:
    """Where a content is; None for what is no digest, whatever a manifest holds."""
    found = _DIGEST.fullmatch(digest) if isinstance(digest, str) else None
    return blobs / f"sha256-{found[1].lower()}" if found else None


def _parts(root: Path, problems: Problems) -> Iterator[Part]:
    for entry in entries_of(root / "blobs", problems):
        if _PARTIAL.fullmatch(entry.name) and (
            found := part(Path(entry.path), None, Source.OLLAMA)
        ):
            yield found
