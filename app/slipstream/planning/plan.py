"""Plan every quantization of a model for a computer, and say which to take."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from slipstream.drafters.kinds import PLAIN, SpecConfig
from slipstream.errors import SlipstreamError
from slipstream.planning.computer import Computer
from slipstream.planning.extras import extras_of
from slipstream.planning.layouts import File, Launch, Layout, Layouts, Measure
from slipstream.planning.model import model_of
from slipstream.planning.need import Extras, Need, need_of
from slipstream.planning.parts import Offload, Setup
from slipstream.planning.placement import Fit, Placement, place
from slipstream.planning.quantizations import Quantization
from slipstream.planning.recommend import Option, recommend
from slipstream.planning.truth import Method
from slipstream.weights.shards import read_model


@dataclass(frozen=True)
class Wish:
    """What the user wants to run.

    Attributes:
        context: tokens; a model that was trained for fewer gets those.
        kv_type: element type of the KV cache.
        choose: says how a quantization speculates.
        batch: tokens per logical batch.
        gpu_layers: layers on devices; None for as many as they hold.
    """

    context: int
    kv_type: str = Setup.kv_type
    choose: Callable[[Quantization], SpecConfig] = lambda _: PLAIN
    batch: int = Setup.batch
    gpu_layers: int | None = None


@dataclass(frozen=True)
class Plan:
    """One quantization on a computer.

    Attributes:
        quantization: which.
        setup: what would be run.
        layers: what can be offloaded, the output included.
        placement: where it would go and what it would take.
        method: what said so.
        drafter_bytes: the drafter's weights, those of a head inside the target included.
        estimated: parts of the memory that no engine laid out.
        recommended: the one to take.
        instead: the quantization that would be recommended if this one were not here already.
        largest: nothing larger of its model fits.
    """

    quantization: Quantization
    setup: Setup
    layers: int
    placement: Placement
    method: Method
    drafter_bytes: int
    estimated: tuple[str, ...]
    recommended: bool = False
    instead: str | None = None
    largest: bool = False


@dataclass(frozen=True)
class Plans:
    """The plans, of each model the smallest first, and what went wrong with others."""

    plans: tuple[Plan, ...]
    problems: tuple[SlipstreamError, ...] = ()


@dataclass
class Earlier:
    """What earlier plans leave, so that the same is planned quicker again.

    Attributes:
        places: where each quantization went the last time, by its files.
        last: where the last one went.
    """

    places: dict[tuple[Path, ...], Offload] = field(default_factory=dict)
    last: Offload | None = None
    _drafters: dict[Path, File] = field(default_factory=dict)

    def drafter(self, quantization: Quantization, spec: SpecConfig) -> File | None:
        """The drafter's file of a quantization, if it has one of its own.

        Raises: SlipstreamError: what ``read_model`` and ``model_of`` raise.
        """
        path = spec.drafter
        if path is None:
            return None
        if path not in self._drafters:
            header = quantization.headers.get(path) or read_model(path)
            self._drafters[path] = File(header, model_of(header))
        return self._drafters[path]


def plan(
    quantizations: Sequence[Quantization],
    computer: Computer,
    wish: Wish,
    measure: Measure | None = None,
    progress: Callable[[Quantization], None] = lambda _: None,
    earlier: Earlier | None = None,
) -> Plans:
    """Plan quantizations; of each model among them one is recommended, if any fits.

    Args:
        quantizations: of one model or of several.
        computer: where they are to run.
        wish: what is to be run.
        measure: an engine that lays models out on this computer; None takes the formula.
        progress: is told before each quantization.
        earlier: what plans of the same quantizations left.

    Raises: SlipstreamError, if none can be planned, as when the drafter that is wished for is not
        there; Cancelled.
    """
    layouts, earlier = Layouts(measure), earlier or Earlier()
    # In the order they came in; those whose headers were read are asked about, for all the others.
    models: dict[tuple[str, str], list[Plan]] = {one.model_key: [] for one in quantizations}
    unplanned: dict[tuple[str, str], SlipstreamError] = {}
    for quantization in sorted(quantizations, key=lambda one: not one.read):
        progress(quantization)
        try:
            planned = _plan(quantization, computer, wish, layouts, earlier)
        except SlipstreamError as problem:
            unplanned[quantization.model_key] = _named(problem, quantization.name)
        else:
            models[quantization.model_key].append(planned)
    if unplanned and not any(models.values()):
        raise next(iter(unplanned.values()))
    return Plans(
        tuple(one for plans in models.values() for one in _recommended(plans)),
        (*unplanned.values(), *layouts.problems[:1]),
    )


def _named(problem: SlipstreamError, name: str) -> SlipstreamError:
    sentence = f"{name}: {problem.message}"
    return SlipstreamError(problem.code, sentence, facts=problem.facts, action=problem.action)


def _plan(
    quantization: Quantization,
    computer: Computer,
    wish: Wish,
    layouts: Layouts,
    earlier: Earlier,
) -> Plan:
    launch = _launch(quantization, wish, earlier)
    model, drafter = launch.target.model, launch.drafter
    drafts = drafter.header if drafter else None
    extras = extras_of(quantization.header, launch.setup, drafts, quantization.projector_bytes)

    tried: dict[tuple[object, ...], tuple[Layout, Need]] = {}

    def need(where: Offload) -> Need:
        key = (where.host_experts, *where.layers.items())
        if key not in tried:
            layout = layouts.layout(launch, where)
            tried[key] = layout, need_of(layout.breakdown, extras, computer)
        return tried[key][1]

    near = earlier.places.get(quantization.files, earlier.last)
    placement = place(model.sizes, need, computer, wish.gpu_layers, near)
    where = placement.offload
    earlier.places[quantization.files] = earlier.last = where
    layout, _ = tried[where.host_experts, *where.layers.items()]
    return Plan(
        quantization=quantization,
        setup=launch.setup,
        layers=model.layers,
        placement=placement,
        method="dry-run" if layout.measured else "formula",
        drafter_bytes=sum(share.weights for share in layout.breakdown.drafter.values()),
        estimated=tuple(_estimated(quantization, layout, placement.need, extras)),
    )


def _launch(quantization: Quantization, wish: Wish, earlier: Earlier) -> Launch:
    target = File(quantization.header, quantization.model)
    spec = wish.choose(quantization)
    context = quantization.header.context(wish.context)
    setup = _setup(context, spec, wish.kv_type, wish.batch)
    drafter = earlier.drafter(quantization, spec)
    return Launch(quantization.shape, target, drafter, setup, quantization.read)


@lru_cache(maxsize=64)
def _setup(context: int, spec: SpecConfig, kv_type: str, batch: int) -> Setup:
    """One object for equal setups, so that what is remembered by setup is found at once."""
    return Setup(context=context, spec=spec, kv_type=kv_type, batch=batch)


def _estimated(
    quantization: Quantization, layout: Layout, need: Need, extras: Extras
) -> Iterator[str]:
    """Parts of the memory that no engine laid out, and that no tensor table tells."""
    if not (quantization.read and quantization.model.sizes.exact):
        yield "weights"
    if not layout.measured:
        yield from ("context", "compute")
    if need.drafter and not layout.drafter_measured:
        yield "drafter"
    if need.projector:
        yield "projector"
    if extras.drafter_inputs or extras.outputs:
        yield "host_buffers"
    yield "margin"


def _recommended(plans: Sequence[Plan]) -> list[Plan]:
    """The quantizations of one model, the smallest first, one of them marked."""
    by_size = sorted(plans, key=lambda one: one.placement.need.weights)
    options = [
        Option(
            label=one.quantization.label,
            weights=one.placement.need.weights,
            fit=one.placement.fit,
            downloaded=not one.quantization.download,
        )
        for one in by_size
    ]
    best = recommend(options)
    if best is None:
        return by_size
    otherwise = recommend([replace(one, downloaded=False) for one in options])
    instead = None if otherwise in (None, best) else options[otherwise].label
    largest = all(option.fit is Fit.NONE for option in options[best + 1 :])
    by_size[best] = replace(by_size[best], recommended=True, instead=instead, largest=largest)
    return by_size
