import struct
import time
import tracemalloc
from pathlib import Path

import pytest
from gguf import GGML_QUANT_SIZES, GGUFReader, GGUFValueType

from gguf_files import (
    DEMO,
    DEMO_DFLASH,
    DEMO_MTP,
    DEMO_SMALL,
    raw_header,
    raw_text,
    write_every_type,
    write_every_value,
    write_gguf,
)
from slipstream.errors import SlipstreamError
from slipstream.weights.header import TOKENS, read_header
from slipstream.weights.parser import SHORT_ARRAY, ArrayInfo

HUGE = 1 << 62
STRING, ARRAY, UINT8, UINT32 = 8, 9, 0, 4


def code_of(path: Path) -> str:
    with pytest.raises(SlipstreamError) as caught:
        read_header(path)
    assert caught.value.message.endswith(".")
    assert caught.value.action.endswith(".")
    return caught.value.code


def written(folder: Path, content: bytes) -> Path:
    path = folder / "model.gguf"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("path", [DEMO, DEMO_SMALL, DEMO_DFLASH, DEMO_MTP], ids=lambda p: p.stem)
def test_reads_what_the_gguf_library_reads(path: Path) -> None:
    oracle = GGUFReader(path)
    fields = {key: field for key, field in oracle.fields.items() if not key.startswith("GGUF.")}
    arrays = {key for key, field in fields.items() if field.types[0] is GGUFValueType.ARRAY}

    header = read_header(path, keep_arrays=arrays)

    expected = {
        key: tuple(field.contents()) if key in arrays else field.contents()
        for key, field in fields.items()
    }
    assert dict(header.keys) == expected
    assert [
        (tensor.name, list(tensor.shape), tensor.type, tensor.bytes, tensor.offset)
        for tensor in header.tensors
    ] == [
        (
            tensor.name,
            list(tensor.shape),
            tensor.tensor_type.name,
            tensor.n_bytes,
            tensor.data_offset - oracle.data_offset,
        )
        for tensor in oracle.tensors
    ]
    assert header.data_start == oracle.data_offset
    assert header.missing_bytes == 0


def test_long_arrays_are_stepped_over_unless_asked_for() -> None:
    plain = read_header(DEMO_SMALL)
    array = plain.keys[TOKENS]
    assert isinstance(array, ArrayInfo)
    assert (array.type, array.length) == (STRING, 2048)
    # The place it gives is where the tokens are.
    content = DEMO_SMALL.read_bytes()[array.offset : array.offset + array.bytes]
    assert content.startswith(raw_text(b"<|endoftext|>"))

    tokens = read_header(DEMO_SMALL, keep_arrays=(TOKENS,)).keys[TOKENS]
    assert isinstance(tokens, tuple)
    assert tokens[:2] == ("<|endoftext|>", "<|im_start|>")
    assert plain.vocabulary_size == len(tokens) == 2048


def test_short_arrays_of_numbers_are_built(tmp_path: Path) -> None:
    path = write_gguf(
        tmp_path / "a.gguf",
        "test",
        {"test.short": list(range(SHORT_ARRAY)), "test.long": list(range(SHORT_ARRAY + 1))},
    )
    header = read_header(path)
    assert header.numbers("short") == tuple(range(SHORT_ARRAY))
    assert isinstance(header.keys["test.long"], ArrayInfo)
    assert header.numbers("long") == ()


def test_answers_questions_about_the_architecture() -> None:
    header = read_header(DEMO_SMALL)
    assert header.architecture == "qwen35"
    assert (header.layers, header.hidden_size) == (5, 256)
    assert header.number("nextn_predict_layers") == 1
    assert header.number("no_such_key") is None
    assert header.numbers("rope.dimension_sections") == (11, 11, 10, 0)
    assert header.text("general.name") == "Slipstream Demo"
    assert header.by_name["token_embd.weight"].shape == (256, 2048)


