"""A quantization of which only name and size are known, from the header of another one."""

import dataclasses
from functools import cached_property
from math import prod
from pathlib import Path

from slipstream.weights.header import Header
from slipstream.weights.parser import Tensor
from slipstream.weights.sizes import TensorBytes, tensor_bytes
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


class Resizer:
    """Tells the bytes of many quantizations of one model as ``resized`` does, without a tensor
    table for each.

    Args:
        header: of a whole model.

    Raises: SlipstreamError ``impossible_shape``.
    """

    def __init__(self, header: Header) -> None:
        self._header = header
        self._vectors = tensor_bytes(header, lambda one: 0 if _is_matrix(one) else one.bytes)

    @cached_property
    def _matrices(self) -> TensorBytes:
        return tensor_bytes(self._header, lambda one: one.bytes if _is_matrix(one) else 0)

    @cached_property
    def _elements(self) -> TensorBytes:
        return tensor_bytes(self._header, lambda one: prod(one.shape) if _is_matrix(one) else 0)

    def sizes(self, file_bytes: int, label: str | None) -> TensorBytes:
        """The bytes of a quantization's tensors.

        Args:
            file_bytes: of all its files.
            label: of it; its matrices share what there is by their elements, or as they do in the
                header where nothing is known by that name.
        """
        kind = named_by(label)
        shares = self._elements if kind else self._matrices
        wanted = max(0, file_bytes - self._header.data_start - self._vectors.total)
        each = wanted / max(1, shares.total)
        vectors = self._vectors

        def alike(fixed: tuple[int, ...], shared: tuple[int, ...]) -> tuple[int, ...]:
            return tuple([one + int(each * more) for one, more in zip(fixed, shared, strict=True)])

        def larger(fixed: tuple[int, ...], shared: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(
                [max(one, int(each * more)) for one, more in zip(fixed, shared, strict=True)]
            )

        return TensorBytes(
            looked_up=vectors.looked_up + int(each * shares.looked_up),
            blocks=alike(vectors.blocks, shares.blocks),
            experts=alike(vectors.experts, shares.experts),
            output=vectors.output + int(each * shares.output),
            embedding=vectors.embedding + int(each * shares.embedding),
            tied=vectors.tied,
            exact=vectors.exact,
            embedding_type=kind.name if kind else vectors.embedding_type,
            largest=larger(vectors.largest, shares.largest),
            largest_experts=larger(vectors.largest_experts, shares.largest_experts),
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
