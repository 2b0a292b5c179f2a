"""Whatever the bytes are, reading them gives a header or one clear error, quickly and in bounds."""

import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gguf_files import DEMO_DFLASH, DEMO_SMALL, GgufValue, raw_header, write_gguf
from slipstream.drafters.identify import role_of
from slipstream.drafters.pairing import prove
from slipstream.errors import SlipstreamError
from slipstream.weights import cache
from slipstream.weights.header import Header, read_header
from slipstream.weights.skeleton import shape_key, write_skeleton

SEEDS = {
    path.name: path.read_bytes()[: read_header(path).data_start]
    for path in (DEMO_DFLASH, DEMO_SMALL)
}
TARGET = read_header(DEMO_SMALL)
CODES = {"not_a_model", "damaged_file", "unsupported_file"}
on_one_file = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "any.gguf"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))


def read_in_bounds(path: Path, content: bytes) -> Header | None:
    path.write_bytes(content)
    tracemalloc.start()
    start = time.perf_counter()
    result = header_or_code(path)
    seconds, (_, most) = time.perf_counter() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seconds < 10
    assert most < 16 << 20
    if isinstance(result, str):
        assert result in CODES
        return None
    return result


def survives_what_is_made_of_it(header: Header, file: Path) -> None:
    """Its skeleton and its copy in the cache read back as what they were made from."""
    cache.store("any", header)
    assert same(cache.stored("any", header.path), header)
    try:
        skeleton = write_skeleton(header, file.with_name("skeleton.gguf"))
    except SlipstreamError as error:
        if error.code == "cannot_lay_out":
            return
        raise
    bare = read_header(skeleton)
    assert shape_key(bare) == shape_key(header)
    assert [(row.name, row.shape, row.type) for row in bare.tensors] == [
        (row.name, row.shape, row.type) for row in header.tensors
    ]
    for key in set(bare.keys) & set(header.keys) - {"tokenizer.ggml.model"}:
        if not key.endswith(".vocab_size"):
            assert same(bare.keys[key], header.keys[key])
            assert bare.types[key] == header.types[key]
    assert bare.missing_bytes == 0


def same(one: object, other: object) -> bool:
    """Equality, in which a number that is none equals itself."""
    return repr(one) == repr(other)


def header_or_code(path: Path) -> Header | str:
    try:
        read_header(path, keep_arrays=("tokenizer.ggml.tokens",))
        return read_header(path)
    except SlipstreamError as error:
        return error.code


@on_one_file
@given(body=st.binary(max_size=400), counts=st.tuples(st.integers(0, 5), st.integers(0, 5)))
def test_random_bytes(file: Path, body: bytes, counts: tuple[int, int]) -> None:
    read_in_bounds(file, raw_header(tensor_count=counts[0], key_count=counts[1], body=body))


@on_one_file
@given(content=st.binary(max_size=200))
def test_random_files(file: Path, content: bytes) -> None:
    read_in_bounds(file, content)


@on_one_file
@given(data=st.data(), name=st.sampled_from(sorted(SEEDS)))
def test_changed_real_headers(file: Path, data: st.DataObject, name: str) -> None:
    content = bytearray(SEEDS[name])
    # Half of the changes hit the keys at the start, where lengths and counts lie dense.
    places = st.one_of(st.integers(0, 1200), st.integers(0, len(content) - 8))
    for _ in range(data.draw(st.integers(1, 4))):
        at, new = data.draw(places), data.draw(st.binary(min_size=1, max_size=8))
        content[at : at + len(new)] = new
    header = read_in_bounds(file, bytes(content))
    if header is not None:
        role_of(header)
        prove(TARGET, header)
        prove(header, TARGET)
        survives_what_is_made_of_it(header, file)


@on_one_file
@given(data=st.data())
def test_cut_real_headers(file: Path, data: st.DataObject) -> None:
    content = SEEDS[DEMO_DFLASH.name]
    size = data.draw(st.integers(0, len(content) - 64))
    assert read_in_bounds(file, content[:size]) is None


def test_a_header_cut_anywhere_is_damaged(file: Path) -> None:
    keys: dict[str, GgufValue] = {
        "test.numbers": [1, 2],
        "test.texts": ["a", "b"],
        "test.yes": True,
    }
    whole = write_gguf(file, "test", keys, {"a": (8,), "b": (8, 2)}).read_bytes()
    end = read_header(file).data_start - 31  # padding may be missing
    for size in range(4, end):
        file.write_bytes(whole[:size])
        assert header_or_code(file) in ("damaged_file", "not_a_model"), size
    file.write_bytes(whole)
    assert isinstance(header_or_code(file), Header)


numbers = st.integers(0, 2**32 - 1)
texts = st.text(max_size=20)
values = st.one_of(
    texts.filter(bool),  # the library leaves empty texts out
    numbers,
    st.booleans(),
    st.floats(width=32),
    st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=5),
    st.lists(texts, min_size=1, max_size=5),
    st.lists(st.booleans(), min_size=1, max_size=5),
)
names = st.text("abc._", min_size=1, max_size=12)
prefixes = st.sampled_from(["test.", "general.x", "tokenizer.", "split.", ""])
keys_of_any_kind = st.dictionaries(st.builds(str.__add__, prefixes, names), values, max_size=12)
shapes = st.lists(st.integers(1, 40), min_size=1, max_size=3).map(tuple)


@settings(on_one_file, max_examples=60)
@given(keys=keys_of_any_kind, tensors=st.dictionaries(names, shapes, max_size=8))
def test_any_valid_header(
    file: Path, keys: dict[str, GgufValue], tensors: dict[str, tuple[int, ...]]
) -> None:
    header = read_in_bounds(file, write_gguf(file, "test", keys, tensors, ("a", "b")).read_bytes())
    assert header is not None
    for key, value in keys.items():
        known = header.keys[key]
        if not isinstance(value, list):
            assert same(known, value)
        elif not isinstance(value[0], str):
            assert known == tuple(value)
    assert {row.name: row.shape for row in header.tensors} == tensors
    survives_what_is_made_of_it(header, file)


def test_the_seeds_are_valid(file: Path) -> None:
    for content in SEEDS.values():
        header = read_in_bounds(file, content)
        assert header is not None
        assert header.missing_bytes > 0
