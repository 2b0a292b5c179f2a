"""Which of several quantizations to take.

Between 4 and 6 bits, K-quants and dynamic quantizations lose little; more bits cost speed and
memory for hardly any quality, fewer cost quality. Where there are none of these, others of 4 to 6
bits count as good, then those of 8. So of the good ones the largest is taken that lies on the GPU
as a whole. Beside it stands one that is good in main memory, where every byte costs time: the
largest that is quick on any processor, or else the largest that is hardly larger than the smallest
good one. The larger of the two is recommended, so that more memory never leads to a smaller one.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from slipstream.planning.computer import Computer
from slipstream.planning.placement import Fit
from slipstream.weights.names import bits

QUICK_ANYWHERE = 4 << 30
"""Bytes of weights that an ordinary processor reads about ten times a second."""
_GOOD = re.compile(r"Q[456]_K.*|UD-I?Q[456]_.*|(?:MXFP4|NVFP4).*", re.IGNORECASE)
_BYTES_PER_WEIGHT = 0.6
"""Q4_K_M has 4.83 bits per weight (llama.cpp's tools/quantize/README.md)."""
_BESIDES = 1 << 30
_WORTH_IT = 3 << 30
_HARDLY_LARGER = 1.05
_FEWEST_BITS = 4
_GOOD_BITS = (4, 5, 6)
_MANY_BITS = 8


@dataclass(frozen=True)
class Option:
    """One quantization to choose from.

    Attributes:
        label: its quantization.
        weights: bytes of its weights.
        fit: how it fits.
        downloaded: it is on this computer already.
    """

    label: str
    weights: int
    fit: Fit
    downloaded: bool = False


def recommend(options: Sequence[Option]) -> int | None:
    """The index of the one to take; None if nothing fits."""
    by_size = sorted(range(len(options)), key=lambda index: options[index].weights)
    good_ones = _good_ones(options)
    good = [index for index in by_size if index in good_ones]
    chosen = max(
        (*_on_gpu(options, good), *_anywhere(options, good)),
        key=lambda index: options[index].weights,
        default=None,
    )
    if chosen is None:
        return _largest_lesser(options, by_size, good)
    here = [index for index in good if options[index].downloaded]
    not_larger = [index for index in here if options[index].weights <= options[chosen].weights]
    return not_larger[-1] if not_larger else chosen


def most_parameters(computer: Computer) -> int:
    """Parameters of the largest model of which a good quantization may fit.

    Of the fastest memory that holds anything worth the name, what its context and computing leave
    is divided by the bytes that a weight takes with 4 bits and what belongs to them.
    """
    devices = sum(device.free for device in computer.devices)
    free = devices if devices >= _WORTH_IT else computer.free
    return round(max(0, free - _BESIDES) / _BYTES_PER_WEIGHT)


def loses_quality(label: str) -> bool:
    """Whether people will notice that so few bits are left."""
    named = bits(label)
    return named is not None and named < _FEWEST_BITS


def is_good(label: str) -> bool:
    """Whether it is one of those that lose little."""
    return _GOOD.fullmatch(label) is not None


def _good_ones(options: Sequence[Option]) -> set[int]:
    kinds: tuple[Callable[[str], bool], ...] = (
        is_good,
        lambda label: bits(label) in _GOOD_BITS,
        lambda label: bits(label) == _MANY_BITS,
        lambda label: not loses_quality(label),
    )
    sets = ({i for i, option in enumerate(options) if kind(option.label)} for kind in kinds)
    return next(filter(None, sets), set())


def _on_gpu(options: Sequence[Option], good: Sequence[int]) -> list[int]:
    """The largest good one that lies on the GPU as a whole."""
    return [index for index in good if options[index].fit is Fit.GPU][-1:]


def _anywhere(options: Sequence[Option], good: Sequence[int]) -> list[int]:
    """The largest that is quick on any processor, or else hardly larger than the smallest."""
    smallest = options[good[0]].weights if good else 0
    limit = max(QUICK_ANYWHERE, round(_HARDLY_LARGER * smallest))
    quick = [index for index in good if options[index].weights <= limit]
    return [index for index in quick if options[index].fit is not Fit.NONE][-1:]


def _largest_lesser(
    options: Sequence[Option], by_size: Sequence[int], good: Sequence[int]
) -> int | None:
    """Of those that are smaller than every good one, the largest that fits."""
    limit = options[good[0]].weights if good else None
    lesser = [
        index
        for index in by_size
        if options[index].fit is not Fit.NONE and (limit is None or options[index].weights < limit)
    ]
    return lesser[-1] if lesser else None
