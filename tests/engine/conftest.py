"""Engines for tests: the real embedded one, and programs that behave badly."""

import stat
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bad_engines import BadEngine, Posing
from slipstream.engine.spec import EngineSpec
from slipstream.paths import resources


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The app's data of this test alone."""
    home = tmp_path / "home"
    monkeypatch.setenv("SLIPSTREAM_HOME", str(home))
    return home


@pytest.fixture
def bad_engine(tmp_path: Path) -> BadEngine:
    """Writes a Python program that poses as an engine."""

    def write(body: str) -> Path:
        program = tmp_path / "llama-server"
        program.write_text(f"#!{sys.executable}\nimport os, signal, sys, time\n{body}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return program

    return write


@pytest.fixture
def posing_as(embedded: EngineSpec, bad_engine: BadEngine) -> Posing:
    """A bad program with a good name: it is launched as if it could what the real one can."""

    def make(body: str) -> EngineSpec:
        program = bad_engine(body)
        return replace(embedded, id="bad", path=program, command=(str(program),))

    return make


@pytest.fixture(scope="session")
def demo() -> Path:
    """The demo model."""
    return resources() / "demo" / "Slipstream-Demo-Deep-3M-Q8_0.gguf"


@pytest.fixture(scope="session")
def dflash() -> Path:
    """The demo model's DFlash drafter."""
    return resources() / "demo" / "dflash-Slipstream-Demo-3M-Q8_0.gguf"


@pytest.fixture
def half_a_model(tmp_path: Path, demo: Path) -> Path:
    """The first million bytes of the demo model."""
    file = tmp_path / "half.gguf"
    file.write_bytes(demo.read_bytes()[:1_000_000])
    return file
