"""What role a GGUF file plays: its header tells, its name lets one guess.

Rules of the headers: the converters and loaders of llama.cpp (``gguf-py/gguf/constants.py``,
``src/models``).
"""

import re
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from pathlib import PurePath

from slipstream.drafters.kinds import DrafterKind
from slipstream.weights.header import TOKENS, Header
from slipstream.weights.names import is_float, model_stem, quantization


class FileRole(StrEnum):
    """What a file is for."""

    TARGET = "target"
    MTP = "mtp"
    GEMMA4_ASSISTANT = "gemma4_assistant"
    DFLASH = "dflash"
    DFLASH2 = "dflash2"
    DSPARK = "dspark"
    EAGLE3 = "eagle3"
    FORK_DRAFTER = "fork_drafter"
    PROJECTOR = "projector"
    IMATRIX = "imatrix"
    ADAPTER = "adapter"
    VOCABULARY = "vocabulary"


_BY_TYPE = {
    "imatrix": FileRole.IMATRIX,
    "adapter": FileRole.ADAPTER,
    "mmproj": FileRole.PROJECTOR,
    "vocab": FileRole.VOCABULARY,
}
_BY_ARCHITECTURE = {
    "clip": FileRole.PROJECTOR,
    "controlvector": FileRole.ADAPTER,
    "eagle3": FileRole.EAGLE3,
    "gemma4-assistant": FileRole.GEMMA4_ASSISTANT,
    # Written by forks of llama.cpp; upstream refuses to load them.
    "gemma4_assistant": FileRole.FORK_DRAFTER,
    "gemma4_mtp": FileRole.FORK_DRAFTER,
    "dflash-draft": FileRole.FORK_DRAFTER,
    "gemma4-dflash-draft": FileRole.FORK_DRAFTER,
    "deepseek4-dflash-draft": FileRole.FORK_DRAFTER,
}

KINDS = {
    FileRole.MTP: DrafterKind.MTP,
    FileRole.GEMMA4_ASSISTANT: DrafterKind.MTP,
    FileRole.DSPARK: DrafterKind.DSPARK,
    FileRole.DFLASH: DrafterKind.DFLASH,
    FileRole.DFLASH2: DrafterKind.DFLASH,
    FileRole.EAGLE3: DrafterKind.EAGLE3,
}
"""How a file of each role drafts, the kinds in the order of llama.cpp's preference."""


class Doubt(Enum):
    """When a file that is named like a drafter or an adapter may be a model after all."""

    NONE = auto()
    ALONE = auto()
    """Where no other file can be the model it would belong to."""
    BESIDE = auto()
    """Also beside the model: models with a head inside are named so, too."""


@dataclass(frozen=True)
class NameGuess:
    """What a file is by its name: ``role``, or a model."""

    role: FileRole
    doubt: Doubt = Doubt.NONE


_FOLDERS = {
    "mtp": FileRole.MTP,
    "nextn": FileRole.MTP,
    "dflash": FileRole.DFLASH,
    "dflash2": FileRole.DFLASH2,
    "dspark": FileRole.DSPARK,
    "eagle3": FileRole.EAGLE3,
    "speculator": FileRole.EAGLE3,
    "speculators": FileRole.EAGLE3,
    "mmproj": FileRole.PROJECTOR,
    "imatrix": FileRole.IMATRIX,
    "lora": FileRole.ADAPTER,
}
_MODEL = NameGuess(FileRole.TARGET)
# What a name looks like without suffix, shard number and quantization, its words joined by "-"; the
# first that fits counts. "<" and ">" stand for the borders of a word. A prefix in small letters was
# set by a tool; with a capital it may begin a model's own name.
_NAMES = tuple(
    (re.compile(pattern.replace("<", r"(?<![A-Za-z0-9])").replace(">", r"(?![A-Za-z0-9])")), guess)
    for pattern, guess in (
        (r"(?i)mm-?proj|<vision-projector>", NameGuess(FileRole.PROJECTOR)),
        (r"(?i)^imatrix>", NameGuess(FileRole.IMATRIX)),
        (
            r"(?i)^(?:tokenizer|vocoder|audiodecoder|wavtokenizer|ggml-vocab)>",
            NameGuess(FileRole.VOCABULARY),
        ),
        (r"^(?:mtp|nextn)>|^(?i:mtp|nextn)$", NameGuess(FileRole.MTP)),
        (r"(?i)<eagle-?3>", NameGuess(FileRole.EAGLE3)),
        (r"^DSpark-", NameGuess(FileRole.DSPARK, Doubt.ALONE)),
        (r"^DFlash2?-", NameGuess(FileRole.DFLASH, Doubt.ALONE)),
        (r"(?i)<dspark>", NameGuess(FileRole.DSPARK)),
        (r"(?i)<dflash2>", NameGuess(FileRole.DFLASH2)),
        (r"(?i)<dflash>", NameGuess(FileRole.DFLASH)),
        (r"(?i)^(?:mtp|nextn)-", NameGuess(FileRole.MTP, Doubt.ALONE)),
        (r"(?i)<speculators?>", NameGuess(FileRole.EAGLE3, Doubt.ALONE)),
        (r"(?i)<drafter>", NameGuess(FileRole.DFLASH, Doubt.ALONE)),
        (
            r"(?i)<gemma-?4-(?:.*-)?(?:it(?:-.*)?|qat|E?\d+B|A\d+B)-assistant>",
            NameGuess(FileRole.GEMMA4_ASSISTANT),
        ),
        (r"(?i)<gemma-?4>.*<assistant>", NameGuess(FileRole.GEMMA4_ASSISTANT, Doubt.BESIDE)),
        (r"(?i)<(?:mtp|nextn)>", NameGuess(FileRole.MTP, Doubt.BESIDE)),
    )
)
_BITS = re.compile(r"(?i)i?q\d|\d-?bits?")
"""What a folder of one quantization may be called beside its label."""
_IMATRIX = re.compile(r"(?i)-imatrix$")
_ADAPTER = re.compile(r"(?i)^(?:ggml-)?(?:lora|adapter)-|-(?:lora|adapter)$")
"""In the name of a quantized model these two tell how it was made."""


