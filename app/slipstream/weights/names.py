"""What the name of a model file says: its quantization, its place in a set, a name for people."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath

from slipstream.paths import printable
from slipstream.weights.header import Header

# llama.cpp's own labels, the name-only mixes of unsloth and bartowski, and those of forks. The
# longer of two labels that start alike comes first.
_FLOAT = r"BF16|FP?16|FP?32"
_QUANT = (
    r"Q4_0_[48]_[48]|P?TQ[12]_0|Q4_X|Q8_KV|Q[1-8]_[01]|Q[2-8]_K(?:_(?:XXL|XL|XXS|XS|L|M|S|P))?"
    r"|IQ[1-6]_(?:NL_XL|NL|XXS|XS|S|M|KSS|KS|KT|KL|K|BN)|I2_S|MXFP4_MOE|MXFP4|NVFP4|ROCMFP4"
)
# ``i1-`` says how a file was made, as others do not; it is no part of the label.
_LABEL = re.compile(
    rf"(?<![A-Za-z0-9])(?:(?P<prefix>UD[-_]|smol-)|i1-)?"
    rf"(?P<label>(?:{_FLOAT}|{_QUANT})(?:_R(?:4|8|16))?)(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_ALSO_CALLED = {"Q3_K": "Q3_K_M", "Q4_K": "Q4_K_M", "Q5_K": "Q5_K_M"}
"""Short names of quantizations (llama.cpp's ``tools/quantize/quantize.cpp``)."""
_ALSO_CALLED |= {"MXFP4": "MXFP4_MOE", "MXFP4_MOE": "MXFP4"}
_FORK = "Only a modified llama.cpp can run this quantization."
_REFUSED = (
    (r"Q4_0_[48]_[48]", "The engine no longer runs this quantization; Q4_0 took its place."),
    (r"smol-.*|IQ\d_(?:K.*|BN)|.*_R(?:4|8|16)|Q4_X|Q6_0|Q8_KV", _FORK),
    (r"PTQ.*|ROCMFP4|I2_S", _FORK),
)
"""Labels of files that llama.cpp refuses: types it has removed, and those of forks."""
_SHARD = re.compile(r"-(?P<number>\d{5})-of-(?P<total>\d{5})$")
_MOST_SHARDS = 5000
"""One tensor per file makes the largest sets, of 1,148 files and more; of a number far beyond, the
name is only a name."""
_PARAMETERS = re.compile(
    r"(?<![A-Za-z0-9.])(\d{1,4}(?:\.\d{1,3})?)([BM])(?![A-Za-z0-9])", re.IGNORECASE
)
_UNITS = {"B": 10**9, "M": 10**6}
_NO_NAME = re.compile(r"(?:sha256-?)?[0-9a-f]{16,}|(?:ggml-)?model|gguf|", re.IGNORECASE)

# fmt: off
FILE_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K",
    11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S",
    17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS",
    23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S",
    29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0",
    38: "MXFP4_MOE", 39: "NVFP4", 40: "Q1_0", 41: "Q2_0",
}
"""Labels by ``general.file_type`` (llama.cpp's ``enum llama_ftype``)."""
# fmt: on


@dataclass(frozen=True)
class Shard:
    """The place of one file in a set: ``stem-00001-of-00003.gguf``."""

    stem: str
    number: int
    total: int


def quantization(name: str) -> str | None:
    """The quantization label in a file's or folder's name, as ``Q4_K_M``; None if it has none.

    The last label counts; only in a pair such as ``MXFP4_MOE-BF16`` the second names what the
    few other tensors are stored in.
    """
    found = _labels(name)
    if not found:
        return None
    last = found[-1]
    if len(found) > 1 and found[-2].end() + 1 == last.start() and is_float(last["label"].upper()):
        last = found[-2]
    prefix, label = (last["prefix"] or "").lower(), last["label"].upper()
    return ("UD-" if prefix.startswith("ud") else prefix) + re.sub("^FP", "F", label)


