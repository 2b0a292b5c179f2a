"""What can be known before an engine starts: wrong files, and too little memory."""

from collections.abc import Sequence
from pathlib import Path

from slipstream.drafters.identify import FileRole, role_of
from slipstream.engine.answers import Device
from slipstream.engine.config import LaunchConfig
from slipstream.errors import SlipstreamError
from slipstream.machine.memory import Memory
from slipstream.weights.header import Header
from slipstream.weights.shards import read_model, shards

_DRAFTER_ACTION = "Open the model it belongs to; the drafter is then used by itself."
_DRAFTERS = {
    FileRole.MTP: "the MTP head of a model",
    FileRole.GEMMA4_ASSISTANT: "an assistant that drafts for Gemma 4",
    FileRole.DFLASH: "a DFlash drafter",
    FileRole.DFLASH2: "a DFlash drafter",
    FileRole.DSPARK: "a DSpark drafter",
    FileRole.EAGLE3: "an EAGLE-3 drafter",
    FileRole.FORK_DRAFTER: "a drafter for a modified llama.cpp",
}
_OTHERS = {
    FileRole.PROJECTOR: ("a projector, which lets a model read images", "Open its model instead."),
    FileRole.IMATRIX: ("a table used to make quantizations", "Choose a model file."),
    FileRole.ADAPTER: ("an adapter, which changes a model", "Open the model that it changes."),
    FileRole.VOCABULARY: ("only a vocabulary", "Choose a model file."),
}
_NOT_DRAFTERS = frozenset(_OTHERS)


def check(config: LaunchConfig, memory: Memory, devices: Sequence[Device] = ()) -> None:
    """Refuse a launch that cannot work.

    Args:
        config: what would run.
        memory: main memory; 0 free means unknown and refuses nothing.
        devices: the engine's devices with the memory that is free now.

    Raises: SlipstreamError: ``not_found``, ``not_a_model``, ``damaged_file``, ``missing_shard``,
        ``drafter_damaged``, ``not_enough_memory``, or what reading a header raises.
    """
    _refuse_later_shard(config.model)
    target = read_model(config.model)
    _refuse_other_roles(target)
    _refuse_truncated(target, "damaged_file", "Download it again.")
    needed = _weights(target)
    if config.spec.drafter is not None:
        drafter = _read_drafter(config.spec.drafter)
        needed += _weights(drafter)
    if config.projector is not None:
        projector = read_model(config.projector)
        _refuse_truncated(projector, "damaged_file", "Download it again.")
        needed += _weights(projector)
    _refuse_too_large(config.model, needed, memory, devices)


def _read_drafter(path: Path) -> Header:
    action = "Download the drafter again, or go without one."
    try:
        drafter = read_model(path)
    except SlipstreamError as error:
        raise SlipstreamError(
            "drafter_damaged",
            f"The drafter cannot be used. {error.message}",
            facts=error.facts,
            action=action,
        ) from error
    if role_of(drafter) in _NOT_DRAFTERS:
        raise SlipstreamError(
            "drafter_mismatch",
            f"{path.name} is {_OTHERS[role_of(drafter)][0]}, not a drafter.",
            facts={"path": str(path)},
            action="Choose another drafter.",
        )
    _refuse_truncated(drafter, "drafter_damaged", action)
    return drafter


def _refuse_later_shard(path: Path) -> None:
    first = shards(path)[0]
    if first != path:
        raise SlipstreamError(
            "not_a_model",
            f"{path.name} is a later part of a model.",
            facts={"path": str(path)},
            action=f"Open the first part, {first.name}.",
        )


def _refuse_other_roles(header: Header) -> None:
    role = role_of(header)
    if role is FileRole.TARGET:
        return
    what, action = _OTHERS.get(role) or (_DRAFTERS[role], _DRAFTER_ACTION)
    raise SlipstreamError(
        "not_a_model",
        f"{header.path.name} is {what}, not a model that can answer by itself.",
        facts={"path": str(header.path), "role": role.value},
        action=action,
    )


def _refuse_truncated(header: Header, code: str, action: str) -> None:
    if header.missing_bytes:
        raise SlipstreamError(
            code,
            f"{header.path.name} is incomplete: {header.missing_bytes:,} bytes are missing.",
            facts={"path": str(header.path), "missing": header.missing_bytes},
            action=action,
        )


def _weights(header: Header) -> int:
    return sum(tensor.bytes for tensor in header.tensors)


def _refuse_too_large(model: Path, needed: int, memory: Memory, devices: Sequence[Device]) -> None:
    on_devices = sum(device.free or 0 for device in devices if not device.unified)
    free = memory.free + on_devices
    if memory.free == 0 or needed <= free:
        return
    raise SlipstreamError(
        "not_enough_memory",
        f"{model.name} does not fit: its weights take {_gb(needed)}, and {_gb(free)} are free.",
        facts={"path": str(model), "needed": needed, "free": free},
        action="Choose a smaller quantization, or close other programs.",
    )


def _gb(size: int) -> str:
    return f"{size / 1e9:.1f} GB"
