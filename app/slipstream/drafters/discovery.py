"""Finds everything that may draft for a model on this computer."""

import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.drafters.identify import FileRole, mtp_layers, role_of, trunk_layers
from slipstream.drafters.kinds import Drafter, DrafterKind
from slipstream.drafters.lineage import own_names
from slipstream.drafters.pairing import prove, prove_embedded
from slipstream.errors import SlipstreamError
from slipstream.weights.header import Header
from slipstream.weights.names import quantization, shard_of
from slipstream.weights.shards import read_model, shards, size_of

DRAFTER_FOLDERS = frozenset({"mtp", "dspark", "dflash"})
MAX_FILES = 100
"""Headers read at most, the smallest files first: drafters are small."""
LOOKING_SECONDS = 2.0
"""Time for that: a slow disk must not keep the model waiting."""
MUCH_SMALLER = 1 / 3
"""A plain draft model above this share of the target's size costs more than it gives."""
LOWER_QUANTIZATION = 3 / 4
"""The same for a lower quantization of the target, which agrees with it far more often."""
DEFAULT_BLOCK = 16
"""Block of a DFlash drafter that names none (llama.cpp's default)."""

NGRAM = Drafter(
    DrafterKind.NGRAM, None, proven=True, reason="It repeats passages of the text, without a file."
)
_KINDS = {
    FileRole.MTP: DrafterKind.MTP,
    FileRole.GEMMA4_ASSISTANT: DrafterKind.MTP,
    FileRole.DSPARK: DrafterKind.DSPARK,
    FileRole.DFLASH: DrafterKind.DFLASH,
    FileRole.DFLASH2: DrafterKind.DFLASH,
    FileRole.EAGLE3: DrafterKind.EAGLE3,
}
_ORDER = (*dict.fromkeys(_KINDS.values()), DrafterKind.DRAFT, DrafterKind.SELF)


def find_drafters(target: Header, cancel: CancelToken | None = None) -> tuple[Drafter, ...]:
    """What fits a model: its own head, then the files near it, n-grams last; the best first.

    Files that cannot be read or do not fit are left out, and those that are still unread after
    LOOKING_SECONDS.

    Raises: Cancelled.
    """
    found = [*_embedded(target), *_near(target, cancel or CancelToken())]
    return (*sorted(found, key=_rank), NGRAM)


def _embedded(target: Header) -> Iterator[Drafter]:
    proof = prove_embedded(target)
    if proof.fits:
        longest = _longest_draft(FileRole.MTP, target)
        yield Drafter(DrafterKind.MTP, None, proof.proven, proof.reason, 0, longest)


def _near(target: Header, cancel: CancelToken) -> Iterator[Drafter]:
    end = time.monotonic() + LOOKING_SECONDS
    for path in islice(_files_near(target.path), MAX_FILES):
        cancel.raise_if_cancelled()
        if time.monotonic() > end:
            return
        try:
            drafter = _drafter(target, read_model(path))
        except (SlipstreamError, OSError):
            continue
        if drafter:
            yield drafter


def _files_near(target: Path) -> Iterator[Path]:
    """GGUF files that may belong to the target, the smallest first, one per set of shards."""
    own = {target, *shards(target)}
    files = [
        path
        for folder in _folders(target.parent)
        for path in _entries(folder)
        if path.suffix.lower() == ".gguf" and path.is_file() and path not in own
    ]
    firsts = (path for path in files if (shard := shard_of(path.name)) is None or shard.number == 1)
    yield from sorted(firsts, key=lambda path: (size_of(path), path.name))


def _folders(home: Path) -> Iterator[Path]:
    """The model's folder and its drafter folders; for a quantization's own folder, also those
    of the repository around it."""
    for folder in (home, home.parent) if quantization(home.name) else (home,):
        yield folder
        for entry in _entries(folder):
            if entry.name.lower() in DRAFTER_FOLDERS and entry.is_dir():
                yield entry


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _drafter(target: Header, header: Header) -> Drafter | None:
    role = role_of(header)
    size = size_of(header.path)
    kind = _KINDS.get(role)
    if role is FileRole.TARGET:
        kind = _plain_kind(target, header, size / max(1, size_of(target.path)))
    if kind is None or header.missing_bytes:
        return None
    proof = prove(target, header)
    if not proof.fits:
        return None
    longest = _longest_draft(role, header)
    return Drafter(kind, header.path, proof.proven, proof.reason, size, longest)


def _plain_kind(target: Header, header: Header, share: float) -> DrafterKind | None:
    """What a whole model is to the target, by its ``share`` of the target's size."""
    if _same_model(target, header):
        return DrafterKind.SELF if share <= LOWER_QUANTIZATION else None
    return DrafterKind.DRAFT if share <= MUCH_SMALLER else None


def _same_model(one: Header, other: Header) -> bool:
    def shape(header: Header) -> tuple[object, ...]:
        return (header.architecture, trunk_layers(header), header.hidden_size)

    return shape(one) == shape(other) and bool(own_names(one) & own_names(other))


def _longest_draft(role: FileRole, header: Header) -> int | None:
    """Most draft tokens per step, as the engine limits them (common/speculative.cpp)."""
    if role is FileRole.MTP:
        # One head is chained on itself; several heads draft one token each.
        heads = mtp_layers(header)
        return heads if heads > 1 else None
    if role in (FileRole.DFLASH, FileRole.DFLASH2, FileRole.DSPARK):
        block = header.number("block_size") or DEFAULT_BLOCK
        from_anchor = header.keys.get("dflash.sample_from_anchor") is True
        return block if role is FileRole.DSPARK and from_anchor else max(1, block - 1)
    return None


def _rank(drafter: Drafter) -> tuple[object, ...]:
    """Proven first, then by kind, a head in the model before a file.

    Of files made for the target the larger quantized one is preferred (heavily quantized drafters
    lose acceptance, full precision only costs time); of whole models the smaller one.
    """
    made_for_it = drafter.kind in _KINDS.values()
    label = quantization(drafter.path.name) if drafter.path else None
    return (
        not drafter.proven,
        _ORDER.index(drafter.kind),
        drafter.path is not None,
        label in ("F32", "F16", "BF16"),
        -drafter.bytes if made_for_it else drafter.bytes,
    )
