"""What a MODEL on the command line stands for: a demo, a path, or a repository's name."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub.folders import files_in, models_in
from slipstream.paths import expanded, resources
from slipstream.weights.names import quantization
from slipstream.weights.shards import shards

DEMOS = {
    "demo": "Slipstream-Demo-Deep-3M-Q8_0.gguf",
    "demo-small": "Slipstream-Demo-3M-Q8_0.gguf",
}
_REPOSITORY = re.compile(
    r"(?P<owner>[A-Za-z0-9][\w.-]*)/(?P<name>[A-Za-z0-9][\w.-]*)(?::(?P<quant>[\w.-]+))?"
)
_LISTED = 8


def resolve(text: str) -> Path:
    """The file to load: the first of a set of shards.

    Args:
        text: ``demo``, ``demo-small``, a path to a GGUF file or to a folder of them, or
            ``owner/repo[:QUANT]`` that the Hugging Face cache holds.

    Raises: SlipstreamError: ``not_found``, ``missing_shard``, ``no_model``, ``ambiguous_model``,
        ``not_downloaded``.
    """
    if text in DEMOS:
        return resources() / "demo" / DEMOS[text]
    path = _existing(text)
    if path is not None:
        return (
            _only(list(models_in(path, deepest=0)), path) if path.is_dir() else _first_shard(path)
        )
    match = _REPOSITORY.fullmatch(text)
    if match and not text.lower().endswith(".gguf"):
        return _downloaded(f"{match['owner']}/{match['name']}", match["quant"])
    raise SlipstreamError(
        "not_found",
        f"There is no model at {text}.",
        facts={"path": text},
        action="Check the path. The model that comes with the app is called demo.",
    )


def resolve_all(text: str, cancel: CancelToken) -> tuple[Path, ...]:
    """Every file that may be meant: all of a folder, or of a repository in the cache.

    Args:
        text: as for ``resolve``.

    Returns: the first file of each set of shards; their headers tell which are models.
    Raises: SlipstreamError, as ``resolve`` does, but never ``ambiguous_model``; Cancelled.
    """
    folder = None if text in DEMOS else _existing(text)
    if folder is not None and folder.is_dir():
        return tuple(files_in(folder, cancel=cancel))
    match = _REPOSITORY.fullmatch(text)
    if folder is None and text not in DEMOS and match and not match["quant"]:
        for snapshot in _snapshots(_home(f"{match['owner']}/{match['name']}")):
            return tuple(files_in(snapshot, 1, cancel))
    return (resolve(text),)


def hub_cache() -> Path:
    """The folder where Hugging Face's own tools keep downloads."""
    environment = os.environ
    cache = environment.get("HF_HUB_CACHE")
    if cache:
        return expanded(Path(cache))
    home = environment.get("HF_HOME")
    if home:
        return expanded(Path(home)) / "hub"
    base = environment.get("XDG_CACHE_HOME") or "~/.cache"
    return expanded(Path(base)) / "huggingface" / "hub"


def _existing(text: str) -> Path | None:
    try:
        path = Path(text).expanduser()
        return path if text and path.exists() else None
    except (OSError, ValueError, RuntimeError):  # too long, a null character, no home folder
        return None


def _first_shard(path: Path) -> Path:
    first = shards(path)[0]
    if not first.exists():
        raise SlipstreamError(
            "missing_shard",
            f"The first file of this model is missing: {first.name}.",
            facts={"missing": first.name, "folder": str(first.parent)},
            action="Download the missing file into the same folder.",
        )
    return first


def _only(targets: Sequence[Path], where: Path | str, action: str | None = None) -> Path:
    if len(targets) == 1:
        return targets[0]
    if not targets:
        raise SlipstreamError(
            "no_model",
            f"There is no model in {where}.",
            facts={"where": str(where)},
            action="Choose a folder with a GGUF model in it.",
        )
    names = ", ".join(path.name for path in targets[:_LISTED])
    raise SlipstreamError(
        "ambiguous_model",
        f"There are {len(targets)} models in {where}: {names}.",
        facts={"where": str(where), "count": len(targets), "models": names},
        action=action or "Name one of the files.",
    )


def _downloaded(repository: str, quant: str | None) -> Path:
    home = _home(repository)
    for snapshot in _snapshots(home):
        # Quantizations may lie in folders of their own.
        targets = list(models_in(snapshot, deepest=1))
        if quant:
            targets = [path for path in targets if _label(path) == quant.lower()]
        if targets:
            return _only(targets, repository, f"Add a quantization: {repository}:QUANT.")
    wanted = f"{repository}:{quant}" if quant else repository
    raise SlipstreamError(
        "not_downloaded",
        f"{wanted} is not on this computer.",
        facts={"repository": repository, "quant": quant, "folder": str(home)},
        action="Download it first.",
    )


def _home(repository: str) -> Path:
    return hub_cache() / f"models--{repository.replace('/', '--')}"


def _snapshots(home: Path) -> list[Path]:
    """The revisions of a cached repository: the one called main first, then the newest."""
    try:
        main = (home / "refs" / "main").read_text(encoding="utf-8").strip()
    except OSError:
        main = ""
    try:
        found = [path for path in (home / "snapshots").iterdir() if path.is_dir()]
    except OSError:
        return []
    return sorted(found, key=lambda path: (path.name != main, -path.stat().st_mtime))


def _label(path: Path) -> str:
    return (quantization(path.name) or quantization(path.parent.name) or "").lower()
