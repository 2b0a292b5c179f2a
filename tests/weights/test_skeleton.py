import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from gguf import GGUFReader

from gguf_files import (
    DEMO,
    DEMO_DFLASH,
    DEMO_MTP,
    DEMO_SMALL,
    GgufValue,
    raw_header,
    raw_text,
    write_every_type,
    write_every_value,
    write_gguf,
    write_target,
)
from slipstream.errors import SlipstreamError
from slipstream.weights.header import TOKENS, Header, read_header
from slipstream.weights.shards import read_model
from slipstream.weights.skeleton import shape_key, skeleton, write_skeleton

ALL = [DEMO, DEMO_SMALL, DEMO_DFLASH, DEMO_MTP]


def of(path: Path, folder: Path) -> Header:
    """The skeleton of a file, read back."""
    return read_header(write_skeleton(read_model(path), folder / "skeleton.gguf"))


def rows(header: Header) -> list[tuple[object, ...]]:
    return [(tensor.name, tensor.shape, tensor.type, tensor.bytes) for tensor in header.tensors]


def why_not(header: Header, path: Path) -> str:
    with pytest.raises(SlipstreamError) as caught:
        write_skeleton(header, path)
    assert caught.value.code == "cannot_lay_out"
    assert list(path.parent.iterdir()) == []
    return str(caught.value.facts["reason"])


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_it_has_everything_but_the_vocabulary_and_the_weights(path: Path, tmp_path: Path) -> None:
    whole, bare = read_header(path), of(path, tmp_path)
    left_out = {key for key in whole.keys if key not in bare.keys}
    assert TOKENS in left_out
    assert "tokenizer.chat_template" not in bare.keys
    assert all(key.startswith(("tokenizer.", "general.")) for key in left_out)
    for key in set(whole.keys) - left_out - {"tokenizer.ggml.model"}:
        assert (bare.keys[key], bare.types[key]) == (whole.keys[key], whole.types[key])
    assert bare.keys["tokenizer.ggml.model"] == "no_vocab"
    assert bare.number("vocab_size") == whole.vocabulary_size
    assert rows(bare) == rows(whole)
    assert bare.missing_bytes == 0


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_the_gguf_library_reads_it_too(path: Path, tmp_path: Path) -> None:
    file = write_skeleton(read_header(path), tmp_path / "skeleton.gguf")
    oracle = GGUFReader(file)
    assert [tensor.name for tensor in oracle.tensors] == [
        tensor.name for tensor in GGUFReader(path).tensors
    ]
    assert set(read_header(file).keys) == {key for key in oracle.fields if key[:5] != "GGUF."}


def test_it_takes_no_space(tmp_path: Path) -> None:
    tensors = {f"blk.{number}.a": (1 << 20, 1 << 10) for number in range(100)}
    content = write_gguf(tmp_path / "small.gguf", "llama", {}, dict.fromkeys(tensors, (32,)))
    header = read_header(content)
    huge = skeleton(_with_shapes(header, (1 << 20, 1 << 10)))
    file = write_skeleton(_with_shapes(header, (1 << 20, 1 << 10)), tmp_path / "huge.gguf")
    assert file.stat().st_size == huge.file_bytes > 400 << 30
    assert file.stat().st_blocks * 512 < 1 << 20
    assert read_header(file).missing_bytes == 0


def test_a_key_of_every_type_keeps_its_type_and_value(tmp_path: Path) -> None:
    path = write_every_value(tmp_path / "values.gguf")
    whole, bare = read_header(path), of(path, tmp_path)
    kept = {key for key in whole.keys if key not in ("test.string.array", "test.long")}
    assert set(bare.keys) == kept | {"tokenizer.ggml.model"}
    for key in kept:
        assert (bare.keys[key], bare.types[key]) == (whole.keys[key], whole.types[key])


def test_tensors_of_every_type_and_any_alignment(tmp_path: Path) -> None:
    path = write_every_type(tmp_path / "types.gguf")
    assert rows(of(path, tmp_path)) == rows(read_header(path))


def test_a_vocabulary_becomes_its_size(tmp_path: Path) -> None:
    scalars: dict[str, GgufValue] = {
        "tokenizer.ggml.mask_token_id": 7,
        "tokenizer.ggml.eot_ids": [1, 2],
        "tokenizer.chat_template.tools": "{{ tools }}",
        "split.count": 1,
        "qwen3.vocab_size": 5,
    }
    bare = of(write_target(tmp_path / "a.gguf", keys=scalars), tmp_path)
    assert bare.number("vocab_size") == 300
    assert bare.integer("tokenizer.ggml.mask_token_id") == 7
    assert not [key for key in bare.keys if key.startswith(("split.", "tokenizer.chat"))]
    assert "tokenizer.ggml.eot_ids" not in bare.keys
    bare = of(write_target(tmp_path / "b.gguf", tokens=()), tmp_path)
    assert bare.number("vocab_size") == 8  # the rows of the embedding


def test_a_set_of_shards_becomes_one_file(tmp_path: Path) -> None:
    paths = [tmp_path / f"Big-0000{number}-of-00002.gguf" for number in (1, 2)]
    keys: dict[str, GgufValue] = {"split.count": 2, "llama.block_count": 2}
    write_gguf(paths[0], "llama", keys, {"blk.0.a": (8,), "blk.0.b": (9,)}, ("a", "b"))
    write_gguf(paths[1], "llama", {"split.no": 1}, {"blk.1.a": (10,)})
    bare = of(paths[1], tmp_path)
    assert [(tensor.name, tensor.offset) for tensor in bare.tensors] == [
        ("blk.0.a", 0),
        ("blk.0.b", 32),
        ("blk.1.a", 96),
    ]
    assert bare.layers == 2


