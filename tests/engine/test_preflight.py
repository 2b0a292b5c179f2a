"""What is wrong with a launch is told before an engine starts."""

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import gguf
import numpy as np
import pytest

from gguf_files import write_target
from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecConfig
from slipstream.engine.config import LaunchConfig
from slipstream.engine.ladder import helps
from slipstream.engine.preflight import check_context, check_files, check_memory, check_settings
from slipstream.errors import SlipstreamError
from slipstream.machine.devices import Device
from slipstream.machine.memory import Memory
from slipstream.planning.computer import Computer
from slipstream.weights.shards import read_model
from slipstream.words import size

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


def refused(model: Path) -> SlipstreamError:
    with pytest.raises(SlipstreamError) as raised:
        check_files(model, read_model(model))
    assert raised.value.action.endswith(".")
    return raised.value


def test_a_good_model_passes(demo: Path) -> None:
    check_files(demo, read_model(demo))


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
    assert size(missing) in failure.message


def test_a_missing_shard(tmp_path: Path, demo: Path) -> None:
    first = tmp_path / "m-00001-of-00002.gguf"
    shutil.copy(demo, first)
    assert refused(first).code == "missing_shard"
    second = write_gguf(tmp_path / "m-00002-of-00002.gguf", "qwen35")
    later = refused(second)
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


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"qwen3.block_count": 0}, "0 layers"),
        ({"qwen3.block_count": 2**31 - 1}, "2,147,483,647 layers"),
        ({"qwen3.ssm.inner_size": 13_041_728}, "13,041,728 values wide"),
        ({"qwen3.nextn_predict_layers": 7}, "an MTP head of 7 layers"),
        ({"qwen3.context_length": 0}, "a context of 0 tokens"),
        ({"qwen3.context_length": 1}, "a context of 1 tokens"),
    ],
)
def test_numbers_that_would_crash_the_engine_are_refused(
    tmp_path: Path, keys: dict[str, int], words: str
) -> None:
    failure = refused(write_target(tmp_path / "x.gguf", keys=keys))
    assert failure.code == "damaged_file"
    assert words in failure.message


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text there")
def test_a_name_that_is_no_text_is_told_as_such(tmp_path: Path, demo: Path) -> None:
    """The embedded engine takes paths as text."""
    copy = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.gguf"))
    shutil.copy(demo, copy)
    failure = refused(copy)
    assert failure.code == "unusable_name"
    assert str(failure.facts["path"]).encode()


def too_large(config: LaunchConfig, memory: Memory, *devices: Device) -> SlipstreamError:
    with pytest.raises(SlipstreamError) as raised:
        check_memory(config, Computer(memory, devices))
    assert raised.value.code == "model_too_large"
    return raised.value


def test_a_model_larger_than_all_memory_is_refused_with_numbers(demo: Path) -> None:
    failure = too_large(LaunchConfig(demo, 4096), SMALL)
    assert failure.facts == {
        "path": str(demo),
        "needed": demo.stat().st_size,
        "free": SMALL.free,
        "total": SMALL.total,
    }
    assert demo.name in failure.message
    assert size(SMALL.total) in failure.message


def test_a_model_larger_than_free_memory_may_run_from_the_disk(demo: Path) -> None:
    check_memory(LaunchConfig(demo, 4096), Computer(Memory(total=32 << 20, free=1 << 20)))


def test_the_file_of_the_drafter_counts_too(demo: Path, dflash: Path) -> None:
    with_drafter = LaunchConfig(demo, 4096, SpecConfig(DrafterKind.DFLASH, dflash, 3))
    just_enough = Memory(total=demo.stat().st_size, free=1 << 20)
    check_memory(replace(with_drafter, spec=PLAIN), Computer(just_enough))
    assert dflash.name in too_large(with_drafter, just_enough).message


def test_memory_of_gpus_counts_unless_it_is_the_main_memory(demo: Path) -> None:
    card = Device("CUDA0", "Card", "CUDA", 1 << 30, 1 << 20, unified=False)
    config = LaunchConfig(demo, 4096)
    check_memory(config, Computer(SMALL, (card,)))
    too_large(config, SMALL, replace(card, unified=True))
    tiny = replace(card, total=1 << 20, free=1 << 19)
    assert too_large(config, SMALL, tiny).facts["free"] == SMALL.free + tiny.free


def test_unknown_memory_refuses_nothing(demo: Path) -> None:
    check_memory(LaunchConfig(demo, 4096), Computer(Memory(0, 0)))


def test_a_context_larger_than_all_memory_is_refused_with_numbers(demo: Path) -> None:
    header, little = read_model(demo), Computer(Memory(total=50 << 20, free=50 << 20))
    with pytest.raises(SlipstreamError) as refused:
        check_context(LaunchConfig(demo, 4096), header, little)
    assert refused.value.code == "not_enough_memory"
    assert refused.value.message.startswith("4,096 tokens of context need about")
    assert helps(refused.value.code, LaunchConfig(demo, 4096), LaunchConfig(demo, 1024))
    check_context(LaunchConfig(demo, 1024), header, little)


def test_a_context_has_room_on_a_card_of_its_own(demo: Path) -> None:
    card = Device("CUDA0", "Card", "CUDA", 1 << 30, 1 << 30, unified=False)
    check_context(LaunchConfig(demo, 4096), read_model(demo), Computer(SMALL, (card,)))


def test_a_drafter_that_cannot_be_read_is_left_to_the_engine(demo: Path, tmp_path: Path) -> None:
    gone = SpecConfig(DrafterKind.DFLASH, tmp_path / "gone.gguf", 3)
    large = Computer(Memory(1 << 40, 1 << 40))
    check_context(LaunchConfig(demo, 4096, gone), read_model(demo), large)


@pytest.mark.parametrize("kv_type", ["q8_0", "q4_0", "iq4_nl"])
def test_a_quantized_cache_without_flash_attention_is_a_conflict_of_two_settings(
    demo: Path, kv_type: str
) -> None:
    config = LaunchConfig(demo, 1024, kv_type=kv_type, flash_attention="off")
    with pytest.raises(SlipstreamError) as raised:
        check_settings(config)
    assert raised.value.code == "setting_conflict"
    assert kv_type in raised.value.message
    assert "flash attention" in raised.value.message
    assert "“Flash attention”" in raised.value.action
    for fine in (replace(config, flash_attention="auto"), replace(config, kv_type="bf16")):
        check_settings(fine)
