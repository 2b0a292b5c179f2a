"""Finds everything that may draft for a model on this computer."""

import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from slipstream import words
from slipstream.cancel import CancelToken
from slipstream.drafters.identify import (
    FileRole,
    mtp_layers,
    role_by_name,
    role_of,
    trunk_layers,
)
from slipstream.drafters.kinds import Drafter, DrafterKind, Found, Unfit
from slipstream.drafters.lineage import made_for, own_names
from slipstream.drafters.near import files_near
from slipstream.drafters.pairing import prove, prove_embedded
from slipstream.errors import SlipstreamError
from slipstream.paths import is_text
from slipstream.weights.header import Header
from slipstream.weights.names import quantization
from slipstream.weights.shards import read_model, size_of

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


def find_drafters(target: Header, cancel: CancelToken | None = None) -> Found:
    """What fits a model: its own head, then the files near it, n-grams last; the best first.

    Files that are still unread after LOOKING_SECONDS are left out.

    Raises: Cancelled.
    """
    near = list(_near(target, cancel or CancelToken()))
    fit = [*_embedded(target), *(one for one in near if isinstance(one, Drafter))]
    unfit = tuple(one for one in near if isinstance(one, Unfit))
    return Found((*sorted(fit, key=_rank), NGRAM), unfit)


def _embedded(target: Header) -> Iterator[Drafter]:
    proof = prove_embedded(target)
    if proof.fits:
        longest = _longest_draft(FileRole.MTP, target)
        yield Drafter(DrafterKind.MTP, None, proof.proven, proof.reason, 0, longest)


def _near(target: Header, cancel: CancelToken) -> Iterator[Drafter | Unfit]:
    end = time.monotonic() + LOOKING_SECONDS
    for path in islice(files_near(target.path), MAX_FILES):
        cancel.raise_if_cancelled()
        if time.monotonic() > end:
            return
        found = _look_at(target, path)
        if found:
            yield found


def _look_at(target: Header, path: Path) -> Drafter | Unfit | None:
    """What a file is to the target; None if it is no drafter at all."""
    try:
        header, size = read_model(path), size_of(path)
    except SlipstreamError as error:
        return _unreadable(path, error.message)
    except OSError:
        return _unreadable(path, "It cannot be read.")
    role = role_of(header)
    if role is FileRole.TARGET:
        return _whole_model(target, header, size)
    kind = _KINDS.get(role_by_name(path) if role is FileRole.FORK_DRAFTER else role)
    if kind is None:
        return None
    proof = prove(target, header)
    names_target = bool(made_for(header) & own_names(target))
    if not proof.fits:
        return Unfit(kind, path, proof.reason, missed=names_target)
    if header.missing_bytes:
        reason = f"It is incomplete: {words.size(header.missing_bytes)} are missing."
        return Unfit(kind, path, reason, missed=True)
    if not is_text(path):
        return Unfit(kind, path, "Its name is not valid text.", missed=True)
    return Drafter(kind, path, proof.proven, proof.reason, size, _longest_draft(role, header))


def _unreadable(path: Path, reason: str) -> Unfit | None:
    kind = _KINDS.get(role_by_name(path))
    return Unfit(kind, path, reason, missed=True) if kind else None


def _whole_model(target: Header, header: Header, size: int) -> Drafter | None:
    """Another model as a drafter, if it is small enough to help."""
    kind = _plain_kind(target, header, size / max(1, size_of(target.path)))
    if kind is None or header.missing_bytes or not is_text(header.path):
        return None
    proof = prove(target, header)
    return Drafter(kind, header.path, proof.proven, proof.reason, size) if proof.fits else None


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
