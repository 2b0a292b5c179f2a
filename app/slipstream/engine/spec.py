"""What an engine is and can do, learnt from the binary itself."""

import contextlib
import shutil
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from slipstream import settings
from slipstream.engine import spec_cache
from slipstream.engine.answers import (
    Device,
    parse_backends,
    parse_build,
    parse_devices,
    parse_flags,
    parse_spec_types,
)
from slipstream.engine.child import Child
from slipstream.engine.environment import child_environment, own_python
from slipstream.engine.failures import engine_problem, name_exit
from slipstream.errors import SlipstreamError

ANSWER_SECONDS = 10.0
LONGEST_ANSWER = 1_000_000
"""Bytes; llama-server's help is about 100 kB."""

EngineKind = Literal["embedded", "llama-server"]


@dataclass(frozen=True)
class EngineSpec:
    """What one engine can do.

    Attributes:
        id: stable name: "embedded", or the path of the binary.
        kind: our embedded engine, or a ``llama-server``.
        path: the binary.
        command: what starts it.
        build: version as it tells it.
        backends: "CPU" and what else it drives.
        devices: what can hold layers, besides the CPU; ``list_devices`` reads it anew.
        flags: every spelling of every option that it takes.
        spec_types: its kinds of speculation, in its own words.
        problem: why it cannot be used; None if it can.
    """

    id: str
    kind: EngineKind
    path: Path
    command: tuple[str, ...]
    build: str = ""
    backends: tuple[str, ...] = ("CPU",)
    devices: tuple[Device, ...] = ()
    flags: frozenset[str] = frozenset()
    spec_types: tuple[str, ...] = ()
    problem: SlipstreamError | None = None

    @property
    def ok(self) -> bool:
        """Whether it can be used."""
        return self.problem is None


def find_engines(extra: Sequence[Path] = ()) -> tuple[EngineSpec, ...]:
    """Every engine there is: the embedded one, those the user named, ``llama-server`` on PATH."""
    on_path = shutil.which("llama-server")
    distinct: dict[Path, Path] = {}
    for path in [*extra, *([Path(on_path)] if on_path else [])]:
        distinct.setdefault(path.expanduser().resolve(), path.expanduser())
    servers = [learn("llama-server", path) for path in distinct.values()]
    return (learn("embedded"), *servers)


def chosen_engine() -> EngineSpec:
    """The engine that the settings name.

    Raises: SlipstreamError, if it cannot be used.
    """
    choice = settings.load().settings.engine
    embedded = choice == settings.EMBEDDED
    spec = learn("embedded") if embedded else learn("llama-server", Path(choice).expanduser())
    if spec.problem is not None:
        raise spec.problem
    return spec


def learn(kind: EngineKind, path: Path | None = None) -> EngineSpec:
    """Ask an engine what it can do, or remember it; never raises, a failure is its ``problem``.

    Args:
        kind: which kind of engine.
        path: the binary of a ``llama-server``.
    """
    spec = _embedded() if kind == "embedded" or path is None else _server(path)
    key = spec_cache.fingerprint(_own_files(spec))
    remembered = spec_cache.read(key)
    if remembered is not None:
        with contextlib.suppress(KeyError, TypeError):
            return _from_json(spec, remembered)
    try:
        learnt = _ask_everything(spec)
    except SlipstreamError as problem:
        return replace(spec, problem=problem)
    spec_cache.write(key, _to_json(learnt))
    return learnt


def list_devices(spec: EngineSpec) -> tuple[Device, ...]:
    """The devices of an engine with the memory that is free now.

    Raises: SlipstreamError, if the engine does not answer.
    """
    return parse_devices(_ask(spec, "--list-devices"))


def _embedded() -> EngineSpec:
    module = find_spec("xllamacpp")
    folder = Path(module.origin).parent if module and module.origin else Path("xllamacpp")
    compiled = [file for file in folder.glob("xllamacpp*") if file.suffix in {".so", ".pyd"}]
    binary = compiled[0] if compiled else folder
    command = (*own_python(), "-m", "slipstream.engine.embedded")
    return EngineSpec("embedded", "embedded", binary, command)


def _server(path: Path) -> EngineSpec:
    return EngineSpec(str(path), "llama-server", path, (str(path),))


def _own_files(spec: EngineSpec) -> list[Path]:
    """The files whose change means that the engine has to be asked again."""
    own = (
        ["embedded.py", "embedded_flags.py", "embedded_values.py"]
        if spec.kind == "embedded"
        else []
    )
    return [spec.path, *(Path(__file__).with_name(name) for name in own)]


def _to_json(spec: EngineSpec) -> dict[str, Any]:
    """What can be remembered: free memory cannot."""
    return {
        "build": spec.build,
        "backends": list(spec.backends),
        "devices": [asdict(replace(device, free=None)) for device in spec.devices],
        "flags": sorted(spec.flags),
        "spec_types": list(spec.spec_types),
    }


def _from_json(spec: EngineSpec, remembered: dict[str, Any]) -> EngineSpec:
    return replace(
        spec,
        build=remembered["build"],
        backends=tuple(remembered["backends"]),
        devices=tuple(Device(**device) for device in remembered["devices"]),
        flags=frozenset(remembered["flags"]),
        spec_types=tuple(remembered["spec_types"]),
    )


def _ask_everything(spec: EngineSpec) -> EngineSpec:
    if not spec.path.is_file():
        raise engine_problem("engine_missing", spec.path)
    usage = _ask(spec, "--help")
    flags = parse_flags(usage)
    if not {"--model", "--port"} <= flags:
        raise engine_problem("not_an_engine", spec.path)
    listing = _ask(spec, "--list-devices") if "--list-devices" in flags else ""
    devices = parse_devices(listing)
    return replace(
        spec,
        build=parse_build(_ask(spec, "--version")),
        backends=parse_backends(listing, devices),
        devices=devices,
        flags=flags,
        spec_types=parse_spec_types(usage),
    )


def _ask(spec: EngineSpec, question: str) -> str:
    """What the engine prints.

    Raises: SlipstreamError, if it does not end well in time, or does not stop printing.
    """
    child = Child([*spec.command, question], child_environment())
    answer = bytearray()

    def read() -> None:
        while len(answer) < LONGEST_ANSWER and (chunk := child.output.read(65536)):
            answer.extend(chunk)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(ANSWER_SECONDS)
    finished = not reader.is_alive() and len(answer) < LONGEST_ANSWER
    status = child.wait(1.0) if finished else None
    if status is None:
        child.kill()
    child.ask_to_end()
    reader.join(1.0)
    if not reader.is_alive():
        child.output.close()
    if len(answer) >= LONGEST_ANSWER:
        raise engine_problem("not_an_engine", spec.path)
    if status is None:
        raise engine_problem("engine_hung", spec.path)
    text = answer.decode("utf-8", errors="replace")
    if status != 0:
        raise name_exit(status, text.splitlines(), spec.path)
    return text
