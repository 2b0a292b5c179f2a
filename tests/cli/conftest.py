"""The installed command, run as a person runs it."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import COMMAND, Ended


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A home of its own, no display."""
    config = tmp_path / "home" / "config"
    config.mkdir(parents=True)
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
