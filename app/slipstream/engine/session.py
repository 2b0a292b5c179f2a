"""One loaded model and the conversation with it: what the window and the command line drive."""

import contextlib
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from slipstream.cancel import Cancelled, CancelToken
from slipstream.drafters.choose import choose, passed_over
from slipstream.drafters.discovery import find_drafters
from slipstream.drafters.kinds import DrafterKind
from slipstream.engine import trial
from slipstream.engine.attribution import Attributor
from slipstream.engine.client import EngineClient
from slipstream.engine.computer import batch_for, in_use
from slipstream.engine.config import LaunchConfig
from slipstream.engine.events import (
    EngineState,
    FellBack,
    Finished,
    LoadEvent,
    Reading,
    ReplyEvent,
    StateChanged,
)
from slipstream.engine.ladder import helps, rungs_below
from slipstream.engine.metrics import SpecCounters
from slipstream.engine.numbers import Numbers
from slipstream.engine.outcome import keep_outcome
from slipstream.engine.preflight import check_context, check_files, check_memory
from slipstream.engine.process import EngineProcess
from slipstream.engine.requests import ChatMessage, Loaded, LoadRequest, ReplyOptions
from slipstream.engine.spec import Choice, EngineSpec, chosen, read_hardware
from slipstream.errors import SlipstreamError
from slipstream.machine.memory import read_memory
from slipstream.planning.computer import Computer
from slipstream.weights.header import Header
from slipstream.weights.names import display_name
from slipstream.weights.shards import read_model

NUMBERS_EVERY = 0.1
"""Seconds between two reports of the running numbers."""

_PROMPT_CACHE_SHARE = 16
"""Earlier chats may keep this part of main memory; the engine would take 8 GiB anywhere."""


@dataclass(frozen=True)
class _Setting:
    """What all rungs of a ladder have in common.

    Attributes:
        engine: what runs them.
        target: the model's header.
        computer: where they run.
        strict: a drafter that is hardly ever right is not run; a person who asks for it gets it.
        afresh: every drafter is tried as if for the first time.
    """

    engine: EngineSpec
    target: Header
    computer: Computer
    strict: bool
    afresh: bool


