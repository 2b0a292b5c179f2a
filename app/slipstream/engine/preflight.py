"""What can be known before an engine starts: wrong files, and too little memory."""

import contextlib
from pathlib import Path

from slipstream.drafters.identify import FileRole, role_of
from slipstream.engine.config import LaunchConfig
from slipstream.errors import Fact, SlipstreamError
from slipstream.paths import is_text, printable
from slipstream.planning.computer import Computer
from slipstream.planning.formula import predict
from slipstream.planning.model import Model, model_of
from slipstream.weights.header import Header
from slipstream.weights.shards import read_model, shards, size_of
from slipstream.words import count, size

_DRAFTER_ACTION = "Open the model it belongs to; the drafter is then used automatically."
_DRAFTERS = {
    FileRole.MTP: "the MTP head of a model",
    FileRole.GEMMA4_ASSISTANT: "an assistant that drafts for Gemma 4",
    FileRole.DFLASH: "a DFlash drafter",
    FileRole.DFLASH2: "a DFlash drafter",
    FileRole.DSPARK: "a DSpark drafter",
    FileRole.EAGLE3: "an EAGLE-3 drafter",
    FileRole.FORK_DRAFTER: "a drafter for a modified llama.cpp",
}
_WIDTHS = (
    "attention.key_length",
    "attention.value_length",
    "embedding_length",
    "ssm.inner_size",
    "ssm.state_size",
)
"""Numbers that are a dimension of some tensor; memory for them is taken before that is checked."""
_WHOLE_KV_TYPES = frozenset({"f32", "f16", "bf16"})
"""Types of the KV cache that are not quantized: llama.cpp computes with these in any way."""
_OTHERS = {
    FileRole.PROJECTOR: ("a projector, which lets a model read images", "Open its model instead."),
    FileRole.IMATRIX: ("a table used to make quantizations", "Choose a model file."),
    FileRole.ADAPTER: ("an adapter, which changes a model", "Open the model that it changes."),
    FileRole.VOCABULARY: ("only a vocabulary", "Choose a model file."),
}


def check_files(model: Path, target: Header) -> None:
    """Refuse a file that cannot answer as a model.

    Args:
        model: the file that was chosen.
        target: its header.

    Raises: SlipstreamError: ``unusable_name``, ``not_a_model``, ``damaged_file``.
    """
    _refuse_unusable_name(model)
    _refuse_later_shard(model)
    _refuse_other_roles(target)
    if target.missing_bytes:
        reason = f"is incomplete: {size(target.missing_bytes)} are missing"
        raise _damaged(target, reason, missing=target.missing_bytes)
    _refuse_impossible(target)


def check_settings(config: LaunchConfig) -> None:
    """Refuse settings that exclude each other.

    Args:
        config: what would run.

    Raises: SlipstreamError ``setting_conflict``.
    """
    if config.flash_attention == "off" and config.kv_type not in _WHOLE_KV_TYPES:
        raise SlipstreamError(
            "setting_conflict",
            f"The type of the context's memory, {config.kv_type}, needs flash attention, which is"
            " off.",
            facts={"kv_type": config.kv_type, "flash_attention": config.flash_attention},
            action="Set “Flash attention” to “Automatic” in the settings of the model.",
        )


def check_memory(config: LaunchConfig, computer: Computer) -> None:
    """Refuse a launch whose files are larger than all memory there is.

    Between what is free and what there is in all, an engine may well run: it reads weights from
    the disk as it needs them, and other programs give way.

    Args:
        config: what would run.
        computer: where; memory of 0 in all means unknown and refuses nothing.

    Raises: SlipstreamError ``model_too_large``.
    """
    files = [file for file in (config.model, config.spec.drafter, config.projector) if file]
    needed = sum(map(size_of, files))
    if computer.memory.total == 0 or needed <= computer.total:
        return
    names = " with ".join(printable(file.name) for file in files)
    raise SlipstreamError(
        "model_too_large",
        f"{names} needs {size(needed)} of memory, and this computer has"
        f" {size(computer.total)} in all.",
        facts={
            "path": str(config.model),
            "needed": needed,
            "free": computer.free,
            "total": computer.total,
        },
        action="Choose a smaller quantization or a smaller model.",
    )


