"""The quantizations in a folder, each with what belongs to it."""

from pathlib import Path

import pytest

from gguf_files import (
    write_dflash,
    write_gguf,
    write_imatrix,
    write_mtp,
    write_projector,
    write_target,
    write_vocabulary,
)
from header_only import write_model
from slipstream.cancel import Cancelled, CancelToken
from slipstream.drafters.kinds import DrafterKind
from slipstream.errors import SlipstreamError
from slipstream.planning.quantizations import Quantization, local_quantizations


def read(*paths: Path) -> tuple[tuple[Quantization, ...], tuple[SlipstreamError, ...]]:
    return local_quantizations(paths, CancelToken())


def test_quantizations_of_one_model_have_one_shape(tmp_path: Path) -> None:
    files = [write_model(tmp_path, "qwen3-0.6b", label) for label in ("Q4_K_M", "Q8_0")]
    other = write_model(tmp_path, "gemma-3-270m", "Q4_K_M")
    read_ones, problems = read(*files, other)
    assert problems == ()
    assert [one.label for one in read_ones] == ["Q4_K_M", "Q8_0", "Q4_K_M"]
    assert read_ones[0].shape == read_ones[1].shape != read_ones[2].shape
    assert [one.files for one in read_ones] == [(file,) for file in (*files, other)]
    assert {one.download for one in read_ones} == {0}
    assert read_ones[0].model.sizes.total < read_ones[1].model.sizes.total


def test_a_set_of_shards_is_one(tmp_path: Path) -> None:
    first = write_target(tmp_path / "M-Q4_K_M-00001-of-00002.gguf", layers=2)
    second = write_gguf(
        tmp_path / "M-Q4_K_M-00002-of-00002.gguf", "qwen3", {}, {"blk.1.attn_q.weight": (64, 64)}
    )
    ((one,), problems) = read(first)
    assert (one.label, one.files) == ("Q4_K_M", (first, second))
    assert one.model.sizes.blocks[1] == 64 * 4 + 64 * 64 * 4
    second.unlink()
    (nothing, (problem,)) = read(first)
    assert (nothing, problem.code) == ((), "missing_shard")
    assert problems == ()


def test_a_label_comes_from_the_name_the_header_or_the_tensors(tmp_path: Path) -> None:
    by_header = write_target(tmp_path / "one.gguf", keys={"general.file_type": 15})
    by_folder = write_target(tmp_path / "UD-Q2_K_XL" / "two.gguf")
    without = write_target(tmp_path / "Qwen3-8B.gguf")
    labels = [one.label for one in read(by_header, by_folder, without)[0]]
    assert labels == ["Q4_K_M", "UD-Q2_K_XL", "F32"]


def test_drafters_and_a_projector_near_it_belong_to_it(tmp_path: Path) -> None:
    target = write_target(tmp_path / "model-Q8_0.gguf", padding=100)
    write_dflash(tmp_path / "dflash.gguf")
    projector = write_projector(tmp_path / "mmproj.gguf")
    ((one,), _) = read(target)
    kinds = [drafter.kind for drafter in one.found.drafters]
    assert kinds == [DrafterKind.DFLASH, DrafterKind.NGRAM]
    assert one.projector is not None
    assert one.projector.path == projector


def test_what_is_no_model_is_left_out(tmp_path: Path) -> None:
    others = [
        write_dflash(tmp_path / "a.gguf"),
        write_mtp(tmp_path / "b.gguf"),
        write_projector(tmp_path / "c.gguf"),
        write_imatrix(tmp_path / "d.gguf"),
        write_vocabulary(tmp_path / "e.gguf"),
    ]
    assert read(*others) == ((), ())


def test_what_cannot_be_read_is_told_beside_the_rest(tmp_path: Path) -> None:
    good = write_target(tmp_path / "good.gguf")
    text = tmp_path / "text.gguf"
    text.write_text("I am a text")
    half = tmp_path / "half.gguf"
    half.write_bytes(good.read_bytes()[:500])
    absurd = write_target(tmp_path / "absurd.gguf", keys={"qwen3.block_count": 4_000_000_000})
    read_ones, problems = read(text, half, absurd, good, tmp_path / "gone.gguf")
    assert [one.files for one in read_ones] == [(good,)]
    codes = [problem.code for problem in problems]
    assert codes == ["not_a_model", "damaged_file", "impossible_shape", "not_found"]


def test_it_can_be_stopped(tmp_path: Path) -> None:
    stopped = CancelToken()
    stopped.cancel()
    with pytest.raises(Cancelled):
        local_quantizations([write_target(tmp_path / "a.gguf")], stopped)
