"""Plans for what a person asks about a model, on this computer or on another one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from slipstream.cancel import CancelToken
from slipstream.drafters.choose import choose
from slipstream.drafters.flags import can_run
from slipstream.drafters.kinds import MADE_FOR_A_TARGET, DrafterKind, SpecChoice
from slipstream.engine.computer import Survey, batch_for, measured_by, survey
from slipstream.engine.embedded_values import SPEC_TYPES
from slipstream.engine.spec import Choice, wanted
from slipstream.errors import SlipstreamError
from slipstream.hub.address import Address
from slipstream.hub.calls import silent
from slipstream.hub.connection import connect
from slipstream.hub.reference import on_the_hub, resolve_all
from slipstream.machine.devices import Device
from slipstream.machine.memory import Memory
from slipstream.planning.computer import Computer
from slipstream.planning.offer import Offer, read_offer
from slipstream.planning.parts import Setup
from slipstream.planning.plan import Plan, Wish, plan
from slipstream.planning.quantizations import Quantization, local_quantizations

_NOT_FROM_THERE = frozenset(
    {
        *("offline", "offline_mode", "timed_out", "untrusted", "server_error", "rate_limited"),
        *("repo_not_found", "repo_disabled", "gated", "forbidden", "bad_token"),
    }
)
"""The Hub does not tell; what of a repository is on this computer can be planned all the same."""


@dataclass(frozen=True)
class Question:
    """What is asked.

    Attributes:
        context: tokens; None takes what the settings say.
        kv_type: element type of the KV cache.
        spec: how to speculate.
        memory: main memory of another computer; None is this one's.
        devices: of another computer; none are this one's.
        drafter: the one to look at on the Hub; None finds one.
    """

    context: int | None = None
    kv_type: str = Setup.kv_type
    spec: SpecChoice = "auto"
    memory: Memory | None = None
    devices: Sequence[Device] = ()
    drafter: Address | None = None


@dataclass(frozen=True)
class Desk:
    """Where the answers come from: the engine, what it runs on, and the computer asked about.

    Attributes:
        choice: the engine and what the settings say of it.
        here: what this computer is.
        computer: what the plans are for.
        devices: of that computer.
    """

    choice: Choice
    here: Survey
    computer: Computer
    devices: Sequence[Device]


@dataclass(frozen=True)
class Subject:
    """What is to be planned.

    Attributes:
        quantizations: of one model, or of several.
        problems: what could not be read.
        offer: the repository they come from; None for files on this computer.
    """

    quantizations: Sequence[Quantization]
    problems: Sequence[SlipstreamError]
    offer: Offer | None = None


@dataclass(frozen=True)
class Advice:
    """The plans, the context wished for, the computer, and what went wrong on the way."""

    plans: Sequence[Plan]
    wished_context: int
    computer: Computer
    devices: Sequence[Device]
    problems: Sequence[SlipstreamError]


def desk_for(question: Question) -> Desk:
    """Look at this computer, and imagine the other one if the question is about another."""
    choice = wanted()
    here = survey([choice.engine])
    if not question.memory and not question.devices:
        return Desk(choice, here, here.computer(), here.devices)
    shared = [Memory(one.total, one.free) for one in question.devices if one.unified]
    memory = question.memory or (shared or [here.memory])[0]
    computer = Computer(memory, tuple(_capped(one, memory) for one in question.devices))
    return Desk(choice, here, computer, computer.devices)


def look_up(
    model: str | Address,
    question: Question,
    desk: Desk,
    cancel: CancelToken,
    waiting: Callable[[float], None] = silent,
) -> Subject:
    """Read what a person names: a demo, files on this computer, or a repository on the Hub.

    A repository is looked at on the Hub; where that cannot be reached, what of it is on this
    computer counts.

    Args:
        model: MODEL of the command line, or a repository.
        question: what will be asked about it.
        desk: where it may run.
        cancel: ends it at once.
        waiting: told the seconds whenever a rate limit makes us wait.

    Raises: Cancelled; SlipstreamError: what ``resolve_all``, ``connect`` and ``read_offer`` raise.
    """
    address = model if isinstance(model, Address) else on_the_hub(model)
    if address is None:
        return Subject(*local_quantizations(resolve_all(str(model), cancel), cancel))
    kinds = _kinds(question.spec, desk)
    try:
        with connect() as connection:
            offer = read_offer(
                address, connection, desk.computer, kinds, cancel, waiting, question.drafter
            )
    except SlipstreamError as unreachable:
        if unreachable.code not in _NOT_FROM_THERE:
            raise
        try:
            found, problems = local_quantizations(resolve_all(str(model), cancel), cancel)
        except SlipstreamError:
            raise unreachable from None
        return Subject(found, (unreachable, *problems))
    return Subject([row.quantization for row in offer.rows], offer.problems, offer)


def advise(
    quantizations: Sequence[Quantization],
    question: Question,
    desk: Desk,
    cancel: CancelToken,
    progress: Callable[[Quantization], None] = lambda _: None,
) -> Advice:
    """Plan the quantizations of one model or of several, and say which to take.

    Raises: SlipstreamError, if none can be planned; Cancelled.
    """
    engine, computer = desk.choice.engine, desk.computer
    spec_types = _spec_types(desk)
    wish = Wish(
        context=question.context or desk.choice.context,
        kv_type=question.kv_type,
        choose=lambda one: choose(one.found, question.spec, spec_types, engine=engine.build),
        batch=batch_for(computer.devices),
    )
    asked = engine.ok and not question.devices
    measure = measured_by(engine, desk.here, cancel) if asked else None
    plans = plan(quantizations, computer, wish, measure, progress)
    problems = (*filter(None, [engine.problem]), *desk.here.problems, *plans.problems)
    return Advice(plans.plans, wish.context, computer, desk.devices, problems)


def _spec_types(desk: Desk) -> Sequence[str]:
    """Without an engine it is planned by formula, with any drafter that an engine could run."""
    engine = desk.choice.engine
    return engine.spec_types if engine.ok else tuple(SPEC_TYPES)


def _kinds(spec: SpecChoice, desk: Desk) -> Sequence[DrafterKind]:
    """The kinds of drafter to look for on the Hub."""
    if spec == "auto":
        return [kind for kind in MADE_FOR_A_TARGET if can_run(kind, _spec_types(desk))]
    return [] if spec == "off" else [DrafterKind(spec)]


def _capped(device: Device, memory: Memory) -> Device:
    """A device that shares main memory has no more than that."""
    if not device.unified:
        return device
    total, free = min(device.total, memory.total), min(device.free, memory.free)
    return replace(device, total=total, free=min(total, free))
