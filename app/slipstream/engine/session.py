"""One loaded model and the conversation with it: what the window and the command line drive."""

import contextlib
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from slipstream.cancel import Cancelled, CancelToken
from slipstream.drafters.kinds import PLAIN, DrafterKind
from slipstream.engine import trial
from slipstream.engine.attribution import Attributor
from slipstream.engine.client import EngineClient
from slipstream.engine.command import shown_command
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
from slipstream.engine.failures import after_lack_of_memory
from slipstream.engine.held import freed, held_by, name_holder
from slipstream.engine.ladder import helps, rungs_below
from slipstream.engine.launch import Launch, computer_now, prepare, read_target
from slipstream.engine.metrics import SpecCounters
from slipstream.engine.model_records import settings_of
from slipstream.engine.numbers import Numbers
from slipstream.engine.outcome import keep_outcome
from slipstream.engine.preflight import check_context, check_memory
from slipstream.engine.process import EngineProcess
from slipstream.engine.requests import ChatMessage, Loaded, LoadRequest, ReplyOptions
from slipstream.engine.spec import Choice, chosen
from slipstream.errors import SlipstreamError
from slipstream.hub.library.uses import note_use
from slipstream.planning.computer import Computer
from slipstream.weights.names import display_name

NUMBERS_EVERY = 0.1
"""Seconds between two reports of the running numbers."""


@dataclass(frozen=True)
class _Setting:
    """What all rungs of a ladder have in common: what is launched, where, and who asks for it."""

    launch: Launch
    computer: Computer
    request: LoadRequest


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
        target = read_target(request)
        choice = self._choose_engine()
        computer = computer_now(choice.engine)
        launch = prepare(request, target, choice, computer, cancel)
        yield from launch.left_out
        if not request.anyway:
            alone = replace(launch.config, spec=PLAIN, projector=None)
            check_memory(alone, freed(computer, self.holds()))
        cancel.raise_if_cancelled()
        if self._process is not None:
            self.stop()
            computer = computer_now(choice.engine)
        try:
            running, fallback = yield from self._climb_down(
                _Setting(launch, computer, request), cancel
            )
        except BaseException:
            self.stop()
            raise
        if self._process and self._process.log:
            keep_outcome(choice.engine, running, target, computer, self._process.log.memory)
        if not request.afresh:
            note_use(request.model)
        self.loaded = Loaded(
            request=request,
            name=display_name(request.model, target),
            context=running.context,
            spec=running.spec,
            drafters=launch.found.drafters,
            fallback=fallback,
            engine=choice.engine.build,
            projector=running.projector,
        )

    def holds(self) -> dict[str, int]:
        """Bytes that unloading gives back, by device id; ``planning.parts.HOST`` is main memory.

        Weights that are mapped from their file are left out: their memory counts as free.
        """
        process = self._process
        return held_by(process) if process is not None else {}

    def command(self) -> str | None:
        """The command line of what runs, for a shell; the key is not in it. None if none runs."""
        process = self._process
        if process is None or not process.address:
            return None
        return shown_command(process.engine, process.config, urlsplit(process.address).port or 0)

    def reply(
        self, messages: Sequence[ChatMessage], options: ReplyOptions, cancel: CancelToken
    ) -> Iterator[ReplyEvent]:
        """Generate one reply; ends with Finished, also when cancelled.

        What ``options`` leave open is as the model's own settings say now.

        Raises: SlipstreamError, if the engine dies, hangs or refuses; what was generated so far
        has been yielded by then.
        """
        process, client = self._process, self._client
        if process is None or client is None:
            raise SlipstreamError(
                "not_loaded", "No model is loaded.", action="Load a model, then send again."
            )
        options = options.over(self._own_sampling())
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

    def _own_sampling(self) -> ReplyOptions:
        """What the model's own settings say of sampling."""
        request = self.loaded.request if self.loaded else None
        if request is None or not request.own_settings:
            return ReplyOptions()
        return settings_of(request.model).sampling

    def _climb_down(
        self, setting: _Setting, cancel: CancelToken
    ) -> Generator[LoadEvent, None, tuple[LaunchConfig, str | None]]:
        """Start the first rung of the ladder that works; returns it and why it is not the top."""
        wanted = config = tried = setting.launch.config
        failed: SlipstreamError | None = None
        below = rungs_below(wanted)
        while failure := (yield from self._attempt(setting, config, cancel)):
            if failed is not None and failed.code == "not_enough_memory":
                failure = after_lack_of_memory(failure, config)
            rung = next((rung for rung in below if helps(failure.code, config, rung)), None)
            if rung is None:
                _add_what_helps(failure, config)
                raise failure
            failed = failure
            yield _fall(config, rung, failure)
            tried, config = config, rung
        drafter_is_gone = config.spec.kind is None and tried.projector == config.projector
        if failed is not None and drafter_is_gone:
            trial.blame(setting.launch.engine, wanted, failed)
        return config, failed.message if failed else None

    def _attempt(
        self, setting: _Setting, config: LaunchConfig, cancel: CancelToken
    ) -> Generator[LoadEvent, None, SlipstreamError | None]:
        """Start one rung; returns why it does not work, with nothing left of it, or None."""
        try:
            yield from self._start(setting, config, cancel)
        except SlipstreamError as failure:
            self.stop()
            return failure
        return None

    def _start(
        self, setting: _Setting, config: LaunchConfig, cancel: CancelToken
    ) -> Iterator[StateChanged]:
        """Start one launch and, with a drafter, see that it drafts."""
        launch, request = setting.launch, setting.request
        if not request.anyway:
            check_memory(config, setting.computer)
            check_context(config, launch.target, setting.computer)
        cancel.raise_if_cancelled()
        process = self._process = EngineProcess(launch.engine, config)
        yield from process.start(cancel)
        client = EngineClient(process.address, process.key, alive=process.last_sign_of_life)
        if config.spec.kind not in {None, DrafterKind.NGRAM}:
            self._see_it_draft(process, client, cancel, setting)
        self._client, self._counters = client, client.metrics(cancel)
        cancel.raise_if_cancelled()

    def _see_it_draft(
        self, process: EngineProcess, client: EngineClient, cancel: CancelToken, setting: _Setting
    ) -> None:
        """Raises: SlipstreamError ``drafter_idle``, where nobody asked for this drafter also
        ``drafter_rejected``, or what ended the engine."""
        engine, config = process.engine, process.config
        first_time = setting.request.afresh or not trial.proved_itself(engine, config)
        try:
            seen = trial.try_out(client, cancel, first_time=first_time)
        except SlipstreamError as error:
            raise self._explained(process, error) from error
        if not seen.drafted:
            raise trial.idle()
        if first_time:
            trial.keep(engine, config, seen)
        if seen.hopeless and setting.launch.by_itself:
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


def _fall(failed: LaunchConfig, rung: LaunchConfig, failure: SlipstreamError) -> FellBack:
    return FellBack(
        wanted=failed.spec,
        now=rung.spec,
        context=rung.context,
        code=failure.code,
        reason=failure.message,
        without_images=failed.projector is not None and rung.projector is None,
    )


def _add_what_helps(failure: SlipstreamError, config: LaunchConfig) -> None:
    """Add to the failure of the last rung what was tried, and who holds the memory."""
    if failure.code == "not_enough_memory":
        failure.facts["context"] = config.context
    name_holder(failure)
