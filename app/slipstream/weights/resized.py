"""The header of a quantization of which only name and size are known, from that of another one."""

import dataclasses
from math import prod
from pathlib import Path

from slipstream.weights.header import Header
from slipstream.weights.parser import Tensor
from slipstream.weights.tensor_types import TENSOR_TYPES, TensorType

_TYPES = {kind.name: kind for kind in TENSOR_TYPES.values()}
_SHAPED = 2
"""Dimensions of what is quantized; vectors never are."""


def resized(header: Header, path: Path, file_bytes: int, label: str | None) -> Header:
    """A header as a file of this quantization and size would have it, of the same model.

    Vectors stay as they are; matrices are of the type that the label names, and shrink or grow
    alike from what that would take: their sum is right, each of them is an estimate.

    Args:
        header: of a whole model.
        path: of the first of the files it stands for.
        file_bytes: of all of them.
        label: of their quantization; None leaves the types.
    """
    kind = named_by(label)
    tensors = [_as(tensor, kind) if kind else tensor for tensor in header.tensors]
    matrices = sum(tensor.bytes for tensor in tensors if _is_matrix(tensor))
    vectors = sum(tensor.bytes for tensor in tensors) - matrices
    wanted = max(0, file_bytes - header.data_start - vectors)
    done = placed = 0
    for number, tensor in enumerate(tensors):
        if _is_matrix(tensor):
            done += tensor.bytes
            end = wanted * done // max(1, matrices)  # the rounding of each goes to the next
            tensors[number] = dataclasses.replace(tensor, bytes=end - placed)
            placed = end
    return dataclasses.replace(
        header,
        path=path,
        tensors=tuple(tensors),
        data_end=file_bytes,
        file_bytes=file_bytes,
        missing_bytes=0,
    )


def named_by(label: str | None) -> TensorType | None:
    """The type that most tensors of a quantization have: Q4_K of "UD-Q4_K_XL"."""
    name = (label or "").removeprefix("UD-")
    fitting = [kind for kind in _TYPES if name == kind or name.startswith(f"{kind}_")]
    return _TYPES[max(fitting, key=len)] if fitting else None


def _as(tensor: Tensor, kind: TensorType) -> Tensor:
    """A tensor in another type; rows that do not divide into its blocks stay as they are."""
    if not _is_matrix(tensor) or tensor.shape[0] % kind.block:
        return tensor
    size = prod(tensor.shape) // kind.block * kind.bytes
    return dataclasses.replace(tensor, type=kind.name, bytes=size)


def _is_matrix(tensor: Tensor) -> bool:
    return len(tensor.shape) >= _SHAPED
