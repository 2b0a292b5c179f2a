"""What memory a launch would take, answered by the engine itself before it loads anything.

The engine is started on files that hold only the headers (``weights/skeleton.py``), with the
command line of the later launch, and ended when it has printed how it would lay the model out.
Only recurrent states it makes for real meanwhile, and clears them: 600 MB for Qwen3.6 27B with
three draft tokens, which is most of the time that such a model takes.
"""

import contextlib
import hashlib
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.drafters.kinds import DrafterKind
from slipstream.engine.child import Child
from slipstream.engine.command import build_command
from slipstream.engine.config import LaunchConfig
from slipstream.engine.environment import child_environment
from slipstream.engine.failures import name_failure
from slipstream.engine.keep import Keep
from slipstream.engine.logtail import LogTail
from slipstream.engine.spec import VERBOSITY, EngineSpec, fingerprint
from slipstream.errors import Fact, SlipstreamError
from slipstream.machine.devices import Device
from slipstream.planning.breakdown import PROJECTED, from_json, parse_projection, to_json
from slipstream.planning.layouts import HUNG
from slipstream.planning.parts import Breakdown, Setup
from slipstream.weights.header import Header
from slipstream.weights.skeleton import shape_key, write_skeleton

SECONDS = 10.0
"""The longest that an engine may take; on an idle machine it answers within half a second."""
_LOOK = 0.003
"""Seconds between two looks at what it has printed."""
_DRY_RUN = "--dry-run"
_FAILED = "dry_run_failed"
_PREFIX = "slipstream-dry-run-"
_STALE_SECONDS = 600
_HUGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""The engine really clears recurrent states when it lays them out: 600 MB of Qwen3.6 27B with MTP
took 1.0 s in small pages and 0.5 s in huge ones. Other systems than Linux ignore it."""

_TELLS = frozenset({_DRY_RUN, *VERBOSITY})
"""Options of engines that tell what goes where before they load."""

_ANSWERS = Keep("dryruns.json", 800)
_one_at_a_time = threading.Lock()
"""Two engines beside each other take many times as long as one after the other."""


@dataclass(frozen=True)
class _Question:
    engine: EngineSpec
    target: Header
    setup: Setup
    drafter: Header | None
    gpu_layers: int | None
    devices: Sequence[Device]

    @property
    def drafter_inside(self) -> bool:
        return self.setup.spec.kind is DrafterKind.MTP and self.setup.spec.drafter is None

    def keys(self) -> tuple[str, str]:
        """A name for all that the answer depends on, and for all but the types of the tensors.

        Raises: SlipstreamError ``engine_cannot``.
        """
        files = [one for one in (self.target, self.drafter) if one]
        command = self.command(Path("target"), Path("drafter") if self.drafter else None)
        # Layers are shared out by the free memory of several devices, to a GiB or so.
        several = len(self.devices) > 1
        devices = [(one.id, one.name, one.free >> 30 if several else 0) for one in self.devices]
        alike = (fingerprint(self.engine), command, devices, [shape_key(one) for one in files])
        return _digest(alike, [_bytes(one) for one in files]), _digest(alike)

    def command(self, model: Path, drafter: Path | None) -> list[str]:
        """The command line of the launch that is asked about, with these files.

        Raises: SlipstreamError ``engine_cannot``.
        """
        command = build_command(self.engine, self.config(model, drafter), port=0)
        return [*command, _DRY_RUN] if _DRY_RUN in self.engine.flags else command

    def config(self, model: Path, drafter: Path | None) -> LaunchConfig:
        """The launch that is asked about, with these files."""
        return LaunchConfig(
            model=model,
            context=self.setup.context,
            spec=replace(self.setup.spec, drafter=drafter),
            slots=self.setup.slots,
            gpu_layers=self.gpu_layers,
            kv_type=self.setup.kv_type,
            batch=self.setup.batch,
            micro_batch=self.setup.micro_batch,
        )


def dry_run(
    engine: EngineSpec,
    target: Header,
    setup: Setup,
    cancel: CancelToken,
    *,
    drafter: Header | None = None,
    gpu_layers: int | None = None,
    devices: Sequence[Device] = (),
) -> Breakdown:
    """Ask an engine what a launch would take, or remember it.

    Args:
        engine: what would run it.
        target: the model's header.
        setup: what would be run.
        drafter: the header of the drafter, if it has a file of its own.
        gpu_layers: layers on devices; None: as many as the engine would like.
        devices: what the engine can use now.

    Returns: bytes, rounded down to MiB. Output buffers are not in it.
    Raises: SlipstreamError ``dry_run_failed``, or ``HUNG`` where it does not answer in time;
        Cancelled.
    """
    cancel.raise_if_cancelled()
    question = _Question(engine, target, setup, drafter, gpu_layers, devices)
    try:
        exact, alike = question.keys()
    except SlipstreamError as error:
        raise _failed(question, error.message) from error
    known = _kept(exact)
    if known is not None:
        return known
    with _alone(cancel):
        known = _kept(exact)
        if known is None:
            known = _ask(question, cancel)
            for key in (exact, alike):
                _ANSWERS.write(key, to_json(known))
        return known


def remembered(
    engine: EngineSpec,
    target: Header,
    setup: Setup,
    *,
    drafter: Header | None = None,
    gpu_layers: int | None = None,
    devices: Sequence[Device] = (),
) -> Breakdown | None:
    """What ``dry_run`` answered to the same question about any quantization; None if nothing.

    The weights may be those of another quantization.
    """
    question = _Question(engine, target, setup, drafter, gpu_layers, devices)
    with contextlib.suppress(SlipstreamError):
        return _kept(question.keys()[1])
    return None


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _kept(key: str) -> Breakdown | None:
    kept = _ANSWERS.read(key)
    if kept is not None:
        with contextlib.suppress(KeyError, TypeError, ValueError, AttributeError, OverflowError):
            return from_json(kept)
    return None


def _ask(question: _Question, cancel: CancelToken) -> Breakdown:
    if not _TELLS & question.engine.flags:
        raise _failed(question, "This engine does not tell what goes where before it loads.")
    try:
        _remove_stale()
        with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder:
            model, drafter = _skeletons(question, Path(folder))
            log, status = _run(question.command(model, drafter), cancel)
    except OSError as error:
        raise _failed(question, str(error)) from error
    except SlipstreamError as error:
        raise _failed(question, error.message, error.facts) from error
    answer = parse_projection(log.memory, drafter_inside=question.drafter_inside)
    if answer is None:
        asked = question.config(question.target.path, question.setup.spec.drafter)
        reason = name_failure(status, log.evidence(), asked, loading=True)
        code = HUNG if status is None and not _is_projected(log) else _FAILED
        raise _failed(question, reason.message, reason.facts, code=code)
    return answer


def _remove_stale() -> None:
    """Remove what dry runs left behind whose app was killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def _skeletons(question: _Question, folder: Path) -> tuple[Path, Path | None]:
    model = write_skeleton(question.target, folder / "target.gguf")
    if question.drafter is None:
        return model, None
    return model, write_skeleton(question.drafter, folder / "drafter.gguf")


