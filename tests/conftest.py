"""Fixtures that several packages' tests share."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from running_engine import DEMO, RunningEngine, start
from slipstream.engine.spec import EngineSpec, learn

# how long an example takes says nothing on a shared machine
settings.register_profile("slipstream", deadline=None, max_examples=40)
settings.load_profile("slipstream")


@pytest.fixture(scope="session", autouse=True)
def no_real_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing that is run here reads or writes the user's own data, models and secrets."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLIPSTREAM_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("HF_HOME", str(tmp_path_factory.mktemp("huggingface")))
        patch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
        for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_ENDPOINT", "HF_HUB_CACHE"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="session")
def engine() -> Iterator[Callable[..., RunningEngine]]:
    """Get a running engine: ``engine("plain" | "mtp" | "dflash" | "ngram", model)``.

    Each is started once and ends with the session. The model is the demo unless one is given.
    """
    running: dict[tuple[str, Path], RunningEngine] = {}

    def get(spec: str, model: Path = DEMO) -> RunningEngine:
        if (spec, model) not in running:
            running[spec, model] = start(spec, model)
        return running[spec, model]

    yield get
    for one in running.values():
        one.end()


@pytest.fixture
def engine_alone() -> Iterator[RunningEngine]:
    """A running engine of the test's own, to be mistreated."""
    running = start("plain")
    yield running
    running.end()


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> EngineSpec:
    """The embedded engine, asked once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLIPSTREAM_HOME", str(tmp_path_factory.mktemp("home")))
        spec = learn("embedded")
    assert spec.ok, spec.problem
    return spec
