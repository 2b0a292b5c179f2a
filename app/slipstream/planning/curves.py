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
"""Contexts in tokens that an engine is asked about, so that all between them are known."""


@dataclass
class Curves:
    """The answers of an engine by context. Each of its two ways to be asked is a ``Measure``.

    Attributes:
        measure: the engine. Plan with ``exact`` where the slider comes to rest: that confirms it.
    """

    measure: Measure
    _answers: dict[tuple[object, ...], dict[int, tuple[Model, Breakdown]]] = field(
        default_factory=dict
    )
    _known: list[tuple[Header, str, Model]] = field(default_factory=list)

    def exact(
        self, target: Header, setup: Setup, drafter: Header | None, where: Offload
    ) -> Breakdown | None:
        """Returns what the engine says of this very context.

        Raises: what ``measure`` raises.
        """
        answers = self._answers_to(target, setup, drafter, where)
        if setup.context not in answers:
            said = self.measure(target, setup, drafter, where)
            if said is None:
                return None
            answers[setup.context] = self._known_as(target)[1], said
        return self._at(target, setup, answers, where)

    def known(
        self, target: Header, setup: Setup, drafter: Header | None, where: Offload
    ) -> Breakdown | None:
        """Returns what lies between, or beside, what was asked for before; None if nothing was."""
        contexts = tuple(self._answers_to(target, setup, drafter, where))
        lower = max((one for one in contexts if one <= setup.context), default=None)
        upper = min((one for one in contexts if one >= setup.context), default=lower)
        if upper is None:
            return None
        around = upper if lower is None else lower, upper
        return self._between(target, setup, drafter, where, around)

    def copied(self, measure: Measure) -> "Curves":
        """The same answers, with another way to ask."""
        answers = {key: dict(by_context) for key, by_context in self._answers.items()}
        return Curves(measure, answers)

    def _between(
        self,
        target: Header,
        setup: Setup,
        drafter: Header | None,
        where: Offload,
        around: tuple[int, int],
    ) -> Breakdown | None:
        """What lies at a context, by the answers at two others, or at one."""
        answers = self._answers_to(target, setup, drafter, where)
        below, above = around
        low, high = (
            self._at(target, replace(setup, context=stop), answers, where) for stop in around
        )
        if below == above == setup.context:
            return low
        model, drafts = self._known_as(target)[1], self._known_as(drafter)[1] if drafter else None

        def by_formula(context: int) -> Breakdown:
            at = replace(setup, context=context)
            return predict(model, at, drafter=drafts, offload=where)

        share = (setup.context - below) / (above - below) if above > below else 0.0
        return between(low, high, [by_formula(at) for at in (below, setup.context, above)], share)

    def _answers_to(
        self, target: Header, setup: Setup, drafter: Header | None, where: Offload
    ) -> dict[int, tuple[Model, Breakdown]]:
        """What was answered to a question, by the context."""
        shape, path = self._known_as(target)[0], drafter and drafter.path
        key = (shape, replace(setup, context=0), path, *where.layers.items())
        return self._answers.setdefault(key, {})

    def _at(
        self,
        target: Header,
        setup: Setup,
        answers: Mapping[int, tuple[Model, Breakdown]],
        where: Offload,
    ) -> Breakdown:
        """An answer, with the weights of the wanted quantization."""
        model = self._known_as(target)[1]
        asked, answer = answers[setup.context]
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
