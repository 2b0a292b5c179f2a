"""Makes other files of a GGUF: real shards, and real quantizations."""

import tempfile
from functools import lru_cache
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter, quants

from gguf_files import copy_keys, write_file

_FILE_TYPES = {"F16": 1, "Q4_0": 2}
"""``general.file_type`` (llama.cpp's ``enum llama_ftype``)."""


@lru_cache(maxsize=8)
def shards(source: Path, tensors: int) -> tuple[bytes, ...]:
    """A model in several files as llama.cpp's gguf-split makes them: all keys in the first.

    Args:
        source: a whole model.
        tensors: most of them in one file.
    """
    reader = GGUFReader(source)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.gguf")
        writer = GGUFWriter(path, _architecture(reader), split_max_tensors=tensors)
        copy_keys(reader, writer, {})
        for tensor in reader.tensors:
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
        write_file(writer)
        return tuple(file.read_bytes() for file in sorted(Path(folder).iterdir()))


@lru_cache(maxsize=8)
def quantized(source: Path, quant: str) -> bytes:
    """A model whose quantized tensors are stored in another type.

    Args:
        source: a whole model in Q8_0.
        quant: ``F16`` or ``Q4_0``.
    """
    reader, kind = GGUFReader(source), GGMLQuantizationType[quant]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.gguf")
        writer = GGUFWriter(path, _architecture(reader))
        copy_keys(reader, writer, {"general.file_type": _FILE_TYPES[quant]})
        for tensor in reader.tensors:
            if tensor.tensor_type == GGMLQuantizationType.Q8_0:
                values = quants.dequantize(tensor.data, tensor.tensor_type)
                data = quants.quantize(np.ascontiguousarray(values), kind)
                writer.add_tensor(tensor.name, data, raw_dtype=kind)
            else:
                writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
        write_file(writer)
        return path.read_bytes()


def _architecture(reader: GGUFReader) -> str:
    field = reader.get_field("general.architecture")
    return str(field.contents()) if field else ""
