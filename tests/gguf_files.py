"""Writes GGUF files for tests: small ones of every role, and raw ones that are wrong on purpose."""

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES, GGUFReader, GGUFValueType, GGUFWriter

from slipstream.paths import resources

DEMO = resources() / "demo" / "Slipstream-Demo-Deep-3M-Q8_0.gguf"
DEMO_SMALL = resources() / "demo" / "Slipstream-Demo-3M-Q8_0.gguf"
DEMO_DFLASH = resources() / "demo" / "dflash-Slipstream-Demo-3M-Q8_0.gguf"
DEMO_MTP = Path(__file__).parent / "models" / "mtp-Slipstream-Demo-3M-Q8_0.gguf"

TOKENS = tuple(f"<{number}>" for number in range(300))
WIDTH = 64
LAYERS = 4

GgufValue = str | int | float | bool | Sequence[str] | Sequence[int] | Sequence[float]
Shape = tuple[int, ...]


def write_gguf(
    path: Path,
    architecture: str | None,
    keys: Mapping[str, GgufValue] | None = None,
    tensors: Mapping[str, Shape] | None = None,
    tokens: Sequence[str] = (),
) -> Path:
    """Write a file whose tensors are zeros in F32; shapes as in GGUF, the contiguous one first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = GGUFWriter(path, architecture or "")  # leaves an empty architecture out
    vocabulary: dict[str, GgufValue] = {}
    if tokens:
        vocabulary = {
            "tokenizer.ggml.model": "gpt2",
            "tokenizer.ggml.pre": "qwen2",
            "tokenizer.ggml.tokens": list(tokens),
        }
    for key, value in {**vocabulary, **(keys or {})}.items():
        _add(writer, key, value)
    for name, shape in (tensors or {}).items():
        writer.add_tensor(name, np.zeros(tuple(reversed(shape)), dtype=np.float32))
    write_file(writer)
    return path


def write_target(
    path: Path,
    architecture: str = "qwen3",
    *,
    name: str = "Test Model",
    width: int = WIDTH,
    layers: int = LAYERS,
    mtp: int = 0,
    tokens: Sequence[str] = TOKENS,
    keys: Mapping[str, GgufValue] | None = None,
    padding: int = 0,
) -> Path:
    """A whole model in shape; ``mtp`` layers of head; ``padding`` KB make its file larger."""
    values: dict[str, GgufValue] = {
        "general.name": name,
        f"{architecture}.block_count": layers + mtp,
        f"{architecture}.embedding_length": width,
        f"{architecture}.attention.key_length": 16,
    }
    tensors: dict[str, Shape] = {"token_embd.weight": (width, 8)}
    for block in range(layers + mtp):
        tensors[f"blk.{block}.attn_norm.weight"] = (width,)
    if mtp:
        values[f"{architecture}.nextn_predict_layers"] = mtp
        tensors[f"blk.{layers + mtp - 1}.nextn.eh_proj.weight"] = (2 * width, width)
    if padding:
        tensors["padding"] = (256 * padding,)
    return write_gguf(path, architecture, {**values, **(keys or {})}, tensors, tokens)


def write_mtp(
    path: Path, architecture: str = "qwen35", *, width: int = WIDTH, layers: int = LAYERS,
    tokens: Sequence[str] = TOKENS, name: str = "Test Model MTP",
) -> Path:  # fmt: skip
    """An MTP head alone: the keys of the whole model, only its last block."""
    values: dict[str, GgufValue] = {
        "general.name": name,
        f"{architecture}.block_count": layers + 1,
        f"{architecture}.embedding_length": width,
        f"{architecture}.nextn_predict_layers": 1,
    }
    tensors: dict[str, Shape] = {
        "token_embd.weight": (width, 8),
        f"blk.{layers}.nextn.eh_proj.weight": (2 * width, width),
    }
    return write_gguf(path, architecture, values, tensors, tokens)


def write_dflash(
    path: Path,
    *,
    name: str = "Test Model DFlash",
    width: int = WIDTH,
    target_layers: Sequence[int] = (1, 3),
    tokens: Sequence[str] = TOKENS,
    keys: Mapping[str, GgufValue] | None = None,
    tensors: Mapping[str, Shape] | None = None,
) -> Path:
    """A DFlash drafter; further keys and tensors make it DFlash2 or DSpark."""
    values: dict[str, GgufValue] = {
        "general.name": name,
        "dflash.block_count": 1,
        "dflash.embedding_length": width,
        "dflash.block_size": 8,
        "dflash.target_layers": list(target_layers),
        "tokenizer.ggml.mask_token_id": 3,
    }
    shapes = {"fc.weight": (len(target_layers) * width, width), **(tensors or {})}
    return write_gguf(path, "dflash", {**values, **(keys or {})}, shapes, tokens)


def write_dspark(path: Path, **options: object) -> Path:
    """A DSpark drafter: DFlash with the Markov head."""
    tensors = {"markov_w1.weight": (8, 8), "markov_w2.weight": (8, 8)}
    return write_dflash(path, tensors=tensors, **options)  # type: ignore[arg-type]


def write_eagle3(
    path: Path,
    *,
    name: str = "Test Model EAGLE3",
    target_width: int = WIDTH,
    target_layers: Sequence[int] = (1, 2, 4),
    tokens: Sequence[str] = TOKENS,
) -> Path:
    """An EAGLE-3 drafter; it may be narrower than its target."""
    values: dict[str, GgufValue] = {
        "general.name": name,
        "eagle3.block_count": 1,
        "eagle3.embedding_length": 32,
        "eagle3.target_hidden_size": target_width,
        "eagle3.target_layers": list(target_layers),
    }
    return write_gguf(path, "eagle3", values, {"fc.weight": (3 * target_width, 32)}, tokens)


def write_gemma4_assistant(
    path: Path, *, name: str = "Test Model assistant", target_width: int = WIDTH, head: int = 16
) -> Path:
    """The drafter of Gemma 4, which writes into its target's width."""
    arch = "gemma4-assistant"
    values: dict[str, GgufValue] = {
        "general.name": name,
        f"{arch}.block_count": 2,
        f"{arch}.nextn_predict_layers": 2,
        f"{arch}.embedding_length": 32,
        f"{arch}.embedding_length_out": target_width,
        f"{arch}.attention.key_length": head,
    }
    return write_gguf(path, arch, values, {"nextn.pre_projection.weight": (64, 32)}, TOKENS)


