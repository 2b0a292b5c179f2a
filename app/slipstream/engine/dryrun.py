"""What memory a launch would take, answered by the engine itself before it loads anything.

The engine is started on files that hold only the headers (``weights/skeleton.py``), with the
command line of the later launch, and ended when it has printed how it would lay the model out.
Only recurrent states it makes for real meanwhile, and clears them: 600 MB for Qwen3.6 27B with
three draft tokens, which is most of the time that such a model takes.
"""

import contextlib
import hashlib
import secrets
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
from slipstream.engine.spec import EngineSpec, fingerprint
from slipstream.errors import Fact, SlipstreamError
from slipstream.planning.breakdown import PROJECTED, from_json, parse_projection, to_json
from slipstream.planning.parts import Breakdown, Setup
from slipstream.weights.header import Header
from slipstream.weights.skeleton import shape_key, write_skeleton

SECONDS = 10.0
"""The longest that an engine may take; on an idle machine it answers within half a second."""
_LOOK = 0.01
"""Seconds between two looks at what it has printed."""
_DRY_RUN = "--dry-run"
_HUGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""The engine really clears recurrent states when it lays them out: 600 MB of Qwen3.6 27B with MTP
took 1.0 s in small pages and 0.5 s in huge ones. Other systems than Linux ignore it."""

_ANSWERS = Keep("dryruns.json", 400)
_one_at_a_time = threading.Lock()
"""Two engines beside each other take many times as long as one after the other."""


@dataclass(frozen=True)
class _Question:
    engine: EngineSpec
    target: Header
    setup: Setup
    drafter: Header | None
    gpu_layers: int | None
    devices: tuple[str, ...]

    @property
    def drafter_inside(self) -> bool:
        return self.setup.spec.kind is DrafterKind.MTP and self.setup.spec.drafter is None

    def key(self) -> str:
        """A name for all that the answer depends on."""
        spec = self.setup.spec
        if self.drafter is not None:
            spec = replace(spec, drafter=Path("in the header"))
        parts = (
            fingerprint(self.engine),
            self.engine.command,
            replace(self.setup, spec=spec),
            self.gpu_layers,
            self.devices,
            *((shape_key(one), _bytes(one)) for one in (self.target, self.drafter) if one),
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def config(self, model: Path, drafter: Path | None) -> LaunchConfig:
        """The launch that is asked about, with these files."""
        return LaunchConfig(
            model=model,
            context=self.setup.context,
            spec=replace(self.setup.spec, drafter=drafter),
            slots=self.setup.slots,
            gpu_layers=self.gpu_layers,
            devices=self.devices,
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
    devices: tuple[str, ...] = (),
) -> Breakdown:
    """Ask an engine what a launch would take, or remember it.

    Args:
        engine: what would run it.
        target: the model's header.
        setup: what would be run.
        drafter: the header of the drafter, if it has a file of its own; without it, the file that
            ``setup`` names is read.
        gpu_layers: layers on devices; None: as many as the engine would like.
        devices: ids of the devices that may be used; empty: all.

    Returns: bytes, rounded down to MiB. Output buffers are not in it.
    Raises: SlipstreamError ``dry_run_failed``; Cancelled.
    """
    cancel.raise_if_cancelled()
    question = _Question(engine, target, setup, drafter, gpu_layers, devices)
    with _alone(cancel):
        known = _known(question)
        if known is None:
            known = _ask(question, cancel)
            _ANSWERS.write(question.key(), to_json(known))
        return known


def remembered(
    engine: EngineSpec,
    target: Header,
    setup: Setup,
    *,
    drafter: Header | None = None,
    gpu_layers: int | None = None,
    devices: tuple[str, ...] = (),
) -> Breakdown | None:
    """What ``dry_run`` answered to the same question; None if it was not asked."""
    return _known(_Question(engine, target, setup, drafter, gpu_layers, devices))


def _known(question: _Question) -> Breakdown | None:
    kept = _ANSWERS.read(question.key())
    if kept is not None:
        with contextlib.suppress(KeyError, TypeError, ValueError, AttributeError, OverflowError):
            return from_json(kept)
    return None


def _ask(question: _Question, cancel: CancelToken) -> Breakdown:
    try:
        with tempfile.TemporaryDirectory(
            prefix="slipstream-", ignore_cleanup_errors=True
        ) as folder:
            config = _with_skeletons(question, Path(folder))
            command = build_command(question.engine, config, port=0)
            if _DRY_RUN in question.engine.flags:
                command.append(_DRY_RUN)
            log, status = _run(command, cancel)
    except OSError as error:
        raise _failed(question, str(error)) from error
    except SlipstreamError as error:
        raise _failed(question, error.message, error.facts) from error
    answer = parse_projection(log.memory, drafter_inside=question.drafter_inside)
    if answer is None:
        asked = question.config(question.target.path, question.setup.spec.drafter)
        reason = name_failure(status, log.evidence(), asked, loading=True)
        raise _failed(question, reason.message, reason.facts)
    return answer


def _with_skeletons(question: _Question, folder: Path) -> LaunchConfig:
    model = write_skeleton(question.target, folder / "target.gguf")
    drafter = question.setup.spec.drafter
    if question.drafter is not None:
        drafter = write_skeleton(question.drafter, folder / "drafter.gguf")
    return question.config(model, drafter)


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
    question: _Question, reason: str, facts: Mapping[str, Fact] | None = None
) -> SlipstreamError:
    name = question.target.path.name
    return SlipstreamError(
        "dry_run_failed",
        f"The engine could not be asked how much memory {name} needs, so the numbers are"
        " estimated.",
        facts={**(facts or {}), "engine": question.engine.id, "reason": reason},
        action="Go on with the estimate, or choose another engine in Settings.",
    )