def role_of(header: Header) -> FileRole:
    """The role of a file. Give the header of the whole model where it is split into shards."""
    known = _BY_TYPE.get(header.text("general.type") or "")
    known = known or _BY_ARCHITECTURE.get(header.architecture)
    if known:
        return known
    if header.architecture == "dflash":
        return _dflash_role(header)
    if not header.tensors and not header.integer("split.count"):
        return FileRole.VOCABULARY if TOKENS in header.keys else FileRole.TARGET
    return FileRole.MTP if _is_mtp_alone(header) else FileRole.TARGET


def drafter_kind(header: Header) -> DrafterKind | None:
    """How the file drafts, if it is a drafter, those that only forks of llama.cpp load included."""
    role = role_of(header)
    if role is FileRole.FORK_DRAFTER:
        return DrafterKind.DFLASH if "dflash" in header.architecture else DrafterKind.MTP
    return KINDS.get(role)


def role_by_name(path: PurePath) -> FileRole:
    """The likely role of a file whose header is not known, by its name and its folder's."""
    guess = guess_by_name(path)
    return FileRole.TARGET if guess.doubt is Doubt.BESIDE else guess.role


def guess_by_name(path: PurePath) -> NameGuess:
    """The likely role of a file by its name and its folder's, and how sure that is."""
    guess = _guess(re.sub(r"[-_.\s]+", "-", model_stem(path.name)), quantization(path.name))
    folder = _folder_role(path)
    vague = guess.role in (FileRole.TARGET, FileRole.ADAPTER) or guess.doubt is not Doubt.NONE
    return NameGuess(folder) if folder and vague else guess


def _guess(stem: str, label: str | None) -> NameGuess:
    quantized = label is not None and not is_float(label)
    if _IMATRIX.search(stem) and not quantized:
        return NameGuess(FileRole.IMATRIX)
    found = next((guess for pattern, guess in _NAMES if pattern.search(stem)), _MODEL)
    is_adapter = _ADAPTER.search(stem) and (label == "Q8_0" or not quantized)
    return NameGuess(FileRole.ADAPTER) if found is _MODEL and is_adapter else found


def _folder_role(path: PurePath) -> FileRole | None:
    """What the folder collects; one of a quantization may lie between."""
    folders = (folder.name for folder in path.parents if not _BITS.fullmatch(folder.name))
    names = (model_stem(name).lower() for name in folders)
    return _FOLDERS.get(next(filter(None, names), ""))


def mtp_layers(header: Header) -> int:
    """Layers of the MTP head in this file; 0 if its key or its tensors are missing.

    Quantizers strip the tensors and leave the key, so both are looked at.
    """
    layers = header.number("nextn_predict_layers") or 0
    projection = f"blk.{header.layers - 1}.nextn.eh_proj.weight"
    return layers if layers > 0 and projection in header.by_name else 0


def trunk_layers(header: Header) -> int:
    """Blocks of the model without those of its MTP head."""
    return header.layers - (header.number("nextn_predict_layers") or 0)


def _dflash_role(header: Header) -> FileRole:
    if "markov_w1.weight" in header.by_name:
        return FileRole.DSPARK
    if (header.number("selector_top_k") or 0) > 0 or "selector_hidden.weight" in header.by_name:
        return FileRole.DFLASH2
    return FileRole.DFLASH


def _is_mtp_alone(header: Header) -> bool:
    """Whether the file has an MTP head, and blocks of the trunk are missing."""
    if not mtp_layers(header):
        return False
    return any(str(block) not in header.blocks for block in range(trunk_layers(header)))
