"""The header of a quantization of which only the size is known, from that of another one."""

import dataclasses
from pathlib import Path

from slipstream.weights.header import Header
from slipstream.weights.parser import Tensor


def resized(header: Header, path: Path, file_bytes: int) -> Header:
    """A header as a file of this size would have it, of the same model in another quantization.

    Vectors stay as they are, matrices shrink or grow alike: their sum is right, each of them is an
    estimate.

    Args:
        header: of a whole model.
        path: of the first of the files it stands for.
        file_bytes: of all of them.
    """
    matrices = sum(tensor.bytes for tensor in header.tensors if _is_matrix(tensor))
    vectors = sum(tensor.bytes for tensor in header.tensors) - matrices
    wanted = max(0, file_bytes - header.data_start - vectors)
    done = placed = 0
    tensors: list[Tensor] = []
    for tensor in header.tensors:
        if _is_matrix(tensor):
            done += tensor.bytes
            end = wanted * done // max(1, matrices)  # the rounding of each goes to the next
            tensor = dataclasses.replace(tensor, bytes=end - placed)
            placed = end
        tensors.append(tensor)
    return dataclasses.replace(
        header,
        path=path,
        tensors=tuple(tensors),
        data_end=file_bytes,
        file_bytes=file_bytes,
        missing_bytes=0,
    )


def _is_matrix(tensor: Tensor) -> bool:
    return len(tensor.shape) > 1
