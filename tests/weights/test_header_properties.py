"""Whatever the bytes are, reading them gives a header or one clear error, quickly and in bounds."""

import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gguf_files import DEMO_DFLASH, DEMO_SMALL, raw_header
from slipstream.drafters.identify import role_of
from slipstream.drafters.pairing import prove
from slipstream.errors import SlipstreamError
from slipstream.weights.header import Header, read_header

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


def header_or_code(path: Path) -> Header | str:
    try:
        return read_header(path, keep_arrays=("tokenizer.ggml.tokens",))
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


@on_one_file
@given(data=st.data())
def test_cut_real_headers(file: Path, data: st.DataObject) -> None:
    content = SEEDS[DEMO_DFLASH.name]
    size = data.draw(st.integers(0, len(content) - 64))
    assert read_in_bounds(file, content[:size]) is None


def test_the_seeds_are_valid(file: Path) -> None:
    for content in SEEDS.values():
        header = read_in_bounds(file, content)
        assert header is not None
        assert header.missing_bytes > 0