def quantization_at(path: PurePath) -> str | None:
    """The label in a file's name, or else in the name of its folder."""
    return quantization(path.name) or quantization(path.parent.name)


def meant(asked: str, labels: Iterable[str | None]) -> str | None:
    """The one of these labels that a person asks for, in any letter case; None if none of them.

    ``i1-Q4_K_M`` is ``Q4_K_M``, which is ``UD-Q4_K_M`` only where there is no ``Q4_K_M``; in the
    same way ``Q4_K`` is ``Q4_K_M``.
    """
    wanted = quantization(asked) if _LABEL.fullmatch(asked) else None
    there = frozenset(labels)
    if wanted is None:
        return None
    names = [name for name in (wanted, _ALSO_CALLED.get(wanted)) if name]
    return next(
        (label for label in (*names, *(f"UD-{name}" for name in names)) if label in there), None
    )


@lru_cache(maxsize=256)
def bits(label: str | None) -> int | None:
    """Bits per weight that a label names: 4 of ``Q4_K_M``; None if it names none."""
    known = quantization(label or "")  # numbers in a file's own name are no bits
    return int(re.findall(r"\d+", known)[0]) if known else None


def is_float(label: str | None) -> bool:
    """Whether a label is of weights that were not quantized."""
    return re.fullmatch(_FLOAT, label or "") is not None


def refusal(label: str | None) -> str | None:
    """One sentence: why the engine refuses files with this label; None if it does not."""
    return next((why for pattern, why in _REFUSED if re.fullmatch(pattern, label or "")), None)


def parameters(name: str) -> int | None:
    """The parameters that a model's name claims, as ``27B`` and ``450M`` do (``E4B`` has more)."""
    found = (float(number) * _UNITS[unit.upper()] for number, unit in _PARAMETERS.findall(name))
    return round(max(found, default=0)) or None


def quantization_of(header: Header) -> str | None:
    """The label of a file: by its name, its folder's, what its header says, or its tensors."""
    path = header.path
    label = quantization_at(path)
    number = header.integer("general.file_type")
    return label or FILE_TYPES.get(-1 if number is None else number) or _commonest_type(header)


def _commonest_type(header: Header) -> str | None:
    """The type that most bytes of the tensors have, if it is one that names a quantization."""
    sizes: Counter[str] = Counter()
    for tensor in header.tensors:
        sizes[tensor.type] += tensor.bytes
    return next((quantization(name) for name, _ in sizes.most_common(1)), None)


def shard_of(name: str) -> Shard | None:
    """The place of a file in a set of shards; None for a file that is whole."""
    match = _SHARD.search(_without_suffix(name))
    if not match:
        return None
    number, total = int(match["number"]), int(match["total"])
    if not 1 <= number <= total <= _MOST_SHARDS:
        return None
    return Shard(_without_suffix(name)[: match.start()], number, total)


def model_stem(name: str) -> str:
    """A file's name without suffix, shard number and quantization."""
    shard = shard_of(name)
    stem = shard.stem.removesuffix("-split") if shard else _without_suffix(name)
    for match in reversed(_labels(stem)):
        stem = stem[: match.start()].rstrip("-._ ") + stem[match.end() :]
    return stem.strip("-._ ")


def display_name(path: Path, header: Header) -> str:
    """A model's name for people, with its quantization: ``Qwen3.8 27B Q4_K_M``.

    File names tell models apart better than ``general.name`` does, which serves where the file
    has no name of its own.
    """
    stem = model_stem(path.name)
    if _NO_NAME.fullmatch(stem):
        stem = header.text("general.name") or stem
    words = re.sub(r"[-_\s]+", " ", stem).strip()
    return printable(" ".join(filter(None, (words, quantization_of(header)))) or path.name)


def _labels(name: str) -> list[re.Match[str]]:
    return list(_LABEL.finditer(name))


def _without_suffix(name: str) -> str:
    return name[:-5] if name.lower().endswith(".gguf") else name
