"""What an engine is and can do, learnt from the binary itself."""

import contextlib
import mmap
import re
import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from slipstream import settings
from slipstream.drafters.kinds import SpecChoice, spec_choice
from slipstream.engine.answers import (
    Hardware,
    parse_build,
    parse_flags,
    parse_hardware,
    parse_spec_types,
    traces,
)
from slipstream.engine.child import Child
from slipstream.engine.environment import child_environment, own_python
from slipstream.engine.failures import engine_problem, name_exit
from slipstream.engine.keep import Keep
from slipstream.errors import SlipstreamError
from slipstream.paths import expanded, real

ANSWER_SECONDS = 10.0
LONGEST_ANSWER = 1_000_000
"""Bytes; llama-server's help is about 100 kB."""
VERBOSITY = ("--verbosity", "--log-verbosity", "-lv")

_LIBRARY = re.compile(r"(?:llama|ggml|mtmd).*\.(?:so|dylib|dll)\b", re.IGNORECASE)
_MOST_LIBRARIES = 50

_ANSWERS = Keep("engines.json", 20)

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
        flags: every spelling of every option that it takes.
        spec_types: its kinds of speculation, in its own words.
        problem: why it cannot be used; None if it can.
    """

    id: str
    kind: EngineKind
    path: Path
    command: tuple[str, ...]
    build: str = ""
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
        distinct.setdefault(real(expanded(path)), expanded(path))
    servers = [learn("llama-server", path) for path in distinct.values()]
    return (learn("embedded"), *servers)


@dataclass(frozen=True)
class Choice:
    """What the user chose for running models.

    Attributes:
        engine: what runs them.
        threads: CPU threads; None leaves it to the engine.
        context: tokens of context where nobody asks for others and the model allows as many.
        spec: how to speculate where neither a request nor the model's own settings say.
        draft_tokens: the most draft tokens per step then; None takes the kind's own number.
    """

    engine: EngineSpec
    threads: int | None = None
    context: int = settings.Settings.default_context
    spec: SpecChoice = "auto"
    draft_tokens: int | None = None


def wanted() -> Choice:
    """What the settings say, whether or not the engine they name can be used."""
    values = settings.load().settings
    embedded = values.engine == settings.EMBEDDED
    path = None if embedded else expanded(Path(values.engine))
    engine = learn("embedded" if embedded else "llama-server", path)
    return Choice(
        engine,
        values.threads or None,
        values.default_context,
        spec_choice(values.speculation),
        values.draft_tokens or None,
    )


def chosen() -> Choice:
    """What the settings say.

    Raises: SlipstreamError, if the engine they name cannot be used.
    """
    choice = wanted()
    if choice.engine.problem is not None:
        raise choice.engine.problem
    return choice


def learn(kind: EngineKind, path: Path | None = None) -> EngineSpec:
    """Ask an engine what it can do, or remember it; never raises, a failure is its ``problem``.

    Args:
        kind: which kind of engine.
        path: the binary of a ``llama-server``.
    """
    spec = _embedded() if kind == "embedded" or path is None else _server(path)
    key = fingerprint(spec)
    remembered = _ANSWERS.read(key)
    if remembered is not None:
        with contextlib.suppress(KeyError, TypeError):
            return _from_json(spec, remembered)
    try:
        learnt = _ask_everything(spec)
    except SlipstreamError as problem:
        return replace(spec, problem=problem)
    _ANSWERS.write(key, _to_json(learnt))
    return learnt


def read_hardware(engine: EngineSpec) -> Hardware:
    """What an engine can run on now: drivers, cards and free memory change while its files do not.

    Raises: SlipstreamError, if the engine does not answer.
    """
    asked = "--list-devices" in engine.flags
    return parse_hardware(_ask(engine, "--list-devices")) if asked else Hardware()


def _embedded() -> EngineSpec:
    module = find_spec("xllamacpp")
    folder = Path(module.origin).parent if module and module.origin else Path("xllamacpp")
    compiled = [file for file in folder.glob("xllamacpp*") if file.suffix in {".so", ".pyd"}]
    binary = compiled[0] if compiled else folder
    command = (*own_python(), "-m", "slipstream.engine.embedded")
    return EngineSpec("embedded", "embedded", binary, command)


def _server(path: Path) -> EngineSpec:
    return EngineSpec(str(path), "llama-server", path, (str(path),))


def fingerprint(engine: EngineSpec) -> str:
    """A key made of the path, size and time of the engine's files; missing ones count as empty."""
    parts: list[str] = []
    for file in _own_files(engine):
        size, modified = 0, 0
        with contextlib.suppress(OSError):
            stat = file.stat()
            size, modified = stat.st_size, stat.st_mtime_ns
        parts.append(f"{file}|{size}|{modified}")
    return "\n".join(parts)


def _own_files(spec: EngineSpec) -> list[Path]:
    """The files whose change means that the engine has to be asked again."""
    own = (
        ["embedded.py", "embedded_flags.py", "embedded_values.py"]
        if spec.kind == "embedded"
        else []
    )
    return [spec.path, *_libraries(spec.path), *(Path(__file__).with_name(name) for name in own)]


def _libraries(binary: Path) -> list[Path]:
    """The libraries that lie beside an engine, or in the ``lib`` folder beside its own."""
    folder = real(binary).parent
    with contextlib.suppress(OSError):
        found = [*folder.iterdir(), *folder.parent.glob("lib/*")]
        return sorted(file for file in found if _LIBRARY.search(file.name))[:_MOST_LIBRARIES]
    return []


def _to_json(spec: EngineSpec) -> dict[str, Any]:
    return {
        "build": spec.build,
        "flags": sorted(spec.flags),
        "spec_types": list(spec.spec_types),
    }


def _from_json(spec: EngineSpec, remembered: dict[str, Any]) -> EngineSpec:
    return replace(
        spec,
        build=remembered["build"],
        flags=frozenset(remembered["flags"]),
        spec_types=tuple(remembered["spec_types"]),
    )


def _ask_everything(spec: EngineSpec) -> EngineSpec:
    if not _is_there(spec.path):
        raise engine_problem("engine_missing", spec.path)
    usage = _ask(spec, "--help")
    flags = parse_flags(usage)
    if not {"--model", "--port"} <= flags:
        raise engine_problem("not_an_engine", spec.path)
    if spec.kind == "embedded" and _drives_only_the_cpu(spec.path):
        flags -= {"--list-devices"}  # asking it costs a quarter of a second at every load
    if not traces(usage):
        flags -= set(VERBOSITY)
    return replace(
        spec,
        build=parse_build(_ask(spec, "--version")),
        flags=flags,
        spec_types=parse_spec_types(usage),
    )


def _is_there(binary: Path) -> bool:
    try:
        return binary.is_file()
    except OSError:  # a name that is too long, a folder that is closed to us
        return False


def _drives_only_the_cpu(binary: Path) -> bool:
    """Whether llama.cpp's backends are in this file by name, and the CPU's is the only one.

    Not certain of a file without these names, such as one for Windows: then it is asked.
    """
    with binary.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        names = re.findall(rb"ggml_backend_([a-z]{2,12})_reg\b", content)
    return set(names) == {b"cpu"}


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