def write_projector(path: Path) -> Path:
    """The file that lets a model read images."""
    keys: dict[str, GgufValue] = {"general.type": "mmproj", "clip.has_vision_encoder": True}
    return write_gguf(path, "clip", keys, {"v.patch_embd.weight": (16, 16)})


def write_imatrix(path: Path) -> Path:
    """Statistics for quantizing; it names no architecture."""
    keys: dict[str, GgufValue] = {"general.type": "imatrix", "imatrix.chunk_count": 4}
    return write_gguf(path, None, keys, {"blk.0.attn_q.weight.in_sum2": (16,)})


def write_adapter(path: Path) -> Path:
    """A LoRA adapter."""
    keys: dict[str, GgufValue] = {"general.type": "adapter", "adapter.type": "lora"}
    return write_gguf(path, "llama", keys, {"blk.0.attn_q.weight.lora_a": (16, 4)})


def write_vocabulary(path: Path) -> Path:
    """A vocabulary without a model."""
    return write_gguf(path, "llama", {"llama.block_count": 1}, {}, TOKENS)


def write_every_type(path: Path) -> Path:
    """A tensor of every element type, named after it."""
    writer = GGUFWriter(path, "test")
    for kind, (_, size) in GGML_QUANT_SIZES.items():
        data = np.zeros((3, 2 * size), dtype=np.uint8)  # three rows of two blocks
        writer.add_tensor(kind.name, data, raw_dtype=kind)
    write_file(writer)
    return path


