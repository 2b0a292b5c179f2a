"""Plans for what a person asks about a model, on this computer or on another one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from slipstream.cancel import CancelToken
from slipstream.drafters.choose import choose
from slipstream.drafters.kinds import SpecChoice
from slipstream.engine.computer import Survey, batch_for, measured_by, survey
from slipstream.engine.embedded_values import SPEC_TYPES
from slipstream.engine.spec import Choice, wanted
from slipstream.errors import SlipstreamError
from slipstream.machine.devices import Device
from slipstream.machine.memory import Memory
from slipstream.planning.computer import Computer
from slipstream.planning.parts import Setup
from slipstream.planning.plan import Plan, Wish, plan
from slipstream.planning.quantizations import Quantization


@dataclass(frozen=True)
class Question:
    """What is asked.

    Attributes:
        context: tokens; None takes what the settings say.
        kv_type: element type of the KV cache.
        spec: how to speculate.
        memory: main memory of another computer; None is this one's.
        devices: of another computer; none are this one's.
    """

    context: int | None = None
    kv_type: str = Setup.kv_type
    spec: SpecChoice = "auto"
    memory: Memory | None = None
    devices: Sequence[Device] = ()


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
    # Without an engine it is planned by formula, with any drafter that an engine could run.
    spec_types = engine.spec_types if engine.ok else tuple(SPEC_TYPES)
    wish = Wish(
        context=question.context or desk.choice.context,
        kv_type=question.kv_type,
        choose=lambda one: choose(one.found, question.spec, spec_types),
        batch=batch_for(computer.devices),
    )
    asked = engine.ok and not question.devices
    measure = measured_by(engine, desk.here, cancel) if asked else None
    plans = plan(quantizations, computer, wish, measure, progress)
    problems = (*filter(None, [engine.problem]), *desk.here.problems, *plans.problems)
    return Advice(plans.plans, wish.context, computer, desk.devices, problems)


def _capped(device: Device, memory: Memory) -> Device:
    """A device that shares main memory has no more than that."""
    if not device.unified:
        return device
    total, free = min(device.total, memory.total), min(device.free, memory.free)
    return replace(device, total=total, free=min(total, free))
