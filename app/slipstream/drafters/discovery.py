"""Finds everything that may draft for a model on this computer."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from slipstream import words
from slipstream.cancel import CancelToken
from slipstream.drafters.attached import Attached, attached
from slipstream.drafters.identify import (
    KINDS,
    FileRole,
    drafter_kind,
    mtp_layers,
    role_by_name,
    role_of,
    trunk_layers,
)
from slipstream.drafters.kinds import MADE_FOR_A_TARGET, Drafter, DrafterKind, Found, Unfit
from slipstream.drafters.lineage import Place, own_name
from slipstream.drafters.near import files_near
from slipstream.drafters.pairing import Proof, names_target, prove, prove_embedded
from slipstream.errors import SlipstreamError
from slipstream.paths import is_text, real
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
_ORDER = (*dict.fromkeys(KINDS.values()), DrafterKind.DRAFT, DrafterKind.SELF)


@dataclass(frozen=True)
class _File:
    """A file that may draft: where it came from, and whether the user chose it."""

    path: Path
    place: Place | None = None
    chosen: bool = False


def find_drafters(target: Header, cancel: CancelToken | None = None) -> Found:
    """What fits a model: what the user chose, its own head, then the files near it and those that
    were fetched for it, n-grams last; the best first.

    Files that are still unread after LOOKING_SECONDS are left out.

    Raises: Cancelled.
    """
    known = attached(target.path)
    near = list(_near(target, known, cancel or CancelToken()))
    fit = [*_embedded(target), *(one for one in near if isinstance(one, Drafter))]
    unfit = tuple(one for one in near if isinstance(one, Unfit))
    drafters = (*sorted(fit, key=_rank), NGRAM)
    return Found(drafters, unfit, target.path, plain=known.choice == "none")


def _embedded(target: Header) -> Iterator[Drafter]:
    proof = prove_embedded(target)
    if proof.fits:
        longest = longest_draft(target)
        yield Drafter(DrafterKind.MTP, None, proof.proven, proof.reason, 0, longest)


def _near(target: Header, known: Attached, cancel: CancelToken) -> Iterator[Drafter | Unfit]:
    end = time.monotonic() + LOOKING_SECONDS
    for file in islice(_files(target.path, known), MAX_FILES):
        cancel.raise_if_cancelled()
        if time.monotonic() > end:
            return
        found = _look_at(target, file)
        if found:
            yield found


def _files(target: Path, known: Attached) -> Iterator[_File]:
    """What may draft for a model, each file once: what was chosen or fetched for it first."""
    fetched = [_File(one.path, one.place) for one in known.fetched if _is_there(one.path)]
    files = [*fetched, *map(_File, files_near(target))]
    if isinstance(known.choice, Path):
        chosen = known.choice
        place = next((one.place for one in fetched if one.path == chosen), None)
        files.insert(0, _File(chosen, place, chosen=True))
    seen = {real(target)}
    for file in files:
        path = real(file.path)
        if path not in seen:
            seen.add(path)
            yield file


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _look_at(target: Header, file: _File) -> Drafter | Unfit | None:
    """What a file is to the target; None if it is no drafter at all, unless the user chose it."""
    path = file.path
    try:
        header, size = read_model(path), size_of(path)
    except SlipstreamError as error:
        return _unreadable(file, error.message)
    except OSError:
        return _unreadable(file, "It cannot be read.")
    whole = role_of(header) is FileRole.TARGET
    kind = _plain_kind(target, header, size, file.chosen) if whole else drafter_kind(header)
    if kind is None and not file.chosen:
        return None
    proof = prove(target, header, drafter_place=file.place)
    problem = _problem(kind, header, proof)
    if kind and not problem:
        longest = None if whole else longest_draft(header)
        return Drafter(kind, path, proof.proven, proof.reason, size, longest, file.chosen)
    if whole and not file.chosen:
        return None
    missed = file.chosen or proof.fits or names_target(target, header, drafter_place=file.place)
    return Unfit(kind or DrafterKind.DRAFT, path, problem, missed)


def _problem(kind: DrafterKind | None, header: Header, proof: Proof) -> str:
    """Why a file cannot draft; empty if it can."""
    if not proof.fits:
        return proof.reason
    if header.missing_bytes:
        return f"It is incomplete: {words.size(header.missing_bytes)} are missing."
    if not is_text(header.path):
        return "Its name is not valid text."
    return "" if kind else "It is not smaller than this model, so it cannot make it faster."


def _unreadable(file: _File, reason: str) -> Unfit | None:
    kind = KINDS.get(role_by_name(file.path))
    if kind is None and not file.chosen:
        return None
    return Unfit(kind or DrafterKind.DRAFT, file.path, reason, missed=True)


def _plain_kind(target: Header, header: Header, size: int, chosen: bool) -> DrafterKind | None:
    """What a whole model is to the target, if it is enough smaller; what the user chose need only
    be smaller."""
    same = same_model(target, header)
    share = size / max(1, size_of(target.path))
    most = LOWER_QUANTIZATION if same else MUCH_SMALLER
    if share > most and not (chosen and share < 1):
        return None
    return DrafterKind.SELF if same else DrafterKind.DRAFT


def same_model(one: Header, other: Header) -> bool:
    """Whether two whole models are one, in other quantizations."""

    def shape(header: Header) -> tuple[object, ...]:
        return (header.architecture, trunk_layers(header), header.hidden_size)

    mine, name = own_name(one), own_name(other)
    same_name = mine is not None and name is not None and mine.same_model(name)
    return shape(one) == shape(other) and same_name


def longest_draft(header: Header) -> int | None:
    """Most draft tokens per step, as the engine limits them (common/speculative.cpp).

    Args:
        header: of the drafter, or of a model with a head of its own.
    """
    role = role_of(header)
    if role in (FileRole.MTP, FileRole.TARGET):
        # One head is chained on itself; several heads draft one token each.
        heads = mtp_layers(header)
        return heads if heads > 1 else None
    if role in (FileRole.DFLASH, FileRole.DFLASH2, FileRole.DSPARK):
        block = header.number("block_size") or DEFAULT_BLOCK
        from_anchor = header.keys.get("dflash.sample_from_anchor") is True
        return block if role is FileRole.DSPARK and from_anchor else max(1, block - 1)
    return None


def _rank(drafter: Drafter) -> tuple[object, ...]:
    """What the user chose first, then what is proven, then by kind, a head before a file.

    Of files made for the target the larger quantized one is preferred (heavily quantized drafters
    lose acceptance, full precision only costs time); of whole models the smaller one.
    """
    made_for_it = drafter.kind in MADE_FOR_A_TARGET
    label = quantization(drafter.path.name) if drafter.path else None
    return (
        not drafter.chosen,
        not drafter.proven,
        _ORDER.index(drafter.kind),
        drafter.path is not None,
        label in ("F32", "F16", "BF16"),
        -drafter.bytes if made_for_it else drafter.bytes,
    )
