"""One engine process from its start to its end."""

import contextlib
import json
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2

from slipstream.cancel import Cancelled, CancelToken
from slipstream.engine.child import Child
from slipstream.engine.command import build_command
from slipstream.engine.config import LaunchConfig
from slipstream.engine.environment import child_environment
from slipstream.engine.events import EngineState, StateChanged
from slipstream.engine.failures import drafter_refused, engine_problem, name_failure
from slipstream.engine.logtail import LogTail
from slipstream.engine.readiness import Readiness
from slipstream.engine.spec import EngineSpec
from slipstream.errors import SlipstreamError
from slipstream.logs import log_file
from slipstream.machine.memory import read_memory
from slipstream.weights.shards import size_of

PORT_ATTEMPTS = 4
_LOG_BYTES = 2_000_000
POLL_SECONDS = 0.03
END_SECONDS = 4.0
"""More than the guardian takes for asking, terminating and killing."""


@dataclass(frozen=True)
class Patience:
    """How long a start may take.

    Attributes:
        silence: seconds without a line or progress, for an empty file.
        bytes_per_second: the slowest disk; a file adds the time to read it.
        most: times the reading that a start may take in all, besides the silence for an empty file,
            however much it prints.
    """

    silence: float = 60.0
    bytes_per_second: float = 50e6
    most: float = 10.0


