"""A worker on loopback that an engine takes for a graphics card with much memory."""

import contextlib
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from slipstream.engine.process import free_port
from slipstream.engine.spec import EngineSpec

DEVICE = "RPC0"
_START_SECONDS = 10.0


@contextlib.contextmanager
def with_worker(engine: EngineSpec) -> Iterator[EngineSpec]:
    """The same engine with a device, served by the ``ggml-rpc-server`` beside it."""
    port = free_port()
    program = Path(engine.path).with_name("ggml-rpc-server")
    command = [str(program), "--host", "127.0.0.1", "--port", str(port)]
    null = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=null, stdout=null, stderr=null) as worker:
        try:
            _wait_for(port)
            yield replace(engine, command=(*engine.command, "--rpc", f"127.0.0.1:{port}"))
        finally:
            worker.kill()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0):
            return
        time.sleep(0.05)
    raise SystemExit("the worker did not start")