def check_context(config: LaunchConfig, target: Header, computer: Computer) -> None:
    """Refuse a launch whose context alone is larger than all memory there is.

    It cannot be read from the disk when it is needed, as weights can.

    Args:
        config: what would run.
        target: the model's header.
        computer: where; memory of 0 in all means unknown and refuses nothing.

    Raises: SlipstreamError ``not_enough_memory``.
    """
    planned = predict(model_of(target), config.setup, drafter=_drafter(config))
    shares = (*planned.target.values(), *planned.drafter.values())
    needed = sum(share.context + share.compute for share in shares)
    if computer.memory.total == 0 or needed <= computer.total:
        return
    raise SlipstreamError(
        "not_enough_memory",
        f"{count(config.context)} tokens of context need about {size(needed)} of memory with"
        f" {printable(config.model.name)}, and this computer has {size(computer.total)} in all.",
        facts={"path": str(config.model), "needed": needed, "total": computer.total},
        action="Choose less context.",
    )


def _drafter(config: LaunchConfig) -> Model | None:
    """The drafter's file; None also if it cannot be read, which the engine will tell."""
    if config.spec.drafter is not None:
        with contextlib.suppress(SlipstreamError):
            return model_of(read_model(config.spec.drafter))
    return None


def _refuse_unusable_name(path: Path) -> None:
    if not is_text(path):
        raise SlipstreamError(
            "unusable_name",
            "The name of this file, or of a folder around it, is not valid text.",
            facts={"path": printable(path)},
            action="Rename it.",
        )


def _refuse_impossible(header: Header) -> None:
    """Refuse numbers that would crash the engine instead of being refused by it."""
    layers, context = header.number("block_count"), header.number("context_length")
    widest = max((size for tensor in header.tensors for size in tensor.shape), default=0)
    wide = max((header.number(name) or 0 for name in _WIDTHS), default=0)
    head = header.number("nextn_predict_layers") or 0
    problem = None
    if layers is not None and not 1 <= layers <= len(header.tensors):
        problem = f"it claims to have {layers:,} layers, and has {len(header.tensors):,} tensors"
    elif head and not 0 < head < header.layers:
        problem = f"it claims to have an MTP head of {head:,} layers"
    elif context is not None and context < 2:
        problem = f"it claims to have a context of {context} tokens"
    elif wide > widest:
        problem = f"it claims to be {wide:,} values wide, and its widest tensor has {widest:,}"
    if problem:
        raise _damaged(header, f"is damaged: {problem}")


def _damaged(header: Header, reason: str, **facts: Fact) -> SlipstreamError:
    return SlipstreamError(
        "damaged_file",
        f"{printable(header.path.name)} {reason}.",
        facts={"path": str(header.path), **facts},
        action="Download it again.",
    )


def _refuse_later_shard(path: Path) -> None:
    first = shards(path)[0]
    if first != path:
        raise SlipstreamError(
            "not_a_model",
            f"{printable(path.name)} is a later part of a model.",
            facts={"path": str(path)},
            action=f"Open the first part, {printable(first.name)}.",
        )


def _refuse_other_roles(header: Header) -> None:
    role = role_of(header)
    if role is FileRole.TARGET:
        return
    what, action = _OTHERS.get(role) or (_DRAFTERS[role], _DRAFTER_ACTION)
    raise SlipstreamError(
        "not_a_model",
        f"{printable(header.path.name)} is {what}, not a model that can answer by itself.",
        facts={"path": str(header.path), "role": role.value},
        action=action,
    )
