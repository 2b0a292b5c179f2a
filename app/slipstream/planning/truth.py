"""How good predictions of memory turned out to be, and what to keep free because of that."""

import contextlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from slipstream import paths
from slipstream.errors import SlipstreamError
from slipstream.planning.breakdown import MIB, from_json, to_json
from slipstream.planning.parts import Breakdown, Share
from slipstream.small_files import in_place_of

DEFAULT_MARGIN = 0.05
LARGEST_MARGIN = 0.25
"""Shares of the predicted bytes."""
KEPT = 200
LEARNT_FROM = 20
"""Outcomes: that are kept, and of one backend that its margin is learnt from."""

_SPARE = 50
"""Lines beyond those that are kept after which the file is written anew."""
_LARGEST_FILE = 4_000_000
_ROUNDING = 6 * MIB
"""The engine rounds down to MiB, each of three parts of target and drafter."""
_SAME_WEIGHTS = 0.02
"""Share of the weights up to which two figures mean the same layers."""
_DAMAGE = (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)

Method = Literal["dry-run", "formula"]


@dataclass(frozen=True)
class Prediction:
    """What a launch was expected to take, and who said so."""

    breakdown: Breakdown
    method: Method


@dataclass(frozen=True)
class Outcome:
    """What one launch took, beside what was predicted.

    Attributes:
        model, quantization: its name for people, and its label.
        engine, build: id of the engine, and its version.
        backends: what drives each device, by id; main memory is driven by "CPU".
        context, kv_type, spec, draft_tokens: the setup; ``spec`` None is plain decoding.
        predicted: what was expected.
        loaded: what the engine told after it had loaded.
        time: seconds since 1970.
    """

    model: str
    quantization: str
    engine: str
    build: str
    backends: Mapping[str, str]
    context: int
    kv_type: str
    spec: str | None
    draft_tokens: int
    predicted: Prediction
    loaded: Breakdown
    time: float = field(default_factory=time.time)

    def shortfall(self, device: str) -> float:
        """Share of the predicted bytes of a device by which too little was predicted.

        Below 0 where too much was. A drafter that could not be measured is left out.
        """
        expected = self.predicted.breakdown
        predicted = _total(expected, device, drafter=not expected.drafter_missing)
        loaded = _total(self.loaded, device, drafter=not expected.drafter_missing)
        return (loaded - _ROUNDING - predicted) / predicted if predicted else 0.0

    def comparable(self, device: str) -> bool:
        """Whether the layers that were expected on a device lie there; else nothing is learnt."""
        expected, loaded = _weights(self.predicted.breakdown, device), _weights(self.loaded, device)
        return abs(expected - loaded) <= max(_ROUNDING, _SAME_WEIGHTS * expected)


def record(outcome: Outcome) -> None:
    """Keep an outcome. If the disk is full or the folder closed, it is lost and nothing else."""
    with contextlib.suppress(OSError, SlipstreamError):
        file = paths.predictions_file()
        paths.make_private(file)
        with file.open("ab") as stream:
            # The line before may have been cut off.
            stream.write(b"\n" + json.dumps(_to_json(outcome)).encode())
        _shorten(file)


def recent(limit: int) -> tuple[Outcome, ...]:
    """The last outcomes, the newest first; damaged ones are left out."""
    newest: list[Outcome] = []
    for line in reversed(_lines()):
        if len(newest) >= limit:
            break
        newest.extend(_read(line))
    return tuple(newest)


def margin(backend: str) -> float:
    """Share of the predicted bytes to keep free on devices of a backend.

    The worst of its last launches whose layers lay where they were expected, at least
    ``DEFAULT_MARGIN``, at most ``LARGEST_MARGIN``.
    """
    shortfalls = [
        outcome.shortfall(device)
        for outcome in recent(KEPT)
        for device, name in outcome.backends.items()
        if name == backend and outcome.comparable(device)
    ]
    worst = max(shortfalls[:LEARNT_FROM], default=0.0)
    return min(max(worst, DEFAULT_MARGIN), LARGEST_MARGIN)


def _weights(breakdown: Breakdown, device: str) -> int:
    shares = (breakdown.target, breakdown.drafter)
    return sum(share[device].weights for share in shares if device in share)


def _total(breakdown: Breakdown, device: str, *, drafter: bool) -> int:
    shares = [breakdown.target, breakdown.drafter] if drafter else [breakdown.target]
    return sum(share.get(device, Share()).total for share in shares)


def _shorten(file: Path) -> None:
    """Keep the newest lines; one that another process writes meanwhile may be lost."""
    lines = _lines()
    if len(lines) > KEPT + _SPARE or file.stat().st_size > _LARGEST_FILE:
        with in_place_of(file) as stream:
            stream.write(b"\n".join(lines[-KEPT:]))


def _lines() -> list[bytes]:
    with contextlib.suppress(OSError, SlipstreamError):
        path = paths.predictions_file()
        if path.is_file():
            with path.open("rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - _LARGEST_FILE))
                return [line for line in file.read(_LARGEST_FILE).split(b"\n") if line.strip()]
    return []


def _read(line: bytes) -> Iterator[Outcome]:
    with contextlib.suppress(*_DAMAGE):
        yield _from_json(json.loads(line))


def _to_json(outcome: Outcome) -> dict[str, Any]:
    return {
        **vars(outcome),
        "backends": dict(outcome.backends),
        "predicted": to_json(outcome.predicted.breakdown),
        "method": outcome.predicted.method,
        "loaded": to_json(outcome.loaded),
    }


def _from_json(value: Any) -> Outcome:
    """Raises: one of ``_DAMAGE``."""
    spec = value["spec"]
    return Outcome(
        model=str(value["model"]),
        quantization=str(value["quantization"]),
        engine=str(value["engine"]),
        build=str(value["build"]),
        backends={str(id): str(name) for id, name in value["backends"].items()},
        context=int(value["context"]),
        kv_type=str(value["kv_type"]),
        spec=None if spec is None else str(spec),
        draft_tokens=int(value["draft_tokens"]),
        predicted=Prediction(
            from_json(value["predicted"]),
            "dry-run" if value["method"] == "dry-run" else "formula",
        ),
        loaded=from_json(value["loaded"]),
        time=float(value["time"]),
    )
