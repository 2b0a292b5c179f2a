"""Plans for what a person asks about a model, on this computer or on another one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

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
from slipstream.hub.library.models import Library, LocalModel
from slipstream.hub.reference import on_the_hub, resolve_all
from slipstream.machine.devices import Device
from slipstream.machine.memory import Memory
from slipstream.paths import printable
from slipstream.planning.computer import Computer, given_back
from slipstream.planning.layouts import Measure
from slipstream.planning.offer import Look, Offer, read_offer
from slipstream.planning.parts import Setup
from slipstream.planning.plan import Earlier, Plan, Wish, plan
from slipstream.planning.quantizations import Quantization, local_quantizations
from slipstream.weights.names import model_stem

_NOT_FROM_THERE = frozenset(
    {
        *("offline", "offline_mode", "timed_out", "untrusted", "server_error", "rate_limited"),
        *("repo_not_found", "repo_disabled", "gated", "forbidden", "bad_token"),
    }
)
"""The Hub does not tell; what of a repository is on this computer can be planned all the same."""


_WITH_FILES = tuple(kind for kind in DrafterKind if kind is not DrafterKind.NGRAM)
"""Kinds that may have a file of their own."""


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

    @property
    def can_ask(self) -> bool:
        """Whether the engine can lay models out: on devices that are not here it cannot."""
        own = not self.devices or self.devices is self.here.devices
        return self.choice.engine.ok and own

    @property
    def spec_types(self) -> Sequence[str]:
        """Kinds of speculation, in the engine's words; without an engine it is planned by formula,
        with any drafter that an engine could run."""
        engine = self.choice.engine
        return engine.spec_types if engine.ok else tuple(SPEC_TYPES)


@dataclass(frozen=True)
class Subject:
    """What is to be planned.

    Attributes:
        quantizations: of one model, or of several.
        problems: what could not be read.
        offer: the repository they come from; None for files on this computer.
        address: what of that was asked for.
        searched: all that may draft for them was looked for.
    """

    quantizations: Sequence[Quantization]
    problems: Sequence[SlipstreamError]
    offer: Offer | None = None
    address: Address | None = None
    searched: bool = True


@dataclass(frozen=True)
class Advice:
    """The plans, the context wished for, the computer, and what went wrong on the way."""

    plans: Sequence[Plan]
    wished_context: int
    computer: Computer
    devices: Sequence[Device]
    problems: Sequence[SlipstreamError]


def desk_for(question: Question, released: Mapping[str, int] | None = None) -> Desk:
    """Look at this computer, and imagine the other one if the question is about another.

    Args:
        question: what will be asked.
        released: bytes per device id, HOST among them, that an engine of ours gives back before
            another model is loaded.
    """
    choice = wanted()
    here = _without(released or {}, survey([choice.engine]))
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
    look: Look = Look.BEST,
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
        look: how far to look for what goes with a repository's model.

    Raises: Cancelled; SlipstreamError: what ``resolve_all``, ``connect`` and ``read_offer`` raise.
    """
    address = model if isinstance(model, Address) else on_the_hub(model)
    if address is None:
        return Subject(*local_quantizations(resolve_all(str(model), cancel), cancel))
    kinds = _kinds(question.spec, desk)
    try:
        with connect() as connection:
            offer = read_offer(
                address,
                connection,
                desk.computer,
                kinds,
                cancel,
                waiting,
                question.drafter,
                look=look,
            )
    except SlipstreamError as unreachable:
        if unreachable.code not in _NOT_FROM_THERE:
            raise
        try:
            found, problems = local_quantizations(resolve_all(str(model), cancel), cancel)
        except SlipstreamError:
            raise unreachable from None
        return Subject(found, (unreachable, *problems))
    return _of_offer(offer, address, searched=look is Look.EVERYTHING)


