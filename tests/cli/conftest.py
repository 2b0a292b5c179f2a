"""The installed command, run as a person runs it."""

import io
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import COMMAND, Ended
from slipstream.cli import app, output
from slipstream.engine.spec import learn


@pytest.fixture(scope="session")
def known_engines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that knows the embedded engine: asking it takes longer than anything else."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLIPSTREAM_HOME", str(home))
        assert learn("embedded").ok
    return home / "cache"


@pytest.fixture
def environment(tmp_path: Path, known_engines: Path) -> dict[str, str]:
    """A home of its own, no display."""
    config = tmp_path / "home" / "config"
    config.mkdir(parents=True)
    shutil.copytree(known_engines, tmp_path / "home" / "cache")
    # Two spinning threads crawl on a machine that has other things to do.
    (config / "settings.json").write_text('{"threads": 1}')
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
    return {**kept, "SLIPSTREAM_HOME": str(tmp_path / "home"), "HF_HOME": str(tmp_path / "hf")}


@pytest.fixture
def slipstream(environment: dict[str, str], tmp_path: Path) -> Callable[..., Ended]:
    """Run ``slipstream ARGUMENTS``, with ``stdin`` as piped text."""

    def run(*arguments: str, stdin: str = "") -> Ended:
        done = subprocess.run(
            [COMMAND, *arguments],
            input=stdin,
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def verb(
    environment: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., Ended]:
    """The same without a process of its own, which takes half a second to import."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(output, "open_streams", lambda: None)  # pytest holds them
    monkeypatch.setattr("sys.stdin", io.StringIO())

    def run(*arguments: str) -> Ended:
        code = app.main(arguments)
        printed = capsys.readouterr()
        return Ended(code, printed.out, printed.err)

    return run
