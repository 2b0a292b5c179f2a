"""Write model files that are all header: ``header_only.py OUT [MODEL...] [--quant LABEL ...]``.

Keys and tensor table are complete, the tensors themselves are a hole in a sparse file, so that a
model of hundreds of gigabytes takes a few kilobytes on disk. An engine can lay such a file out and
a planner can read it; nothing can run it. The dimensions are those of ``architectures.json``.
"""

import argparse
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFWriter

from architectures import Facts, Key, TensorShape, facts_of, models

Type = GGMLQuantizationType

_ALIGNMENT = 32
_KEPT_WHOLE = (
    *("_norm.weight", "ffn_gate_inp", "conv1d", "shortconv.conv", "ssm_a", "ssm_d", "_lerp_"),
    *("_bias", ".bias", "time_mix_w", "altup_"),
)
"""Parts of names of tensors that converters keep in F32 although they have two dimensions."""
_OUTPUT = "output.weight"
_EMBEDDING = "token_embd.weight"
_GIVEN_MORE = ("attn_v.weight", "ffn_down.weight", "ffn_down_exps.weight")


@dataclass(frozen=True)
class Mix:
    """The element types of one quantization.

    Attributes:
        most: of most tensors.
        more: of values and ``ffn_down`` in every third block, and in the first and last ones.
        output: of the output, or of the token embeddings if they serve as it.
        experts: of the experts.
    """

    most: Type
    more: Type
    output: Type
    experts: Type | None = None


def _alone(kind: Type) -> Mix:
    return Mix(kind, kind, kind)


# fmt: off
MIXES = {
    "F32": _alone(Type.F32), "F16": _alone(Type.F16), "BF16": _alone(Type.BF16),
    "Q8_0": _alone(Type.Q8_0), "Q6_K": _alone(Type.Q6_K),
    "Q5_K_M": Mix(Type.Q5_K, Type.Q6_K, Type.Q6_K), "Q5_K_S": Mix(Type.Q5_K, Type.Q5_K, Type.Q6_K),
    "Q5_1": Mix(Type.Q5_1, Type.Q5_1, Type.Q6_K), "Q5_0": Mix(Type.Q5_0, Type.Q5_0, Type.Q6_K),
    "UD-Q4_K_XL": Mix(Type.Q4_K, Type.Q6_K, Type.Q8_0),
    "Q4_K_M": Mix(Type.Q4_K, Type.Q6_K, Type.Q6_K), "Q4_K_S": Mix(Type.Q4_K, Type.Q5_K, Type.Q6_K),
    "Q4_1": Mix(Type.Q4_1, Type.Q4_1, Type.Q6_K), "Q4_0": Mix(Type.Q4_0, Type.Q4_0, Type.Q6_K),
    "MXFP4_MOE": Mix(Type.Q8_0, Type.Q8_0, Type.Q8_0, Type.MXFP4),
    "IQ4_NL": Mix(Type.IQ4_NL, Type.Q5_K, Type.Q6_K),
    "IQ4_XS": Mix(Type.IQ4_XS, Type.Q5_K, Type.Q6_K),
    "Q3_K_L": Mix(Type.Q3_K, Type.Q5_K, Type.Q6_K), "Q3_K_M": Mix(Type.Q3_K, Type.Q4_K, Type.Q6_K),
    "Q3_K_S": _alone(Type.Q3_K), "IQ3_M": Mix(Type.IQ3_S, Type.Q4_K, Type.Q6_K),
    "IQ3_S": Mix(Type.IQ3_S, Type.IQ3_S, Type.Q6_K),
    "IQ3_XXS": Mix(Type.IQ3_XXS, Type.IQ3_S, Type.Q5_K),
    "Q2_K": Mix(Type.Q2_K, Type.Q3_K, Type.Q6_K), "Q2_K_S": Mix(Type.Q2_K, Type.Q2_K, Type.Q5_K),
    "IQ2_M": Mix(Type.IQ2_S, Type.IQ3_S, Type.Q5_K),
    "IQ2_S": Mix(Type.IQ2_XS, Type.IQ2_S, Type.Q5_K),
    "IQ2_XS": Mix(Type.IQ2_XS, Type.Q2_K, Type.Q5_K),
    "IQ2_XXS": Mix(Type.IQ2_XXS, Type.Q2_K, Type.Q5_K),
    "IQ1_M": Mix(Type.IQ1_M, Type.Q2_K, Type.Q5_K), "IQ1_S": Mix(Type.IQ1_S, Type.Q2_K, Type.Q5_K),
}
"""Plausible, by the rules of ``llama_tensor_get_type`` in llama.cpp's ``src/llama-quant.cpp``."""
_ROW_TOO_SHORT = {
    Type.Q6_K: Type.Q8_0, Type.Q5_K: Type.Q5_1, Type.Q4_K: Type.Q5_0, Type.Q3_K: Type.IQ4_NL,
    Type.Q2_K: Type.IQ4_NL, Type.IQ4_XS: Type.IQ4_NL, Type.IQ3_S: Type.IQ4_NL,
    Type.IQ3_XXS: Type.IQ4_NL, Type.IQ2_S: Type.IQ4_NL, Type.IQ2_XS: Type.IQ4_NL,
    Type.IQ2_XXS: Type.IQ4_NL, Type.IQ1_M: Type.IQ4_NL, Type.IQ1_S: Type.IQ4_NL,
}
"""What is taken instead for rows that are not whole blocks of 256 values."""
# fmt: on