def look_at(model: LocalModel, library: Library, cancel: CancelToken) -> Subject:
    """Read a model on this computer, with its other quantizations that lie beside it.

    Args:
        model: that is meant; it comes first.
        library: what else there is.
        cancel: ends it at once.

    Raises: Cancelled; SlipstreamError ``damaged_file``.
    """
    if model.problem:
        raise SlipstreamError(
            "damaged_file",
            f"{printable(model.path.name)} cannot be run. {model.problem}",
            facts={"path": str(model.path)},
            action="Remove it, and download it again.",
        )

    def named(one: LocalModel) -> tuple[Path, str]:
        return one.places[0].home, model_stem(one.path.name).lower()

    beside = (one for one in library.models if named(one) == named(model) and not one.problem)
    paths = dict.fromkeys(one.path for one in (model, *beside))
    return Subject(*local_quantizations(tuple(paths), cancel))


def look_further(
    subject: Subject,
    desk: Desk,
    cancel: CancelToken,
    waiting: Callable[[float], None] = silent,
) -> Subject:
    """Look for all that may draft for a repository's model, in other repositories as well.

    Args:
        subject: what was looked up.
        desk: where it may run.
        cancel: ends it at once.
        waiting: told the seconds whenever a rate limit makes us wait.

    Returns: the subject with what was found; as it was, with the problem, where the Hub does not
        tell.
    Raises: Cancelled.
    """
    if subject.offer is None or subject.address is None:
        return subject
    try:
        with connect() as connection:
            offer = read_offer(
                subject.address,
                connection,
                desk.computer,
                _WITH_FILES,
                cancel,
                waiting,
                look=Look.EVERYTHING,
                listing=subject.offer.listing,
            )
    except SlipstreamError as problem:
        return replace(subject, problems=(*subject.problems, problem))
    return _of_offer(offer, subject.address, searched=True)


def _of_offer(offer: Offer, address: Address, *, searched: bool) -> Subject:
    quantizations = [row.quantization for row in offer.rows]
    return Subject(quantizations, offer.problems, offer, address, searched)


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
    engine, spec_types = desk.choice.engine, desk.spec_types
    wish = Wish(
        context=question.context or desk.choice.context,
        kv_type=question.kv_type,
        choose=lambda one: choose(one.found, question.spec, spec_types, engine=engine.build),
        batch=batch_for(desk.computer.devices),
    )
    measure = measured_by(engine, desk.here, cancel) if desk.can_ask else None
    return fulfil(wish, quantizations, desk, measure, progress)


def fulfil(
    wish: Wish,
    quantizations: Sequence[Quantization],
    desk: Desk,
    measure: Measure | None,
    progress: Callable[[Quantization], None] = lambda _: None,
    earlier: Earlier | None = None,
) -> Advice:
    """Plan what is wished for at a desk; ``plan`` tells of the arguments.

    Raises: SlipstreamError, if nothing can be planned; Cancelled.
    """
    plans = plan(quantizations, desk.computer, wish, measure, progress, earlier)
    unusable = filter(None, [desk.choice.engine.problem])
    problems = (*unusable, *desk.here.problems, *plans.problems)
    return Advice(plans.plans, wish.context, desk.computer, desk.devices, problems)


def _kinds(spec: SpecChoice, desk: Desk) -> Sequence[DrafterKind]:
    """The kinds of drafter to look for on the Hub."""
    if spec == "auto":
        return [kind for kind in MADE_FOR_A_TARGET if can_run(kind, desk.spec_types)]
    return [] if spec == "off" else [DrafterKind(spec)]


def _capped(device: Device, memory: Memory) -> Device:
    """A device that shares main memory has no more than that."""
    if not device.unified:
        return device
    total, free = min(device.total, memory.total), min(device.free, memory.free)
    return replace(device, total=total, free=min(total, free))


def _without(held: Mapping[str, int], here: Survey) -> Survey:
    """This computer as it will be when what is held was given back."""
    memory, devices = given_back(here.memory, here.devices, held)
    return replace(here, memory=memory, devices=devices)