class EngineProcess:
    """Starts, watches and ends one engine. ``stop`` may be called from any thread.

    Attributes:
        state: where it is in its life.
        log: the end of its log; None before the start.
        key: the API key that it asks for.
        address: where it listens: ``http://127.0.0.1:PORT``.
    """

    def __init__(
        self,
        engine: EngineSpec,
        config: LaunchConfig,
        patience: Patience | None = None,
    ) -> None:
        """Prepare a launch.

        Args:
            engine: what runs.
            config: what it serves.
            patience: how long the start may take.
        """
        self.engine = engine
        self.config = config
        self.state = EngineState.STOPPED
        self.log: LogTail | None = None
        self.key = secrets.token_urlsafe(32)
        self.address = ""
        self._patience = patience or Patience()
        self._lock = threading.RLock()
        self._child: Child | None = None
        self._stopping = False
        self._failure: SlipstreamError | None = None

    @property
    def pid(self) -> int | None:
        """Process id of the engine's guardian, whose only child it is; None before the start."""
        return self._child.pid if self._child else None

    def start(self, cancel: CancelToken) -> Iterator[StateChanged]:
        """Start the engine; ends when the model is loaded and answers.

        Raises: SlipstreamError, the named failure; Cancelled, if cancelled or stopped meanwhile.
        """
        with cancel.on_cancel(self._ask_to_end):
            try:
                yield from self._start_on_a_free_port()
            except SlipstreamError as failure:
                self._failure = failure
                self._end_child()
                self._change(EngineState.FAILED)
                raise
            except BaseException:
                self.stop()
                raise

    def stop(self) -> None:
        """End the engine, by force if it must be; returns when it is gone. Can be repeated."""
        with self._lock:
            self._stopping = True
            running = self._child is not None
        if running:
            self._change(EngineState.STOPPING)
            self._end_child()
        self._change(EngineState.STOPPED)

    def failure(self) -> SlipstreamError | None:
        """Why the engine ended by itself; None while it runs, or if it was stopped.

        Waits a moment for its end: a broken connection is noticed before the end of the process.
        """
        return self._failure_after(1.0)

    def last_sign_of_life(self) -> float:
        """``time.monotonic()`` of the engine's last log line; 0 before its first start."""
        return self.log.last_line_at if self.log else 0.0

    def hung(self) -> SlipstreamError:
        """The failure of an engine that is alive and says nothing; the caller measured that."""
        return self._name(None)

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        """The engine works on a reply inside the block."""
        self._replace(EngineState.READY, EngineState.BUSY)
        try:
            yield
        finally:
            self._replace(EngineState.BUSY, EngineState.READY)

    def _start_on_a_free_port(self) -> Iterator[StateChanged]:
        for attempts_left in reversed(range(PORT_ATTEMPTS)):
            try:
                yield self._launch()
                yield from self._wait_until_ready()
            except SlipstreamError as failure:
                if failure.code != "port_taken" or not attempts_left:
                    raise
                self._end_child()
            else:
                return

    def _launch(self) -> StateChanged:
        port = free_port()
        command = build_command(self.engine, self.config, port)
        with self._lock:
            self._raise_if_stopping()
            self._child = Child(command, child_environment(self.key))
            self.address = f"http://127.0.0.1:{port}"
            self.log = LogTail(self._child.output, log_file("engine.log", _LOG_BYTES), self._ended)
        return self._change(EngineState.STARTING)

    def _wait_until_ready(self) -> Iterator[StateChanged]:
        assert self._child is not None
        assert self.log is not None
        deadline = _Deadline(self._patience, self.config.model)
        told = StateChanged(EngineState.STARTING)
        with httpx2.Client(base_url=self.address, trust_env=False) as http:
            readiness = Readiness(http, self.key)
            while (slots := readiness.slots()) is None:
                status = self._child.status()
                self._raise_if_stopping()
                if status is not None:
                    self.log.join(1.0)
                    raise self._name(status)
                if readiness.is_nonsense:
                    raise engine_problem("not_an_engine", self.engine.path)
                if deadline.passed(self.log):
                    raise self.hung()
                if self.log.bytes_read and told != (now := self._loading()):
                    told = now
                    yield told
                time.sleep(POLL_SECONDS)
        self._check_speculation(*slots)
        self._raise_if_stopping()
        if told != (now := self._loading()):
            yield now
        self.log.mark()
        yield self._change(EngineState.READY)
        self._raise_if_stopping()
        if failure := self._failure_after(0.0):  # it may have died before anybody listened
            raise failure

    def _raise_if_stopping(self) -> None:
        if self._stopping:
            raise Cancelled

    def _check_speculation(self, http_status: int, slots: str) -> None:
        """An engine that cannot use its drafter serves without it; only the slots tell."""
        if self.config.spec.kind is None or http_status != httpx2.codes.OK:
            return
        try:
            drafts = any(slot.get("speculative", True) for slot in json.loads(slots))
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise engine_problem("not_an_engine", self.engine.path) from error
        if not drafts:
            assert self.log is not None
            self._end_child()  # the engine writes its log apart; the reason may still be to come
            raise drafter_refused(self.log.evidence(), self.config)

    def _loading(self) -> StateChanged:
        assert self.log is not None
        return self._change(EngineState.LOADING, self.log.progress)

    def _failure_after(self, seconds: float) -> SlipstreamError | None:
        child, log = self._child, self.log
        if self._failure is None and child is not None and log is not None and not self._stopping:
            status = child.wait(seconds)
            if status is not None:
                log.join(1.0)
                self._failure = self._name(status)
        return self._failure

    def _name(self, status: int | None) -> SlipstreamError:
        lines = self.log.evidence() if self.log else ()
        loading = self.state in (EngineState.STARTING, EngineState.LOADING)
        free = read_memory().free or None
        return name_failure(status, lines, self.config, free, loading=loading)

    def _ended(self) -> None:
        """In the log's thread: the pipe ended, so the engine did."""
        if self.state in (EngineState.READY, EngineState.BUSY) and not self._stopping:
            self._change(EngineState.FAILED)
            self.failure()

    def _ask_to_end(self) -> None:
        with self._lock:
            self._stopping = True
            if self._child is not None:
                self._child.ask_to_end()

    def _end_child(self) -> None:
        with self._lock:
            child, log = self._child, self.log
        if child is None:
            return
        child.ask_to_end()
        if child.wait(END_SECONDS) is None:
            child.kill()
        if log is not None:
            log.join(1.0)

    def _replace(self, old: EngineState, new: EngineState) -> None:
        with self._lock:
            if self.state is old:
                self.state = new

    def _change(self, state: EngineState, progress: float | None = None) -> StateChanged:
        with self._lock:
            self.state = state
        return StateChanged(state, progress)


class _Deadline:
    """Extended by whatever the engine prints, but not without end."""

    def __init__(self, patience: Patience, model: Path) -> None:
        reading = size_of(model) / patience.bytes_per_second
        self._silence = patience.silence + reading
        self._end = time.monotonic() + patience.silence + patience.most * reading

    def passed(self, log: LogTail) -> bool:
        now = time.monotonic()
        return now > self._end or now - log.last_line_at > self._silence


def free_port() -> int:
    """A TCP port on loopback that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
