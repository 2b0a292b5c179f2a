"""Real engines for tests: each a child process that serves one model."""

import contextlib
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil

from slipstream import paths

DEMO = paths.resources() / "demo" / "Slipstream-Demo-Deep-3M-Q8_0.gguf"
KEY = "key-of-the-tests"

_SPECS: dict[str, dict[str, object]] = {
    "plain": {},
    "mtp": {"type": "DRAFT_MTP", "draft_tokens": 3},
    "dflash": {
        "type": "DRAFT_DFLASH",
        "draft_tokens": 5,
        "drafter": str(DEMO.with_name("dflash-Slipstream-Demo-3M-Q8_0.gguf")),
    },
    "ngram": {"type": "NGRAM_SIMPLE"},
}


@dataclass(frozen=True)
class RunningEngine:
    """Where it listens, and its process."""

    address: str
    key: str
    process: "subprocess.Popen[str]"

    def end(self) -> None:
        with self.process as process:
            process.kill()


def start(spec: str, model: Path = DEMO) -> RunningEngine:
    """Start an engine that speculates as ``_SPECS`` says, with a context of 4,096 tokens."""
    wanted = {"model": str(model), "context": 4096, "key": KEY, **_SPECS[spec]}
    child = Path(__file__).with_name("engine_child.py")
    process = subprocess.Popen(
        [sys.executable, str(child), json.dumps(wanted)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout
    address = process.stdout.readline().strip()
    assert address, "the engine did not start"
    return RunningEngine(address, KEY, process)


def guardians() -> list[psutil.Process]:
    """The guardians of the engines that this process has started and not ended yet."""
    found = []
    for child in psutil.Process().children():
        # It may end while it is looked at.
        with contextlib.suppress(psutil.Error):
            if "guardian.py" in " ".join(child.cmdline()):
                found.append(child)
    return found
