"""Answers for every context out of a few, so that a slider moves all bars within one frame.

What a launch takes grows in straight lines with the context, except where a window fills up; the
stops lie so that windows fill up at or below one of them, or shortly above.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from slipstream.planning.layouts import Measure
from slipstream.planning.parts import Breakdown, Setup, Share
from slipstream.weights.header import Header
from slipstream.weights.layers import number_of
from slipstream.weights.skeleton import shape_key

STOPS = (512, 2048, 4096, 16384, 65536, 262144, 1048576)
"""Contexts in tokens that an engine is asked about."""


@dataclass
class Curves:
    """A ``Measure`` that asks an engine at the two stops around a context, once for all.

    Attributes:
        measure: the engine. A context that a slider comes to rest on is confirmed by asking it.
    """

    measure: Measure
    _stops: dict[tuple[object, ...], Breakdown] = field(default_factory=dict)

    def __call__(
        self, target: Header, setup: Setup, drafter: Header | None, gpu_layers: int | None
    ) -> Breakdown:
        """Returns what lies between the answers for the two stops.

        Raises: what ``measure`` raises.
        """
        trained = number_of(target, "context_length") or STOPS[-1]
        stops = [*(stop for stop in STOPS if stop < trained), trained]
        context = setup.context
        below = max((stop for stop in stops if stop <= context), default=context)
        above = min((stop for stop in stops if stop >= context), default=context)
        low, high = (
            self._at(target, replace(setup, context=stop), drafter, gpu_layers)
            for stop in (below, above)
        )
        return between(low, high, (context - below) / (above - below or 1))

    def _at(
        self, target: Header, setup: Setup, drafter: Header | None, gpu_layers: int | None
    ) -> Breakdown:
        key = (shape_key(target), setup, drafter and drafter.path, gpu_layers)
        if key not in self._stops:
            self._stops[key] = self.measure(target, setup, drafter, gpu_layers)
        return self._stops[key]


def between(low: Breakdown, high: Breakdown, share: float) -> Breakdown:
    """What lies between two answers, ``share`` of the way from one to the other."""
    return replace(
        low,
        target=_between(low.target, high.target, share),
        drafter=_between(low.drafter, high.drafter, share),
    )


def _between(
    low: Mapping[str, Share], high: Mapping[str, Share], share: float
) -> Mapping[str, Share]:
    return {
        id_: Share(
            weights=start.weights,
            context=_on_line(start.context, high.get(id_, start).context, share),
            compute=_on_line(start.compute, high.get(id_, start).compute, share),
        )
        for id_, start in low.items()
    }


def _on_line(low: int, high: int, share: float) -> int:
    return round(low + (high - low) * share)
