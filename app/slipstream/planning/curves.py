"""Answers for every context out of a few, so that a slider moves all bars within one frame.

Between two contexts that an engine was asked about, the formula gives the shape, and how far it was
off at both ends is added.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from slipstream.planning.formula import predict
from slipstream.planning.layouts import Measure, with_weights_of
from slipstream.planning.model import Model, model_of
from slipstream.planning.parts import Breakdown, Offload, Setup, Share
from slipstream.weights.header import Header
from slipstream.weights.skeleton import shape_key

STOPS = (512, 2048, 4096, 16384, 65536, 262144, 1048576)
"""Contexts in tokens that an engine is asked about."""


@dataclass
class Curves:
    """A ``Measure`` that asks an engine at the two stops around a context, once for all.

    Attributes:
        measure: the engine. Plan with it alone where the slider comes to rest: that confirms it.
    """

    measure: Measure
    _stops: dict[tuple[object, ...], tuple[Model, Breakdown]] = field(default_factory=dict)
    _known: list[tuple[Header, str, Model]] = field(default_factory=list)

    def __call__(
        self, target: Header, setup: Setup, drafter: Header | None, where: Offload
    ) -> Breakdown:
        """Returns what lies between the answers for the two stops.

        Raises: what ``measure`` raises.
        """
        model = self._known_as(target)[1]
        trained = model.architecture.trained_context or STOPS[-1]
        stops = [*(stop for stop in STOPS if stop < trained), trained]
        context = setup.context
        below = max((stop for stop in stops if stop <= context), default=context)
        above = min((stop for stop in stops if stop >= context), default=context)
        low, high = (
            self._at(target, replace(setup, context=stop), drafter, where)
            for stop in (below, above)
        )
        if below == above:
            return low
        drafts = self._known_as(drafter)[1] if drafter else None

        def by_formula(context: int) -> Breakdown:
            at = replace(setup, context=context)
            return predict(model, at, drafter=drafts, offload=where)

        return between(
            low,
            high,
            [by_formula(at) for at in (below, context, above)],
            (context - below) / (above - below),
        )

    def _at(
        self, target: Header, setup: Setup, drafter: Header | None, where: Offload
    ) -> Breakdown:
        shape, model = self._known_as(target)
        key = (shape, setup, drafter and drafter.path, *where.layers.items())
        if key not in self._stops:
            self._stops[key] = model, self.measure(target, setup, drafter, where)
        asked, answer = self._stops[key]
        if asked is model:
            return answer
        wanted, assumed = (
            _as_counted(predict(one, setup, offload=where)) for one in (model, asked)
        )
        return replace(answer, target=with_weights_of(wanted, answer.target, assumed))

    def _known_as(self, header: Header) -> tuple[str, Model]:
        """A header's shape and model; working them out takes as long as all the rest."""
        for known, shape, model in self._known:
            if known is header:
                return shape, model
        self._known.append((header, shape_key(header), model_of(header)))
        return self._known[-1][1:]


def _as_counted(planned: Breakdown) -> Mapping[str, Share]:
    """The weights as the engine counts them: those of a head inside the target with the target."""
    none = Share()
    return {id_: one + planned.drafter.get(id_, none) for id_, one in planned.target.items()}


def between(
    low: Breakdown, high: Breakdown, by_formula: Sequence[Breakdown], share: float
) -> Breakdown:
    """What lies between two answers.

    Args:
        low, high: the answers.
        by_formula: what the formula says at the lower one, between them, and at the higher one.
        share: how far between them it lies; 0 is at the lower one.
    """
    return replace(
        low,
        target=_between(low.target, high.target, [one.target for one in by_formula], share),
        drafter=_between(low.drafter, high.drafter, [one.drafter for one in by_formula], share),
    )


def _between(
    low: Mapping[str, Share],
    high: Mapping[str, Share],
    by_formula: Sequence[Mapping[str, Share]],
    share: float,
) -> Mapping[str, Share]:
    none = Share()

    def part(id_: str, of: Callable[[Share], int]) -> int:
        at_low, there, at_high = (of(one.get(id_, none)) for one in by_formula)
        off_low, off_high = of(low[id_]) - at_low, of(high.get(id_, none)) - at_high
        return max(0, round(there + off_low + (off_high - off_low) * share))

    return {
        id_: replace(
            start,
            context=part(id_, lambda one: one.context),
            compute=part(id_, lambda one: one.compute),
        )
        for id_, start in low.items()
    }
