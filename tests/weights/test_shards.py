from pathlib import Path

import pytest

from gguf_files import DEMO_SMALL, TOKENS, write_gguf, write_target
from slipstream.errors import SlipstreamError
from slipstream.weights.header import read_header
from slipstream.weights.shards import missing_shards, read_model, shards, size_of


def write_set(folder: Path) -> list[Path]:
    """Three shards: the first holds the metadata alone, as large repositories make them."""
    paths = [folder / f"Big-Q4_K_M-0000{number}-of-00003.gguf" for number in (1, 2, 3)]
    write_gguf(paths[0], "qwen35", {"split.count": 3, "qwen35.block_count": 2}, {}, TOKENS)
    write_gguf(paths[1], "qwen35", {"split.no": 1}, {"blk.0.a.weight": (8,)})
    write_gguf(paths[2], "qwen35", {"split.no": 2}, {"blk.1.a.weight": (8,)})
    return paths


def test_a_set_is_known_from_any_of_its_files(tmp_path: Path) -> None:
    paths = write_set(tmp_path)
    for path in paths:
        assert list(shards(path)) == paths
        assert missing_shards(path) == ()
        assert size_of(path) == sum(file.stat().st_size for file in paths)


def test_a_whole_file_is_its_own_set() -> None:
    assert shards(DEMO_SMALL) == (DEMO_SMALL,)
    assert missing_shards(DEMO_SMALL) == ()
    assert read_model(DEMO_SMALL) == read_header(DEMO_SMALL)


def test_a_set_is_read_as_one_model(tmp_path: Path) -> None:
    paths = write_set(tmp_path)
    header = read_model(paths[2])
    assert header.path == paths[0]
    assert header.layers == 2
    assert set(header.by_name) == {"blk.0.a.weight", "blk.1.a.weight"}
    assert header.file_bytes == size_of(paths[0])
    assert header.missing_bytes == 0


def test_a_cut_shard_counts_as_missing_bytes(tmp_path: Path) -> None:
    paths = write_set(tmp_path)
    whole = paths[1].read_bytes()
    paths[1].write_bytes(whole[:-20])
    assert read_model(paths[0]).missing_bytes == 20


def test_missing_files_are_named(tmp_path: Path) -> None:
    paths = write_set(tmp_path)
    paths[1].unlink()
    assert missing_shards(paths[0]) == (paths[1],)
    with pytest.raises(SlipstreamError) as caught:
        read_model(paths[0])
    assert caught.value.code == "missing_shard"
    assert paths[1].name in str(caught.value.facts["missing"])


def test_a_number_of_shards_that_no_model_has_is_only_a_name(tmp_path: Path) -> None:
    file = write_target(tmp_path / "m-00001-of-99999.gguf")
    assert shards(file) == (file,)
    assert read_model(file).layers
