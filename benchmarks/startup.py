"""How fast the window starts and how little it uses: prints JSON.

Starts the real app five times in an empty home (needs a display, for example Xvfb), after one
start that warms the caches. "Ready" is the first turn of the event loop after the window
was painted and the last chat opened; the app writes it into its log.
"""

import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

import psutil

STARTS = 5
SETTLE = 4.0  # seconds, in which the demo model is loaded
WATCHED = 5.0  # seconds
DEADLINE = 30.0  # seconds
READY = re.compile(r"^(\S+ \S+) INFO slipstream\.ui\.app: window ready$", re.MULTILINE)
LIMITS = {"ready_seconds": 1.0, "idle_cpu_percent": 1.0, "resident_mb": 200.0}


def main() -> int:
    _start(watch=False)
    runs = [_start(watch=number == STARTS - 1) for number in range(STARTS)]
    last = runs[-1]
    measured = {
        "ready_seconds": round(statistics.median(run["ready_seconds"] for run in runs), 3),
        "idle_cpu_percent": last["idle_cpu_percent"],
        "resident_mb": last["resident_mb"],
    }
    kept = all(measured[name] <= limit for name, limit in LIMITS.items())
    every = [run["ready_seconds"] for run in runs]
    print(json.dumps({**measured, "every_start": every, "limits": LIMITS, "kept": kept}, indent=1))
    return 0 if kept else 1


def _start(*, watch: bool) -> dict[str, float]:
    """Start the app once, measure it, and end it."""
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "SLIPSTREAM_HOME": home}
        if not environment.get("DISPLAY") and not environment.get("WAYLAND_DISPLAY"):
            environment.setdefault("QT_QPA_PLATFORM", "offscreen")
        command = [sys.executable, "-m", "slipstream"]
        started = datetime.now()
        with subprocess.Popen(command, env=environment) as app:
            try:
                measured = {
                    "ready_seconds": _ready(Path(home) / "logs" / "window.log", app, started)
                }
                if watch:
                    measured |= _watch(psutil.Process(app.pid))
            finally:
                app.send_signal(signal.SIGTERM)
                app.wait(DEADLINE)
        return measured


def _ready(log: Path, app: "subprocess.Popen[bytes]", started: datetime) -> float:
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline and app.poll() is None:
        found = READY.search(log.read_text()) if log.exists() else None
        if found:
            ready = datetime.strptime(found[1], "%Y-%m-%d %H:%M:%S,%f")
            return round((ready - started).total_seconds(), 3)
        time.sleep(0.02)
    raise SystemExit("the window did not open")


def _watch(process: psutil.Process) -> dict[str, float]:
    """What the window's own process uses while nothing happens; the engine is another one."""
    time.sleep(SETTLE)
    process.cpu_percent()
    time.sleep(WATCHED)
    return {
        "idle_cpu_percent": process.cpu_percent(),
        "resident_mb": round(process.memory_info().rss / 1e6, 1),
    }


if __name__ == "__main__":
    sys.exit(main())