def _run(command: Sequence[str], cancel: CancelToken) -> tuple[LogTail, int | None]:
    """Run an engine until it has told what it would take, and end it.

    Returns: its log, and how it ended; None if it had to be ended.
    """
    environment = child_environment(secrets.token_urlsafe()) | _HUGE_PAGES
    child = Child(command, environment)
    log = LogTail(child.output)
    deadline = time.monotonic() + SECONDS
    status = None
    try:
        while not _is_projected(log) and time.monotonic() < deadline:
            status = child.status()
            if status is not None:
                log.join(1.0)
                break
            if cancel.wait(_LOOK):
                break
    finally:
        child.kill()
        log.join(0.1)
    cancel.raise_if_cancelled()
    return log, status


def _is_projected(log: LogTail) -> bool:
    return any(PROJECTED in line for line in log.memory)


@contextlib.contextmanager
def _alone(cancel: CancelToken) -> Iterator[None]:
    while not _one_at_a_time.acquire(timeout=0.05):
        cancel.raise_if_cancelled()
    try:
        yield
    finally:
        _one_at_a_time.release()


def _bytes(header: Header) -> int:
    return sum(tensor.bytes for tensor in header.tensors)


def _failed(
    question: _Question,
    reason: str,
    facts: Mapping[str, Fact] | None = None,
    code: str = _FAILED,
) -> SlipstreamError:
    name = question.target.path.name
    return SlipstreamError(
        code,
        f"The engine could not be asked how much memory {name} needs, so the numbers are"
        " estimated.",
        facts={**(facts or {}), "engine": question.engine.id, "reason": reason},
        action="Go on with the estimate, or choose another engine in Settings.",
    )
