"""What a launch took is recorded beside what was predicted."""

from pathlib import Path

import pytest

from slipstream.engine.config import LaunchConfig
from slipstream.engine.outcome import keep_outcome
from slipstream.engine.spec import EngineSpec
from slipstream.machine.devices import Device
from slipstream.machine.memory import Memory
from slipstream.planning.computer import Computer
from slipstream.planning.truth import recent
from slipstream.weights.header import Header
from slipstream.weights.shards import read_model

LOG = (
    "load_tensors: loading model tensors, this can take a while... (load_mode = mmap)",
    "load_tensors:   CPU_Mapped model buffer size =    17.15 MiB",
    "llama_context: constructing llama_context",
    "llama_kv_cache:        CPU KV buffer size =    23.00 MiB",
)
HERE = Computer(Memory(8 << 30, 8 << 30))
CARD = Device("CUDA0", "Card", "CUDA", 8 << 30, 8 << 30, unified=False)


@pytest.fixture
def target(demo: Path) -> Header:
    return read_model(demo)


def test_a_launch_in_main_memory_is_compared_with_the_formula(
    embedded: EngineSpec, target: Header
) -> None:
    keep_outcome(embedded, LaunchConfig(target.path, 1024), target, HERE, LOG)
    (kept,) = recent(9)
    assert kept.predicted.method == "formula"
    assert kept.build == embedded.build


def test_where_there_is_a_card_the_formula_expects_the_model_on_it(
    embedded: EngineSpec, target: Header
) -> None:
    computer = Computer(HERE.memory, (CARD,))
    keep_outcome(embedded, LaunchConfig(target.path, 1024), target, computer, LOG)
    (kept,) = recent(9)
    assert kept.predicted.breakdown.target["CUDA0"].weights > (15 << 20)


def test_an_engine_that_tells_nothing_leaves_no_record(
    embedded: EngineSpec, target: Header
) -> None:
    keep_outcome(embedded, LaunchConfig(target.path, 1024), target, HERE, ["hello"])
    assert recent(9) == ()
