"""The embedded engine: llama.cpp's own server inside a Python process, run like ``llama-server``.

``python -m slipstream.engine.embedded --model FILE --port N ...`` takes the flags of
``llama-server`` (``embedded_flags.py``) and behaves like it: it logs to standard error, ends with
status 1 when the model cannot be loaded, and stops cleanly on SIGTERM or, as the child of an app
(``LLAMA_SERVER_ROUTER_PORT`` is set), when its standard input ends.

With ``--dry-run`` it lays the model out, prints what memory that takes, and ends with status 0
before it reads any weight; with status 1 when the model cannot be laid out.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, cast

_MIB = 1 << 20
_DRY_RUN = "--dry-run"
_LAID_OUT = b"projected to use "
_NOT_LAID_OUT = b"fitting params to free memory took "
"""In the line after the projection, also where there is none."""


def main(argv: Sequence[str]) -> int:
    """Run one command line; returns the exit status."""
    if "--help" in argv or "-h" in argv:
        from slipstream.engine.embedded_flags import help_text

        print(f"----- embedded engine -----\n\n{help_text()}")  # noqa: T201
        return 0
    if "--version" in argv:
        return _print_version()
    if "--list-devices" in argv:
        return _print_devices()
    if _DRY_RUN in argv:
        return _dry_run([word for word in argv if word != _DRY_RUN])
    return _serve(argv)


def _dry_run(argv: Sequence[str]) -> int:
    """Run the engine in a process of its own, and end it when it has printed the projection.

    The bindings hold Python's lock as long as they load, so nothing in that process could end it.
    """
    output, end = _start([*argv, "--verbosity", "4", "--fit", "on"])
    status = 1
    with output:
        for line in output:
            sys.stderr.buffer.write(line)
            if _LAID_OUT in line or _NOT_LAID_OUT in line:
                status = 0 if _LAID_OUT in line else 1
                break
    end()
    sys.stderr.buffer.flush()
    return status


if sys.platform == "win32":

    def _start(argv: Sequence[str]) -> tuple[BinaryIO, Callable[[], None]]:
        """The output of an engine, and what ends it."""
        import subprocess

        from slipstream.engine.environment import own_python

        engine = subprocess.Popen(
            [*own_python(), "-m", "slipstream.engine.embedded", *argv],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return cast(BinaryIO, engine.stdout), engine.kill

else:

    def _start(argv: Sequence[str]) -> tuple[BinaryIO, Callable[[], None]]:
        """The output of an engine, and what ends it. A fork saves the start of another Python."""
        reading, writing = os.pipe()
        engine = os.fork()
        if engine == 0:
            os.close(reading)
            os.dup2(writing, 1)
            os.dup2(writing, 2)
            try:
                os._exit(_serve(argv))
            finally:
                os._exit(1)
        os.close(writing)

        def end() -> None:
            os.kill(engine, signal.SIGKILL)
            os.waitpid(engine, 0)

        return os.fdopen(reading, "rb"), end


def _print_version() -> int:
    import xllamacpp

    info = xllamacpp.BUILD_INFO
    print(  # noqa: T201
        f"version: xllamacpp {xllamacpp.__version__}\n"
        f"built with {info['compiler']} for {info['build_target']}"
    )
    return 0


def _print_devices() -> int:
    import xllamacpp

    cpu = xllamacpp.ggml_backend_dev_type.GGML_BACKEND_DEVICE_TYPE_CPU
    devices = [device for device in xllamacpp.get_device_info() if device["type"] != cpu]
    print("Available devices:")  # noqa: T201
    for device in devices:
        total, free = device["memory_total"] // _MIB, device["memory_free"] // _MIB
        print(  # noqa: T201
            f"  {device['name']}: {device['description']} ({total} MiB, {free} MiB free)"
        )
    if not devices:
        print("  (none)")  # noqa: T201
    return 0


def _serve(argv: Sequence[str]) -> int:
    # Loading blocks inside C++, where Python's own handlers do not run: let signals end it at once.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    import xllamacpp

    from slipstream.engine.embedded_flags import InvalidArgument, parse

    our_input, to_server = _keep_standard_input()
    params = xllamacpp.CommonParams()
    try:
        parse(_keys_of_environment() + list(argv), params)
        if not params.model.path:
            raise InvalidArgument("error: --model is required")  # noqa: TRY301
        server = xllamacpp.Server(params)
    except (InvalidArgument, RuntimeError) as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    print(f"listening on {server.listening_address}", file=sys.stderr, flush=True)  # noqa: T201
    _wait_until_asked_to_stop(our_input)
    from slipstream.engine.guardian import EXIT_COMMAND

    os.write(to_server, EXIT_COMMAND)
    del server
    return 0


def _keep_standard_input() -> tuple[int, int]:
    """Give the C++ server, which also watches standard input, a pipe of its own instead.

    Returns: the real standard input, and the end that writes to the server.
    """
    ours = os.dup(0)
    for_server, to_server = os.pipe()
    os.dup2(for_server, 0)
    return ours, to_server


def _keys_of_environment() -> list[str]:
    key = os.environ.get("LLAMA_API_KEY")
    return ["--api-key", key] if key else []


def _wait_until_asked_to_stop(our_input: int) -> None:
    asked = threading.Event()

    def stop(*_: Any) -> None:
        asked.set()

    def stop_at_end_of_input() -> None:
        while os.read(our_input, 1024):
            pass
        asked.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    if "LLAMA_SERVER_ROUTER_PORT" in os.environ:
        threading.Thread(target=stop_at_end_of_input, daemon=True).start()
    # Windows cannot interrupt a wait without a limit.
    while not asked.wait(timeout=0.5):
        pass


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
