"""What the name of a model file says: its quantization, its place in a set, a name for people."""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from slipstream.weights.header import Header

# llama.cpp's own labels, the name-only mixes of unsloth, bartowski and mradermacher, and those of
# forks. The longer of two labels that start alike comes first.
_FLOAT = r"BF16|F16|F32"
_QUANT = (
    r"Q4_0_[48]_[48]|P?TQ[12]_0|Q4_X|Q[1-8]_[01]|Q[2-8]_K(?:_(?:XXL|XL|XXS|XS|L|M|S))?"
    r"|IQ[1-6]_(?:NL_XL|NL|XXS|XS|S|M|KSS|KS|KT|KL|K)|MXFP4_MOE|MXFP4|NVFP4|ROCMFP4"
)
_LABEL = re.compile(
    rf"(?<![A-Za-z0-9])(?P<prefix>UD-|i1-|smol-)?"
    rf"(?P<label>{_FLOAT}|(?:{_QUANT})(?:_R[48])?)(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_SHARD = re.compile(r"-(?P<number>\d{5})-of-(?P<total>\d{5})$")
_MOST_SHARDS = 1000
"""The largest known sets have some 200 files; of a number beyond, the name is only a name."""
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
    """The quantization label in a file's or folder's name; None if it has none.

    The last label counts; only in a pair such as ``MXFP4_MOE-BF16`` the second names what the
    few other tensors are stored in.
    """
    found = _labels(name)
    if not found:
        return None
    last = found[-1]
    if len(found) > 1 and found[-2].end() + 1 == last.start() and _is_float(last):
        last = found[-2]
    prefix, label = (last["prefix"] or "").lower(), last["label"].upper()
    return ("UD-" if prefix == "ud-" else prefix) + label


def quantization_of(header: Header) -> str | None:
    """The label of a file: by its name, its folder's, what its header says, or its tensors."""
    path = header.path
    label = quantization(path.name) or quantization(path.parent.name)
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
    return " ".join(filter(None, (words, quantization_of(header)))) or path.name


def _labels(name: str) -> list[re.Match[str]]:
    return list(_LABEL.finditer(name))


def _is_float(match: re.Match[str]) -> bool:
    return re.fullmatch(_FLOAT, match["label"], re.IGNORECASE) is not None


def _without_suffix(name: str) -> str:
    return name[:-5] if name.lower().endswith(".gguf") else name
