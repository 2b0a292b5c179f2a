"""What is wrong with a launch is told before an engine starts."""

import shutil
from dataclasses import replace
from pathlib import Path

import gguf
import numpy as np
import pytest

from slipstream.drafters.kinds import DrafterKind, SpecConfig
from slipstream.engine.answers import Device
from slipstream.engine.config import LaunchConfig
from slipstream.engine.preflight import check
from slipstream.errors import SlipstreamError
from slipstream.machine.memory import Memory

PLENTY = Memory(total=64 << 30, free=32 << 30)
SMALL = Memory(total=8 << 20, free=4 << 20)


def write_gguf(path: Path, architecture: str, kind: str = "model") -> Path:
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_type(kind)
    writer.add_tensor("a.weight", np.zeros((32, 32), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def refused(
    model: Path,
    *,
    memory: Memory = PLENTY,
    drafter: Path | None = None,
    devices: tuple[Device, ...] = (),
) -> SlipstreamError:
    spec = SpecConfig(DrafterKind.DFLASH, drafter, 3) if drafter else SpecConfig(None)
    with pytest.raises(SlipstreamError) as raised:
        check(LaunchConfig(model, 4096, spec), memory, devices)
    assert raised.value.action.endswith(".")
    return raised.value


def test_a_good_launch_passes(demo: Path, dflash: Path) -> None:
    check(LaunchConfig(demo, 4096), PLENTY)
    check(LaunchConfig(demo, 4096, SpecConfig(DrafterKind.DFLASH, dflash, 3)), PLENTY)


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    assert refused(tmp_path / "nothing.gguf").code == "not_found"
    assert refused(tmp_path).code == "unreadable"


def test_text_with_the_name_of_a_model(tmp_path: Path) -> None:
    text = tmp_path / "text.gguf"
    text.write_text("hello " * 100)
    assert refused(text).code == "not_a_model"


def test_a_truncated_model_tells_what_is_missing(demo: Path, half_a_model: Path) -> None:
    failure = refused(half_a_model)
    assert failure.code == "damaged_file"
    missing = int(str(failure.facts["missing"]))
    assert missing == demo.stat().st_size - 1_000_000
    assert f"{missing:,} bytes are missing" in failure.message


def test_a_missing_shard(tmp_path: Path, demo: Path) -> None:
    first = tmp_path / "m-00001-of-00002.gguf"
    shutil.copy(demo, first)
    assert refused(first).code == "missing_shard"
    shutil.copy(demo, tmp_path / "m-00002-of-00002.gguf")
    later = refused(tmp_path / "m-00002-of-00002.gguf")
    assert later.code == "not_a_model"
    assert first.name in later.action


def test_a_drafter_is_not_opened_as_a_model(dflash: Path) -> None:
    failure = refused(dflash)
    assert failure.code == "not_a_model"
    assert "DFlash drafter" in failure.message
    assert failure.facts["role"] == "dflash"


@pytest.mark.parametrize(
    ("architecture", "kind", "word"),
    [
        ("clip", "mmproj", "projector"),
        ("llama", "imatrix", "quantizations"),
        ("llama", "adapter", "adapter"),
        ("eagle3", "model", "EAGLE-3"),
    ],
)
def test_other_files_are_named_for_what_they_are(
    tmp_path: Path, architecture: str, kind: str, word: str
) -> None:
    failure = refused(write_gguf(tmp_path / "x.gguf", architecture, kind))
    assert failure.code == "not_a_model"
    assert word in failure.message


def test_the_drafter_is_looked_at_too(demo: Path, half_a_model: Path, tmp_path: Path) -> None:
    assert refused(demo, drafter=tmp_path / "nothing.gguf").code == "drafter_damaged"
    truncated = refused(demo, drafter=half_a_model)
    assert truncated.code == "drafter_damaged"
    assert half_a_model.name in truncated.message
    projector = write_gguf(tmp_path / "p.gguf", "clip", "mmproj")
    assert refused(demo, drafter=projector).code == "drafter_mismatch"


def test_a_model_larger_than_memory_is_refused_with_numbers(demo: Path) -> None:
    failure = refused(demo, memory=SMALL)
    assert failure.code == "not_enough_memory"
    assert failure.facts["free"] == SMALL.free
    assert int(str(failure.facts["needed"])) > 16_000_000


def test_memory_of_gpus_counts_unless_it_is_the_main_memory(demo: Path) -> None:
    card = Device("CUDA0", "Card", "CUDA", 1 << 30, 1 << 30, unified=False)
    check(LaunchConfig(demo, 4096), SMALL, [card])
    assert refused(demo, memory=SMALL, devices=(replace(card, unified=True),)).code == (
        "not_enough_memory"
    )


def test_unknown_memory_refuses_nothing(demo: Path) -> None:
    check(LaunchConfig(demo, 4096), Memory(0, 0))
