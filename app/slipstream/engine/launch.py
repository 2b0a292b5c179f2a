"""From what is asked for to what would run: the request, the model's settings, the app's."""

from dataclasses import dataclass, replace

from slipstream.cancel import CancelToken
from slipstream.drafters.choose import choose, passed_over
from slipstream.drafters.discovery import find_drafters
from slipstream.drafters.kinds import Found, SpecChoice, Unfit
from slipstream.engine.command import offers_projector, shown_command
from slipstream.engine.computer import batch_for, in_use
from slipstream.engine.config import LaunchConfig
from slipstream.engine.extra import check_extra
from slipstream.engine.model_records import settings_of
from slipstream.engine.model_settings import ModelSettings
from slipstream.engine.preflight import check_files, check_settings
from slipstream.engine.requests import LoadRequest
from slipstream.engine.spec import Choice, EngineSpec, read_hardware
from slipstream.machine.memory import read_memory
from slipstream.planning.computer import Computer
from slipstream.planning.quantizations import projectors_near
from slipstream.weights.header import Header
from slipstream.weights.shards import read_model

SHOWN_PORT = 8080
"""In the command of a model that is not loaded; a launch takes a free one."""

_PROMPT_CACHE_SHARE = 16
"""Earlier chats may keep this part of main memory; the engine would take 8 GiB anywhere."""


@dataclass(frozen=True)
class Launch:
    """What would run.

    Attributes:
        engine: what runs it.
        target: the model's header.
        config: how it is run.
        found: what could draft for it.
        left_out: drafters that were meant to draft and do not; empty if one does.
        by_itself: nobody named a way to speculate, so a drafter must be good to be run.
    """

    engine: EngineSpec
    target: Header
    config: LaunchConfig
    found: Found
    left_out: tuple[Unfit, ...]
    by_itself: bool


def computer_now(engine: EngineSpec) -> Computer:
    """What this engine can use, and what of it is free now.

    Raises: SlipstreamError, if the engine does not answer.
    """
    devices = in_use(read_hardware(engine).devices)
    return Computer(read_memory(), devices)


def read_target(request: LoadRequest) -> Header:
    """The header of the model that is asked for.

    Raises: SlipstreamError, if it cannot answer as a model.
    """
    header = read_model(request.model)
    check_files(request.model, header)
    return header


def prepare(
    request: LoadRequest,
    target: Header,
    choice: Choice,
    computer: Computer,
    cancel: CancelToken,
    settings: ModelSettings | None = None,
) -> Launch:
    """Decide everything about a launch: the request goes before the model's own settings, and these
    before the app's.

    Args:
        request: what is asked for.
        target: the model's header.
        choice: the engine, and what the app's settings say.
        computer: what the engine can use.
        cancel: ends the look for drafters.
        settings: of the model; None takes those that are saved.

    Raises: Cancelled; SlipstreamError: ``no_drafter``, ``extra_refused``, ``setting_conflict``.
    """
    engine = choice.engine
    own = _own_settings(request, settings)
    check_extra(own.extra, engine)
    wanted, draft_tokens = _speculation(request, own, choice)
    found = find_drafters(target, cancel)
    build = None if request.afresh else engine.build
    spec = choose(found, wanted, engine.spec_types, draft_tokens, engine=build)
    if spec.kind is not None and request.p_min is not None:
        spec = replace(spec, p_min=request.p_min)
    left_out: tuple[Unfit, ...] = ()
    if wanted == "auto" and spec.kind is None:
        missed = (one for one in found.unfit if one.missed)
        failed = passed_over(found, engine.build)
        left_out = (*missed, *failed)
    takes_projector = own.use_projector and offers_projector(engine)
    projector = next(projectors_near(target), None) if takes_projector else None
    config = LaunchConfig(
        model=request.model,
        context=target.context(request.context or own.context or choice.context),
        spec=spec,
        threads=own.threads or choice.threads,
        gpu_layers=own.gpu_layers,
        kv_type=own.kv_type or LaunchConfig.kv_type,
        batch=own.batch or batch_for(computer.devices),
        micro_batch=own.micro_batch,
        flash_attention=own.flash_attention,
        prompt_cache=computer.memory.total // _PROMPT_CACHE_SHARE or None,
        projector=projector.path if projector else None,
        chat_template=own.chat_template or None,
        reasoning=own.reasoning,
        extra=own.extra,
    )
    check_settings(config)
    return Launch(engine, target, config, found, left_out, by_itself=wanted == "auto")


def command_of(request: LoadRequest, choice: Choice, settings: ModelSettings | None = None) -> str:
    """The command that loading would run, as one line for a shell.

    Args:
        request: what would be asked for.
        choice: the engine, and what the app's settings say.
        settings: of the model, where they are not saved yet.

    Raises: SlipstreamError, as a load would.
    """
    target, computer = read_target(request), computer_now(choice.engine)
    launch = prepare(request, target, choice, computer, CancelToken(), settings)
    return shown_command(launch.engine, launch.config, SHOWN_PORT)


def _own_settings(request: LoadRequest, settings: ModelSettings | None) -> ModelSettings:
    if not request.own_settings:
        return ModelSettings()
    return settings or settings_of(request.model)


def _speculation(
    request: LoadRequest, own: ModelSettings, choice: Choice
) -> tuple[SpecChoice, int | None]:
    """The way to speculate and the number of draft tokens; a number that was set for another way
    does not count."""
    wanted = request.spec if request.spec != "auto" else own.spec or choice.spec
    numbers = [request.draft_tokens]
    if own.spec in (None, wanted):
        numbers.append(own.draft_tokens)
    if choice.spec in ("auto", wanted):
        numbers.append(choice.draft_tokens)
    return wanted, next(filter(None, numbers), None)