def write_model(folder: Path, name: str, quant: str = "Q8_0") -> Path:
    """Write one file.

    Args:
        folder: where; it is made if it is missing.
        name: of a model that ``architectures.json`` knows.
        quant: the label of a quantization, which also ends the file's name.

    Returns: the file: ``FOLDER/NAME-LABEL.gguf``.
    Raises: KeyError, if the model or the label is not known.
    """
    facts, mix = facts_of(name), MIXES[quant]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{quant}.gguf"
    writer = GGUFWriter(path, facts.architecture)
    for key, value in _keys(facts):
        _add_key(writer, key, value)
    data = 0
    for tensor in facts.tensors():
        kind = _type_of(tensor, mix, facts)
        size = _bytes(tensor.shape, kind)
        float_type = np.dtype("float32")
        writer.add_tensor_info(tensor.name, list(tensor.shape), float_type, size, raw_dtype=kind)
        data += _aligned(size)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    writer.close()
    os.truncate(path, _aligned(path.stat().st_size) + data)
    return path


def _keys(facts: Facts) -> Iterator[tuple[str, Key]]:
    yield "general.name", facts.name
    yield "tokenizer.ggml.model", "no_vocab"
    yield f"{facts.architecture}.vocab_size", facts.vocabulary
    for key, value in facts.keys.items():
        yield f"{facts.architecture}.{key}", value


def _add_key(writer: GGUFWriter, key: str, value: Key) -> None:
    match value:
        case bool():
            writer.add_bool(key, value)
        case int():
            writer.add_uint32(key, value)
        case float():
            writer.add_float32(key, value)
        case str():
            writer.add_string(key, value)
        case _:
            writer.add_array(key, value)


def _type_of(tensor: TensorShape, mix: Mix, facts: Facts) -> Type:
    if len(tensor.shape) == 1 or any(part in tensor.name for part in _KEPT_WHOLE):
        return Type.F32
    wanted = _wanted_type(tensor, mix, facts)
    for kind in (wanted, _ROW_TOO_SHORT.get(wanted, wanted)):
        if tensor.shape[-1] % GGML_QUANT_SIZES[kind][0] == 0:
            return kind
    return Type.F32


def _wanted_type(tensor: TensorShape, mix: Mix, facts: Facts) -> Type:
    if tensor.name == (_EMBEDDING if facts.tied else _OUTPUT):
        return mix.output
    if mix.experts is not None and "_exps." in tensor.name:
        return mix.experts
    if tensor.name.endswith(_GIVEN_MORE) and _gets_more(tensor.block, facts.blocks):
        return mix.more
    return mix.most


def _gets_more(block: int | None, blocks: int) -> bool:
    """Whether a block's more important tensors are stored in more bits (``use_more_bits``)."""
    if block is None:
        return False
    eighth = blocks // 8
    return block < eighth or block >= 7 * blocks // 8 or (block - eighth) % 3 == 2


def _bytes(shape: Sequence[int], kind: Type) -> int:
    values, size = GGML_QUANT_SIZES[kind]
    return math.prod(shape) // values * size


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def main() -> None:
    parser = argparse.ArgumentParser(description="Write model files that are all header.")
    parser.add_argument("out", type=Path)
    parser.add_argument("model", nargs="*", help="default: all of them")
    parser.add_argument("--quant", nargs="+", default=["Q8_0"], choices=MIXES, metavar="LABEL")
    args = parser.parse_args()
    for name in args.model or models():
        for quant in args.quant:
            print(write_model(args.out, name, quant))


if __name__ == "__main__":
    main()
