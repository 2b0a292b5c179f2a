"""What a MODEL on the command line stands for: a demo, a path, or a repository's name."""

from collections.abc import Sequence
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub.address import HUB, Address, endpoint, parse
from slipstream.hub.cache import folder_name, hub_cache
from slipstream.hub.folders import files_in, models_in
from slipstream.hub.renamed import present
from slipstream.hub.revisions import reference, snapshots
from slipstream.paths import printable, resources
from slipstream.weights.names import meant, quantization_at
from slipstream.weights.shards import shards

DEMOS = {
    "demo": "Slipstream-Demo-Deep-3M-Q8_0.gguf",
    "demo-small": "Slipstream-Demo-3M-Q8_0.gguf",
}
_MOVED = "It may have been moved or deleted: choose another one."
_NO_SUCH_NAME = "Check the path. The model that comes with the app is called demo."
_LISTED = 8
_DEEPEST = 1
"""Levels of folders below a snapshot: quantizations may lie in folders of their own."""


def resolve(text: str) -> Path:
    """The file to load: the first of a set of shards.

    Args:
        text: ``demo``, ``demo-small``, a path to a GGUF file or to a folder of them, or what names
            a repository or one of its files on the Hub (``hub/address.py``), of which the Hugging
            Face cache holds something.

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
    address = on_the_hub(text)
    if address:
        return _downloaded(address)
    raise SlipstreamError(
        "not_found",
        f"There is no model at {printable(text)}.",
        facts={"path": printable(text)},
        action=_MOVED if Path(text).is_absolute() else _NO_SUCH_NAME,
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
    address = on_the_hub(text)
    if address and not address.quant and not address.file:
        for snapshot in _snapshots(address):
            return tuple(files_in(snapshot, _DEEPEST, cancel))
    return (resolve(text),)


def on_the_hub(text: str) -> Address | None:
    """What a text names on the Hub; None for a demo, and for what lies on this computer."""
    if text in DEMOS or _existing(text):
        return None
    return parse(text, endpoint() or HUB)


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
            f"The first file of this model is missing: {printable(first.name)}.",
            facts={"missing": printable(first.name), "folder": printable(first.parent)},
            action="Download the missing file into the same folder.",
        )
    return first


def _only(targets: Sequence[Path], where: Path | str, action: str | None = None) -> Path:
    if len(targets) == 1:
        return targets[0]
    if not targets:
        raise SlipstreamError(
            "no_model",
            f"There is no model in {printable(where)}.",
            facts={"where": printable(where)},
            action="Choose a folder with a GGUF model in it.",
        )
    names = ", ".join(printable(path.name) for path in targets[:_LISTED])
    raise SlipstreamError(
        "ambiguous_model",
        f"There are {len(targets)} models in {printable(where)}: {names}.",
        facts={"where": printable(where), "count": len(targets), "models": names},
        action=action or "Name one of the files.",
    )


def _downloaded(address: Address) -> Path:
    for snapshot in _snapshots(address):
        if address.file:
            if (snapshot / address.file).exists():
                return _first_shard(snapshot / address.file)
            continue
        targets = _meant(snapshot, address.quant)
        if targets:
            return _only(targets, address.repo, f"Add a quantization: {address.repo}:QUANT.")
    raise SlipstreamError(
        "not_downloaded",
        f"{address} is not on this computer.",
        facts={"repository": address.repo, "quant": address.quant, "folder": str(hub_cache())},
        action=f"Download it first: slipstream pull {address}",
    )


def _meant(snapshot: Path, quant: str | None) -> list[Path]:
    """The models of a snapshot, of the quantization that is asked for."""
    targets = list(models_in(snapshot, _DEEPEST))
    if quant is None:
        return targets
    labels = {path: quantization_at(path.relative_to(snapshot)) for path in targets}
    label = meant(quant, labels.values())
    return [path for path in targets if label and labels[path] == label]


def _snapshots(address: Address) -> list[Path]:
    """The revisions of a repository in the cache, by its name or what it was renamed to: the one
    asked for; or the one called main first, then the newest."""
    names = dict.fromkeys((address.repo, present(address.repo)))
    homes = [hub_cache() / folder_name(name) for name in names]
    return [found for home in homes for found in _of_revision(home, address.revision)]


def _of_revision(home: Path, revision: str | None) -> list[Path]:
    found = snapshots(home)
    if revision is None:
        return found
    wanted = reference(home, revision) or revision
    return [path for path in found if path.name == wanted]
