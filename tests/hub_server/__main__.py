"""Start the test Hub by hand: ``python -m hub_server``, in ``tests/``."""

# ruff: noqa: T201  a program for a terminal

import argparse
import signal
import sys
import threading
from pathlib import Path

from hub_server.layouts import demo_hub, repos_in
from hub_server.log import Request
from hub_server.server import TOKEN, USER, HubServer


def main() -> int:
    """Serve until Ctrl+C; what was asked goes to standard error."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    wanted = _arguments()
    repos = demo_hub() | (repos_in(wanted.folder) if wanted.folder else {})
    try:
        hub = HubServer(*repos.values(), port=wanted.port, told=_tell)
    except OSError as error:
        print(f"Port {wanted.port} cannot be used: {error.strerror}.", file=sys.stderr)
        return 1
    hub.sending.rate = wanted.rate
    hub.faults.latency = wanted.latency
    with hub:
        print(f"export HF_ENDPOINT={hub.endpoint}", flush=True)
        print(f"# HF_TOKEN={TOKEN} is {USER}, who may read gated and private repositories:")
        for repo in repos.values():
            print(f"#   {repo.id}{_remark(repo.gated, repo.private, repo.renamed_to)}")
        sys.stdout.flush()
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print(file=sys.stderr)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m hub_server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="of the Hub; any free one")
    parser.add_argument("--folder", type=Path, help="with owner/name/files to serve as well")
    parser.add_argument("--rate", type=float, default=0, help="bytes/s of each connection")
    parser.add_argument("--latency", type=float, default=0, help="seconds before each answer")
    return parser.parse_args()


def _remark(gated: object, private: bool, renamed_to: str | None) -> str:
    words = ["gated"] if gated else []
    words += ["private"] if private else []
    words += [f"now {renamed_to}"] if renamed_to else []
    return f" ({', '.join(words)})" if words else ""


def _tell(request: Request) -> None:
    asked = request.headers.get("range", "")
    line = f"{request.listener} {request.status} {request.method} {request.path} {asked}"
    print(f"{line.rstrip()} -> {request.sent:,} bytes", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
