"""What role a GGUF file plays, told from its header alone.

Rules: the converters and loaders of llama.cpp (``gguf-py/gguf/constants.py``, ``src/models``).
"""

import re
from enum import StrEnum
from pathlib import Path

from slipstream.weights.header import TOKENS, Header


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

_BY_WORD = {
    "dflash": FileRole.DFLASH,
    "dflash2": FileRole.DFLASH2,
    "dspark": FileRole.DSPARK,
    "eagle3": FileRole.EAGLE3,
}
# Models with a head of their own have these in their names, too; only drafters begin with them.
_BY_FIRST_WORD = {"mtp": FileRole.MTP, "nextn": FileRole.MTP}


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


def role_by_name(path: Path) -> FileRole:
    """The likely role of a file whose header cannot be read, by its name or its folder's."""
    words = re.split(r"[-_.\s]+", path.stem.lower())
    folder = path.parent.name.lower()
    found = [_BY_WORD[word] for word in (*words, folder) if word in _BY_WORD]
    found += [_BY_FIRST_WORD[word] for word in (words[0], folder) if word in _BY_FIRST_WORD]
    return found[0] if found else FileRole.TARGET


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