def test_a_vocabulary_of_262144_tokens_is_stepped_over_not_built(tmp_path: Path) -> None:
    tokens = b"".join(raw_text(b"tok%06d" % number) for number in range(262_144))
    body = raw_text(TOKENS.encode()) + struct.pack("<IIQ", ARRAY, STRING, 262_144) + tokens
    path = written(tmp_path, raw_header(key_count=1, body=body))
    tracemalloc.start()
    try:
        header = read_header(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert header.vocabulary_size == 262_144
    assert peak < 3 * path.stat().st_size  # the bytes themselves; as texts they would be 17 MB


def test_many_short_arrays_do_not_grow_memory(tmp_path: Path) -> None:
    array = struct.pack("<IQ", UINT8, SHORT_ARRAY) + bytes(SHORT_ARRAY)
    body = b"".join(key(b"k%05d" % number, ARRAY, array) for number in range(20_000))
    path = written(tmp_path, raw_header(key_count=20_000, body=body))
    tracemalloc.start()
    try:
        assert code_of(path) == "damaged_file"
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 << 20


def test_the_first_part_of_a_real_file_says_how_much_is_missing(tmp_path: Path) -> None:
    whole = DEMO.read_bytes()
    header = read_header(written(tmp_path, whole[:1_000_000]))
    assert header.missing_bytes == len(whole) - 1_000_000
    assert header.tensors == read_header(DEMO).tensors


def test_a_file_cut_in_its_header_is_damaged(tmp_path: Path) -> None:
    content = DEMO_DFLASH.read_bytes()
    end = read_header(DEMO_DFLASH).data_start - 32
    for size in (4, 10, 24, 30, 1000, end // 2, end):
        assert code_of(written(tmp_path, content[:size])) == "damaged_file"


@pytest.mark.parametrize("content", [b"", b"GG", b"I am a text.\n", b"PK\x03\x04zip", b"\0" * 64])
def test_something_else_is_not_a_model(tmp_path: Path, content: bytes) -> None:
    path = written(tmp_path, content)
    assert code_of(path) == "not_a_model"
    with pytest.raises(SlipstreamError, match="This is not a GGUF file"):
        read_header(path)


@pytest.mark.parametrize(
    ("version", "words"),
    [(1, "version 1"), (4, "version 4"), (0x03000000, "big-endian")],
)
def test_other_versions_are_refused_by_name(tmp_path: Path, version: int, words: str) -> None:
    path = written(tmp_path, raw_header(version=version))
    assert code_of(path) == "unsupported_file"
    with pytest.raises(SlipstreamError, match=words):
        read_header(path)


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    assert code_of(tmp_path / "none.gguf") == "not_found"
    assert code_of(DEMO / "inside.gguf") == "not_found"
    assert code_of(Path("null\0character.gguf")) == "not_found"
    assert code_of(tmp_path) == "unreadable"


def key(name: bytes = b"k", kind: int = UINT32, value: bytes = b"\0\0\0\0") -> bytes:
    return raw_text(name) + struct.pack("<I", kind) + value


def tensor(dimensions: bytes, kind: int = 0, offset: int = 0, name: bytes = b"t") -> bytes:
    return raw_text(name) + dimensions + struct.pack("<IQ", kind, offset)


EIGHT = struct.pack("<IQ", 1, 8)  # 32 bytes of F32


ABSURD = {
    "tensor count": raw_header(tensor_count=HUGE),
    "key count": raw_header(key_count=HUGE),
    "many keys that are not there": raw_header(key_count=60_000),
    "length of a key": raw_header(key_count=1, body=raw_text(b"k", HUGE)),
    "length of a text": raw_header(key_count=1, body=key(kind=STRING, value=raw_text(b"", HUGE))),
    "unknown type": raw_header(key_count=1, body=key(kind=77)),
    "length of an array": raw_header(
        key_count=1, body=key(kind=ARRAY, value=struct.pack("<IQ", UINT8, HUGE))
    ),
    "array longer than its file": raw_header(
        key_count=1, body=key(kind=ARRAY, value=struct.pack("<IQ", UINT8, 100_000_000))
    ),
    "number of texts": raw_header(
        key_count=1, body=key(kind=ARRAY, value=struct.pack("<IQ", STRING, HUGE))
    ),
    "length of a text in an array": raw_header(
        key_count=1,
        body=key(kind=ARRAY, value=struct.pack("<IQ", STRING, 3) + raw_text(b"", (1 << 64) - 9)),
    ),
    "last text ends after the file": raw_header(
        key_count=1, body=key(kind=ARRAY, value=struct.pack("<IQ", STRING, 1) + raw_text(b"", 99))
    ),
    "arrays in arrays": raw_header(
        key_count=1, body=key(kind=ARRAY, value=struct.pack("<IQIQ", ARRAY, 1, ARRAY, 1))
    ),
    "alignment": raw_header(key_count=1, body=key(b"general.alignment", UINT32, b"\x21\0\0\0")),
    "alignment of nothing": raw_header(key_count=1, body=key(b"general.alignment")),
    "alignment of another type": raw_header(
        key_count=1, body=key(b"general.alignment", 10, struct.pack("<Q", 32))
    ),
    "key without a name": raw_header(key_count=1, body=key(b"")),
    "key twice": raw_header(key_count=2, body=key() + key(kind=STRING, value=raw_text(b""))),
    "tensor without a name": raw_header(tensor_count=1, body=tensor(EIGHT, name=b"")),
    "tensor twice": raw_header(tensor_count=2, body=tensor(EIGHT) + tensor(EIGHT, offset=32)),
    "first tensor not at the start": raw_header(tensor_count=1, body=tensor(EIGHT, offset=32)),
    "tensor not aligned": raw_header(
        tensor_count=2, body=tensor(EIGHT, kind=144) + tensor(EIGHT, offset=40, name=b"u")
    ),
    "tensors that overlap": raw_header(
        tensor_count=2, body=tensor(EIGHT) + tensor(EIGHT, offset=0, name=b"u")
    ),
    "a gap between tensors": raw_header(
        tensor_count=2, body=tensor(EIGHT) + tensor(EIGHT, offset=64, name=b"u")
    ),
    "dimensions": raw_header(tensor_count=1, body=tensor(struct.pack("<I", 1 << 31))),
    "size of a tensor": raw_header(
        tensor_count=1, body=tensor(struct.pack("<IQQ", 2, 1 << 60, 1 << 60))
    ),
    "half a block": raw_header(tensor_count=1, body=tensor(struct.pack("<IQ", 1, 33), kind=8)),
    "place of a tensor": raw_header(
        tensor_count=1, body=tensor(struct.pack("<IQ", 1, 32), offset=(1 << 64) - 1)
    ),
}


@pytest.mark.parametrize("content", ABSURD.values(), ids=ABSURD)
def test_absurd_values_are_refused_at_once_and_cost_no_memory(
    tmp_path: Path, content: bytes
) -> None:
    path = written(tmp_path, content)
    tracemalloc.start()
    try:
        start = time.perf_counter()
        assert code_of(path) == "damaged_file"
        assert time.perf_counter() - start < 10
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_a_header_larger_than_any_real_one_is_refused(tmp_path: Path) -> None:
    claim = key(kind=ARRAY, value=struct.pack("<IQ", UINT8, 127 << 20))
    path = written(tmp_path, raw_header(key_count=1, tensor_count=60_000, body=claim))
    with path.open("r+b") as stream:
        stream.truncate(1 << 40)  # sparse: takes no space
    assert code_of(path) == "damaged_file"


def test_a_tensor_of_an_unknown_type_takes_what_lies_before_the_next_one(tmp_path: Path) -> None:
    content = raw_header(tensor_count=1, body=tensor(struct.pack("<IQ", 1, 32), kind=144))
    header = read_header(written(tmp_path, content))
    (strange,) = header.tensors
    assert strange.type == "type 144"
    assert strange.bytes == max(0, header.file_bytes - header.data_start)


def test_what_follows_a_tensor_of_unknown_size_may_lie_anywhere(tmp_path: Path) -> None:
    rows = tensor(EIGHT, kind=144) + tensor(EIGHT, offset=320, name=b"u")
    header = read_header(written(tmp_path, raw_header(tensor_count=2, body=rows)))
    assert [row.offset for row in header.tensors] == [0, 320]
    assert header.tensors[0].bytes == 320
    rows += tensor(EIGHT, offset=384, name=b"v")  # 32 bytes after where u ends
    assert code_of(written(tmp_path, raw_header(tensor_count=3, body=rows))) == "damaged_file"


def test_every_tensor_type_has_the_size_that_the_gguf_library_gives_it(tmp_path: Path) -> None:
    path = write_every_type(tmp_path / "types.gguf")
    oracle = {tensor.name: tensor for tensor in GGUFReader(path).tensors}
    header = read_header(path)
    assert len(header.tensors) == len(GGML_QUANT_SIZES)
    for row in header.tensors:
        assert row.type == oracle[row.name].tensor_type.name == row.name
        assert row.bytes == oracle[row.name].n_bytes
    assert header.missing_bytes == 0


def test_the_type_of_every_value_is_known(tmp_path: Path) -> None:
    path = write_every_value(tmp_path / "values.gguf")
    header = read_header(path)
    fields = GGUFReader(path).fields
    assert dict(header.types) == {
        name: field.types[-1] for name, field in fields.items() if not name.startswith("GGUF.")
    }
    assert header.types["test.long"] == GGUFValueType.UINT16


def test_equal_vocabularies_have_equal_digests(tmp_path: Path) -> None:
    def digest(name: str, tokens: tuple[str, ...]) -> str:
        array = read_header(write_gguf(tmp_path / name, "test", {}, {}, tokens)).keys[TOKENS]
        assert isinstance(array, ArrayInfo)
        return array.digest

    assert digest("a", ("a", "bc")) == digest("longer name", ("a", "bc"))
    assert len({digest("b", tokens) for tokens in (("a", "bc"), ("ab", "c"), ("a", "bd"))}) == 3


def test_tokens_are_counted_without_a_vocabulary_too(tmp_path: Path) -> None:
    embedding = {"token_embd.weight": (4, 99)}
    assert read_header(write_gguf(tmp_path / "a", "x", {}, embedding, ("a", "b"))).token_count == 2
    sized = write_gguf(tmp_path / "b", "x", {"x.vocab_size": 50}, embedding)
    assert read_header(sized).token_count == 50
    assert read_header(write_gguf(tmp_path / "c", "x", {}, embedding)).token_count == 99
    assert read_header(write_gguf(tmp_path / "d", "x")).token_count == 0