def test_a_tensor_of_unknown_size_cannot_be_laid_out(tmp_path: Path) -> None:
    row = raw_text(b"t") + bytes.fromhex("01000000 2000000000000000 90000000 0000000000000000")
    key = raw_text(b"general.architecture") + bytes.fromhex("08000000") + raw_text(b"llama")
    file = tmp_path / "new.gguf"
    file.write_bytes(raw_header(tensor_count=1, key_count=1, body=key + row))
    header = read_header(file)
    file.unlink()
    assert "type 144" in why_not(header, tmp_path / "skeleton.gguf")


@pytest.mark.parametrize("tokens", [-1, 1 << 32, 1 << 63])
def test_an_impossible_number_of_tokens_cannot_be_laid_out(tokens: int, tmp_path: Path) -> None:
    header = read_header(DEMO)
    keys = {key: value for key, value in header.keys.items() if key != TOKENS}
    impossible = replace(header, keys={**keys, "qwen35.vocab_size": tokens})
    assert "number of tokens" in why_not(impossible, tmp_path / "skeleton.gguf")


def test_files_that_are_no_set_cannot_be_laid_out(tmp_path: Path) -> None:
    header = read_header(DEMO)
    header = replace(header, tensors=(*header.tensors, header.tensors[0]))
    assert "same tensor" in why_not(header, tmp_path / "skeleton.gguf")


def test_a_file_without_an_architecture_cannot_be_laid_out(tmp_path: Path) -> None:
    header = read_header(write_gguf(tmp_path / "a.gguf", None))
    (tmp_path / "a.gguf").unlink()
    assert "architecture" in why_not(header, tmp_path / "skeleton.gguf")


def test_a_file_larger_than_the_system_allows(tmp_path: Path) -> None:
    header = _with_shapes(read_header(DEMO), (1 << 30, 1 << 29))
    assert why_not(header, tmp_path / "skeleton.gguf")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_file_larger_than_the_disk_takes_leaves_nothing_behind(tmp_path: Path) -> None:
    script = (
        "import resource, sys; from pathlib import Path\n"
        "from slipstream.errors import SlipstreamError\n"
        "from slipstream.weights.shards import read_model\n"
        "from slipstream.weights.skeleton import write_skeleton\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))\n"
        "try: write_skeleton(read_model(Path(sys.argv[1])), Path(sys.argv[2]))\n"
        "except SlipstreamError as error: print(error.code, error.facts['reason'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(DEMO), str(tmp_path / "skeleton.gguf")],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout.startswith("cannot_lay_out File too large")
    assert list(tmp_path.iterdir()) == []


def test_it_replaces_the_one_before(tmp_path: Path) -> None:
    of(DEMO, tmp_path)
    assert rows(of(DEMO_SMALL, tmp_path)) == rows(read_header(DEMO_SMALL))
    assert [file.name for file in tmp_path.iterdir()] == ["skeleton.gguf"]


def test_quantizations_of_one_model_have_one_shape(tmp_path: Path) -> None:
    header = read_header(DEMO)
    other = _with_types(header, "Q4_0")
    assert rows(header) != rows(other)
    assert shape_key(header) == shape_key(other) == shape_key(of(DEMO, tmp_path))


def test_the_dimensions_of_one_that_quantizing_drops_do_not_matter(tmp_path: Path) -> None:
    flat = write_gguf(tmp_path / "a.gguf", "llama", {}, {"ssm_beta": (32,)})
    deep = write_gguf(tmp_path / "b.gguf", "llama", {}, {"ssm_beta": (32, 1)})
    wide = write_gguf(tmp_path / "c.gguf", "llama", {}, {"ssm_beta": (32, 2)})
    keys = [shape_key(read_header(path)) for path in (flat, deep, wide)]
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize(
    ("keys", "same"),
    [
        ({}, True),
        ({"general.name": "Another name"}, True),
        ({"tokenizer.chat_template": "{{ messages }}"}, True),
        ({"qwen3.block_count": 5}, False),
        ({"qwen3.rope.freq_base": 10_000.0}, False),
        ({"qwen3.attention.head_count_kv": [1, 2, 1, 2]}, False),
    ],
)
def test_what_a_shape_is(keys: dict[str, GgufValue], same: bool, tmp_path: Path) -> None:
    one = read_header(write_target(tmp_path / "a.gguf"))
    other = read_header(write_target(tmp_path / "b.gguf", keys=keys))
    assert (shape_key(one) == shape_key(other)) == same


def test_another_vocabulary_or_tensor_is_another_shape(tmp_path: Path) -> None:
    models = [
        write_target(tmp_path / "a.gguf"),
        write_target(tmp_path / "b.gguf", tokens=("a", "b")),
        write_target(tmp_path / "c.gguf", padding=1),
        write_target(tmp_path / "d.gguf", "qwen35"),
    ]
    assert len({shape_key(read_header(path)) for path in models}) == 4


def _with_shapes(header: Header, shape: tuple[int, int]) -> Header:
    size = shape[0] * shape[1] * 4
    tensors = tuple(replace(row, shape=shape, type="F32", bytes=size) for row in header.tensors)
    return replace(header, tensors=tensors)


def _with_types(header: Header, kind: str) -> Header:
    return replace(header, tensors=tuple(replace(row, type=kind) for row in header.tensors))
