"""What a launch takes: asked of the engine where it can answer, else by formula.

An engine is asked once for all quantizations of a model: they differ in their weights alone, and
those are exact from the tensor table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

from slipstream.errors import SlipstreamError
from slipstream.planning.formula import Formula
from slipstream.planning.model import Model
from slipstream.planning.parts import Breakdown, Offload, Setup, Share
from slipstream.weights.header import Header

_ROUNDING = 2 << 20
"""Bytes; the engine tells MiB, and pads tensors."""
_MOST_PROBLEMS = 2
"""Files that cannot be asked about; one may be at fault, several are the engine's fault."""
HUNG = "dry_run_hung"
"""Code of the error of an engine that did not answer in time; it is not asked again."""


class Measure(Protocol):
    """Lets an engine lay a model out on this computer, all on devices or all in main memory.

    Raises: SlipstreamError, if the engine cannot; Cancelled.
    """

    def __call__(
        self, target: Header, setup: Setup, drafter: Header | None, where: Offload
    ) -> Breakdown | None:
        """Returns what the engine would take; None where it cannot be asked just now."""


@dataclass(frozen=True)
class File:
    """A model file and what planning knows of it."""

    header: Header
    model: Model


@dataclass(frozen=True)
class Launch:
    """What would be launched.

    Attributes:
        shape: equal for all quantizations of one model.
        target: the model.
        drafter: the drafter's file, if it has one of its own.
        setup: how they would run.
        read: the target's own header is known, so that an engine can be asked about it.
    """

    shape: str
    target: File
    drafter: File | None
    setup: Setup
    read: bool = True

    def predicted(self, where: Offload) -> Breakdown:
        """What it takes by formula."""
        return self._formula.at(where)

    @cached_property
    def _formula(self) -> Formula:
        return Formula(self.target.model, self.setup, self.drafter.model if self.drafter else None)


@dataclass(frozen=True)
class Layout:
    """What a launch takes.

    Attributes:
        breakdown: per device.
        measured: an engine said so.
        drafter_measured: it did so of the drafter, too.
    """

    breakdown: Breakdown
    measured: bool = False
    drafter_measured: bool = False


@dataclass
class Layouts:
    """Answers for the quantizations of many models.

    Attributes:
        measure: the engine; None where there is none to ask.
        problems: why it could not answer. After a few it is not asked any more.
    """

    measure: Measure | None
    problems: list[SlipstreamError] = field(default_factory=list)
    _failed: set[tuple[object, ...]] = field(default_factory=set)
    _answers: dict[tuple[object, ...], tuple[Launch, Breakdown]] = field(default_factory=dict)
    _predictions: dict[tuple[object, ...], Breakdown] = field(default_factory=dict)

    def layout(self, launch: Launch, where: Offload) -> Layout:
        """What a launch takes with its layers in these places.

        Raises: Cancelled.
        """
        predicted = launch.predicted(where)
        answer = self._answer(launch, where)
        if answer is None:
            return Layout(predicted)
        other, said = answer
        assumed = predicted if other is launch else self._assumed(other, where)
        if launch.drafter is None:
            said = _with_head_apart(said, assumed)
        if not _same_split(said.target, assumed.target):
            return Layout(predicted)
        target = with_weights_of(predicted.target, said.target, assumed.target)
        if said.drafter_missing or not said.drafter:
            return Layout(Breakdown(target, predicted.drafter), measured=True)
        drafter = with_weights_of(predicted.drafter, said.drafter, assumed.drafter)
        return Layout(Breakdown(target, drafter), measured=True, drafter_measured=True)

    def _assumed(self, other: Launch, where: Offload) -> Breakdown:
        """What the formula says of a launch that the engine was asked about."""
        key = (id(other), *where.layers.items())
        if key not in self._predictions:
            self._predictions[key] = other.predicted(where)
        return self._predictions[key]

    @property
    def _given_up(self) -> bool:
        hung = any(problem.code == HUNG for problem in self.problems)
        return hung or len({path for path, *_ in self._failed}) >= _MOST_PROBLEMS

    def _answer(self, launch: Launch, where: Offload) -> tuple[Launch, Breakdown] | None:
        """What the engine said about some quantization of this model in the same places."""
        on_devices = where.count >= launch.target.model.layers and not where.host_experts
        if self.measure is None or not (on_devices or where.count == 0):
            return None
        drafter = launch.drafter.header if launch.drafter else None
        key = (launch.shape, drafter and drafter.path, launch.setup, on_devices)
        question = (launch.target.header.path, *key)
        askable = launch.read and question not in self._failed and not self._given_up
        if key not in self._answers and askable:
            try:
                said = self.measure(launch.target.header, launch.setup, drafter, where)
                if said is not None:
                    _refuse_without_devices(said, where)
                    self._answers[key] = launch, said
            except SlipstreamError as problem:
                self._failed.add(question)
                self.problems.append(problem)
        return self._answers.get(key)


def _refuse_without_devices(answer: Breakdown, where: Offload) -> None:
    """Raises: SlipstreamError ``device_gone``, if the engine did not find a device."""
    gone = [id_ for id_, count in where.layers.items() if count and id_ not in answer.target]
    if gone:
        raise SlipstreamError(
            "device_gone",
            f"The engine does not find {' and '.join(gone)} any more, so the numbers are"
            " estimated.",
            facts={"devices": ", ".join(gone)},
            action="Plan again.",
        )


def _same_split(said: Mapping[str, Share], assumed: Mapping[str, Share]) -> bool:
    """Whether the engine shared the layers out as assumed; of several devices it may not."""
    several = len(said) > 1 + 1  # main memory and one device
    return not several or all(
        abs(share.weights - _of(assumed, id_)) <= _ROUNDING for id_, share in said.items()
    )


def _with_head_apart(said: Breakdown, assumed: Breakdown) -> Breakdown:
    """The engine counts the weights of an MTP head with the target, we with the drafter."""
    heads = {id_: Share(weights=share.weights) for id_, share in assumed.drafter.items()}
    none = Share()
    target = {
        id_: replace(share, weights=max(0, share.weights - heads.get(id_, none).weights))
        for id_, share in said.target.items()
    }
    drafter = {id_: share + heads.get(id_, none) for id_, share in said.drafter.items()}
    return replace(said, target=target, drafter=drafter)


def with_weights_of(
    wanted: Mapping[str, Share], said: Mapping[str, Share], assumed: Mapping[str, Share]
) -> Mapping[str, Share]:
    """What the engine said of one quantization, with the weights of the wanted one."""
    return {
        id_: replace(share, weights=_weights(_of(wanted, id_), share.weights, _of(assumed, id_)))
        for id_, share in said.items()
    }


def _weights(wanted: int, said: int, assumed: int) -> int:
    """The tensor table is exact, and the engine rounds; it is right where they do not agree."""
    return wanted if abs(said - assumed) <= _ROUNDING else max(0, said + wanted - assumed)


def _of(shares: Mapping[str, Share], id_: str) -> int:
    return shares[id_].weights if id_ in shares else 0