def write_every_value(path: Path) -> Path:
    """A key of every type, and an array of each, with the values that are hard to keep."""
    values: dict[GGUFValueType, list[object]] = {
        GGUFValueType.UINT8: [0, 255],
        GGUFValueType.INT8: [-128, 127],
        GGUFValueType.UINT16: [0, 65_535],
        GGUFValueType.INT16: [-32_768, 32_767],
        GGUFValueType.UINT32: [0, 2**32 - 1],
        GGUFValueType.INT32: [-(2**31), 2**31 - 1],
        GGUFValueType.FLOAT32: [0.1, float("inf")],
        GGUFValueType.BOOL: [True, False],
        GGUFValueType.STRING: ["", "Grüße 🙂\n\0"],
        GGUFValueType.UINT64: [0, 2**64 - 1],
        GGUFValueType.INT64: [-(2**63), 2**63 - 1],
        GGUFValueType.FLOAT64: [0.1, -1e308],
    }
    writer = GGUFWriter(path, "test")
    for kind, (first, second) in values.items():
        name = f"test.{kind.name.lower()}"
        writer.add_key_value(name, first, kind)
        writer.add_key_value(f"{name}.second", second, kind)
        writer.add_key_value(f"{name}.array", [first, second], GGUFValueType.ARRAY, kind)
    kind = GGUFValueType.UINT16
    writer.add_key_value("test.long", [1] * 2000, GGUFValueType.ARRAY, sub_type=kind)
    write_file(writer)
    return path


def write_dflash_of_another_target(path: Path) -> Path:
    """The demo's DFlash drafter made twice as wide: an engine that starts with it aborts, because
    the target's hidden state is narrower."""
    source = GGUFReader(DEMO_DFLASH)
    writer = GGUFWriter(path, "dflash")
    wider: dict[str, GgufValue] = {"dflash.embedding_length": 512, "dflash.attention.head_count": 8}
    copy_keys(source, writer, wider)
    for tensor in source.tensors:
        head = tensor.name.endswith(("_q_norm.weight", "_k_norm.weight"))
        shape = [512 if size == 256 else int(size) for size in tensor.shape]
        if tensor.name == "fc.weight":
            shape[0] *= 2
        data = np.ones if len(shape) == 1 or head else np.zeros
        writer.add_tensor(tensor.name, data(tuple(reversed(shape)), dtype=np.float32))
    write_file(writer)
    return path


def write_dflash_without_sense(path: Path) -> Path:
    """The demo's DFlash drafter with its numbers in disorder: it fits and runs, and is never right
    but by chance."""
    source = GGUFReader(DEMO_DFLASH)
    writer = GGUFWriter(path, "dflash")
    copy_keys(source, writer, {})
    for tensor in source.tensors:
        data = tensor.data[::-1].copy() if tensor.data.ndim > 1 else tensor.data
        writer.add_tensor(tensor.name, data, raw_dtype=tensor.tensor_type)
    write_file(writer)
    return path


def write_demo_without_head(path: Path) -> Path:
    """The small demo without its MTP head: a model that runs and has nothing to draft with."""
    source = GGUFReader(DEMO_SMALL)
    writer = GGUFWriter(path, "qwen35")
    trunk: dict[str, GgufValue] = {
        "qwen35.block_count": 4,
        "qwen35.nextn_predict_layers": 0,
        "qwen35.attention.recurrent_layers": [True, False, False, False],
    }
    copy_keys(source, writer, trunk)
    for tensor in source.tensors:
        if not tensor.name.startswith("blk.4."):
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    write_file(writer)
    return path


def raw_header(
    *,
    magic: bytes = b"GGUF",
    version: int = 3,
    tensor_count: int = 0,
    key_count: int = 0,
    body: bytes = b"",
) -> bytes:
    """The first bytes of a file, whatever they claim."""
    return magic + struct.pack("<IQQ", version, tensor_count, key_count) + body


def raw_text(text: bytes, claimed: int | None = None) -> bytes:
    """A length and its text; ``claimed`` lies about the length."""
    return struct.pack("<Q", len(text) if claimed is None else claimed) + text


def _add(writer: GGUFWriter, key: str, value: GgufValue) -> None:
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    else:
        writer.add_array(key, value)


def copy_keys(source: GGUFReader, writer: GGUFWriter, changed: Mapping[str, GgufValue]) -> None:
    """Give a file the keys of another one, some of them with other values."""
    for key, field in source.fields.items():
        if key.startswith("GGUF.") or key == "general.architecture":
            continue
        item = field.types[1] if field.types[0] is GGUFValueType.ARRAY else None
        value = changed.get(key, field.contents())
        writer.add_key_value(key, value, field.types[0], sub_type=item)


def write_file(writer: GGUFWriter) -> None:
    """Write everything that was added, and close it."""
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