class Session:
    """Owns at most one engine process. Methods block; call them from a worker thread.

    Args:
        choose_engine: says which engine to run, and how; the default is what the settings say.
    """

    def __init__(self, choose_engine: Callable[[], Choice] = chosen) -> None:
        self._choose_engine = choose_engine
        self._process: EngineProcess | None = None
        self._client: EngineClient | None = None
        self._counters: SpecCounters | None = None
        self.loaded: Loaded | None = None

    @property
    def state(self) -> EngineState:
        """Where the engine is in its life."""
        return self._process.state if self._process else EngineState.STOPPED

    def failure(self) -> SlipstreamError | None:
        """Why the engine ended by itself; None while it runs, or if it was stopped."""
        return self._process.failure() if self._process else None

    def load(self, request: LoadRequest, cancel: CancelToken) -> Iterator[LoadEvent]:
        """Load a model; ``loaded`` is set when the iterator ends.

        What runs now is unloaded only after the files of the new model turned out to be usable.
        Where nothing drafts automatically, the drafters that were meant to are reported as Unfit.

        Raises: SlipstreamError, Cancelled.
        """
        yield StateChanged(EngineState.STARTING)
        header = read_model(request.model)
        check_files(request.model, header)
        found = find_drafters(header, cancel)
        choice = self._choose_engine()
        engine = choice.engine
        build = None if request.afresh else engine.build
        spec = choose(found, request.spec, engine.spec_types, request.draft_tokens, engine=build)
        if request.spec == "auto" and spec.kind is None:
            yield from (one for one in found.unfit if one.missed)
            yield from passed_over(found, engine.build)
        devices, memory = in_use(read_hardware(choice.engine).devices), read_memory()
        config = LaunchConfig(
            model=request.model,
            context=header.context(request.context or choice.context),
            threads=choice.threads,
            batch=batch_for(devices),
            prompt_cache=memory.total // _PROMPT_CACHE_SHARE or None,
        )
        check_memory(config, Computer(memory, devices))
        cancel.raise_if_cancelled()
        if self._process is not None:
            self.stop()
            devices, memory = in_use(read_hardware(choice.engine).devices), read_memory()
        computer = Computer(memory, devices)
        strict = request.spec == "auto"
        setting = _Setting(engine, header, computer, strict, request.afresh)
        try:
            running, fallback = yield from self._climb_down(
                setting, replace(config, spec=spec), cancel
            )
        except BaseException:
            self.stop()
            raise
        if self._process and self._process.log:
            keep_outcome(choice.engine, running, header, computer, self._process.log.memory)
        self.loaded = Loaded(
            request=request,
            name=display_name(request.model, header),
            context=running.context,
            spec=running.spec,
            drafters=found.drafters,
            fallback=fallback,
            engine=choice.engine.build,
        )

    def reply(
        self, messages: Sequence[ChatMessage], options: ReplyOptions, cancel: CancelToken
    ) -> Iterator[ReplyEvent]:
        """Generate one reply; ends with Finished, also when cancelled.

        Raises: SlipstreamError, if the engine dies, hangs or refuses; what was generated so far
        has been yielded by then.
        """
        process, client = self._process, self._client
        if process is None or client is None:
            raise SlipstreamError(
                "not_loaded", "No model is loaded.", action="Load a model, then send again."
            )
        attributor, numbers = Attributor(), Numbers(sent=time.monotonic())
        finish, told = "cancelled", 0.0
        failure: SlipstreamError | None = None
        try:
            with process.busy():
                for chunk in client.chat(messages, options, cancel):
                    now = time.monotonic()
                    if chunk.progress:
                        yield Reading(*chunk.progress)
                    yield from attributor.feed(chunk)
                    numbers.update(chunk, attributor.tally, now)
                    if now - told >= NUMBERS_EVERY:
                        told = now
                        yield numbers.snapshot()
                    finish = chunk.finish or finish
        except Cancelled:
            pass
        except SlipstreamError as error:
            failure = self._explained(process, error)
        yield from attributor.finish()
        if failure is not None:
            yield numbers.snapshot()
            raise failure
        yield Finished(finish, numbers.finish(*self._counters_around(client, cancel)))

    def stop(self) -> None:
        """Unload: end the engine process if one runs."""
        process, self._process, self._client, self.loaded = self._process, None, None, None
        if process is not None:
            process.stop()

    def _climb_down(
        self, setting: _Setting, wanted: LaunchConfig, cancel: CancelToken
    ) -> Generator[LoadEvent, None, tuple[LaunchConfig, str | None]]:
        """Start the first rung of the ladder that works; returns it and why it is not the top."""
        config, failed = wanted, None
        below = rungs_below(wanted)
        while True:
            try:
                yield from self._start(setting, config, cancel)
            except SlipstreamError as failure:
                self.stop()
                rung = next((rung for rung in below if helps(failure.code, config, rung)), None)
                if rung is None:
                    raise
                failed = failure
                yield FellBack(config.spec, rung.spec, rung.context, failure.code, failure.message)
                config = rung
            else:
                if failed is not None and config.spec.kind is None:
                    trial.blame(setting.engine, wanted, failed)
                return config, failed.message if failed else None

    def _start(
        self, setting: _Setting, config: LaunchConfig, cancel: CancelToken
    ) -> Iterator[StateChanged]:
        """Start one launch and, with a drafter, see that it drafts."""
        check_memory(config, setting.computer)
        check_context(config, setting.target, setting.computer)
        cancel.raise_if_cancelled()
        process = self._process = EngineProcess(setting.engine, config)
        yield from process.start(cancel)
        client = EngineClient(process.address, process.key, alive=process.last_sign_of_life)
        if config.spec.kind not in {None, DrafterKind.NGRAM}:
            self._see_it_draft(process, client, cancel, setting)
        self._client, self._counters = client, client.metrics(cancel)
        cancel.raise_if_cancelled()

    def _see_it_draft(
        self, process: EngineProcess, client: EngineClient, cancel: CancelToken, setting: _Setting
    ) -> None:
        """Raises: SlipstreamError ``drafter_idle``, where ``strict`` also ``drafter_rejected``, or
        what ended the engine."""
        engine, config = process.engine, process.config
        first_time = setting.afresh or not trial.proved_itself(engine, config)
        try:
            seen = trial.try_out(client, cancel, first_time=first_time)
        except SlipstreamError as error:
            raise self._explained(process, error) from error
        if not seen.drafted:
            raise trial.idle()
        if first_time:
            trial.keep(engine, config, seen)
        if seen.hopeless and setting.strict:
            raise trial.hopeless(seen)

    def _explained(self, process: EngineProcess, error: SlipstreamError) -> SlipstreamError:
        """Why a request failed: what the process knows is closer to the cause than the request."""
        if error.code == "engine_gone":
            return process.failure() or error
        if error.code == "engine_hung":
            failure = process.hung()
            self.stop()
            return failure
        return error

    def _counters_around(
        self, client: EngineClient, cancel: CancelToken
    ) -> tuple[SpecCounters | None, SpecCounters | None]:
        """The engine's own counters before and after the reply that just ended, if known."""
        before, self._counters = self._counters, None
        # An engine that was stopped deep in a prompt answers nothing for a while. One that goes
        # away in this moment has completed the reply all the same, as has one that is given up.
        if not cancel.cancelled:
            with contextlib.suppress(SlipstreamError, Cancelled):
                self._counters = client.metrics(cancel)
        return before, self._counters
