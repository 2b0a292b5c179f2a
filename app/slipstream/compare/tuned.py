"""What tuning a model found, kept as long as nothing changes that it depends on."""

import contextlib
import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from slipstream import paths
from slipstream.cancel import CancelToken
from slipstream.drafters.entries import change_entries, read_entries
from slipstream.drafters.kinds import DrafterKind
from slipstream.drafters.verdicts import file_version, number
from slipstream.engine.command import shown_command
from slipstream.engine.launch import SHOWN_PORT, computer_now, prepare, read_target
from slipstream.engine.requests import LoadRequest
from slipstream.engine.spec import Choice

MOST = 200
"""Results that are kept, the last ones."""


@dataclass(frozen=True)
class Tried:
    """One thing that was measured.

    Attributes:
        mode: as ``compare`` calls it.
        kind: the drafter; None for plain decoding.
        draft_tokens: most draft tokens per step.
        p_min: stop drafting below this draft probability; 0 never stops early.
        confirmed: measured in turns with plain decoding; otherwise in a single launch.
        tokens_per_second: decoded; 0 if it could not be run.
        speedup, interval: over plain decoding, and between which values it lies in 95 of 100
            cases; None where it was not confirmed.
        by_position: share of steps whose 1st, 2nd, ... draft token was accepted.
        expected: speedups predicted for 1, 2, ... draft tokens.
        reason: one sentence: what it came to.
    """

    mode: str
    kind: DrafterKind | None
    draft_tokens: int
    p_min: float
    confirmed: bool
    tokens_per_second: float
    speedup: float | None = None
    interval: tuple[float, float] | None = None
    by_position: tuple[float, ...] = ()
    expected: tuple[float, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Best:
    """The way to run a model that was found best; attributes as in ``Tried``."""

    kind: DrafterKind | None
    draft_tokens: int
    p_min: float
    tokens_per_second: float
    speedup: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Tuning:
    """What tuning a model found.

    Attributes:
        engine: build of the engine.
        tried: everything that was measured.
        best: what to use.
        reason: one sentence: why.
        drift: share by which plain decoding was slower (or, below 0, faster) at the end; None if
            nothing had to be confirmed.
        seconds: it took.
        when: it ended, in seconds since 1970.
    """

    engine: str
    tried: tuple[Tried, ...]
    best: Best
    reason: str
    drift: float | None
    seconds: float
    when: float


def key_of(
    model: Path, measured: object, choose_engine: Callable[[], Choice], cancel: CancelToken
) -> str | None:
    """A name for everything that a result depends on: the versions of the model's file and of what
    could draft for it, context, KV types and all else the engine is told, its build, the devices,
    and how it was measured.

    Args:
        model: file of the target.
        measured: a plain value: how.
        choose_engine: as for a session.
        cancel: ends the look for drafters.

    Returns: None if a file is gone.

    Raises: Cancelled; SlipstreamError, as a load would.
    """
    request, choice = LoadRequest(model, "off"), choose_engine()
    target, computer = read_target(request), computer_now(choice.engine)
    launch = prepare(request, target, choice, computer, cancel)
    drafters = [(one.kind, one.here) for one in launch.found.drafters]  # the first of a kind runs
    try:
        files = [(kind, file_version(path)) for kind, path in drafters if path is not None]
        versions = [file_version(model), files]
    except (OSError, ValueError):
        return None
    command = shown_command(launch.engine, launch.config, SHOWN_PORT)
    devices = [(one.id, one.name, one.total) for one in computer.devices]
    parts = [versions, command, devices, choice.engine.build, measured]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def remember(key: str, found: Tuning) -> None:
    """Keep a result.

    Raises: SlipstreamError ``not_saved``, ``home_not_writable``.
    """
    change_entries(
        paths.tuned_file,
        lambda entries: {
            **{name: entry for name, entry in entries.items() if name != key},
            key: asdict(found),
        },
        MOST,
    )


def remembered(key: str) -> Tuning | None:
    """What was found before; None if nothing was, or if it cannot be read."""
    entry = read_entries(paths.tuned_file).get(key)
    with contextlib.suppress(KeyError, TypeError, ValueError):
        return _decoded(entry) if isinstance(entry, dict) else None
    return None


def document(model: str, found: Tuning, *, known: bool) -> dict[str, Any]:
    """What ``tune --json`` prints. Times are seconds.

    Args:
        model: as it was asked for.
        found: the result.
        known: it was found before, and nothing was measured now.
    """
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(found.when))
    return {"model": model, **asdict(found), "when": when, "remembered": known}


def _decoded(entry: dict[str, Any]) -> Tuning:
    """Raises: KeyError, TypeError, ValueError."""
    best = _values(Best, entry["best"])
    if None in (best["speedup"], best["interval"]):
        raise TypeError
    return Tuning(
        engine=_text(entry["engine"]),
        tried=tuple(Tried(**_values(Tried, one)) for one in entry["tried"]),
        best=Best(**best),
        reason=_text(entry["reason"]),
        drift=_maybe(entry["drift"]),
        seconds=number(entry["seconds"]),
        when=number(entry["when"]),
    )


def _values(of: type[Tried] | type[Best], entry: dict[str, Any]) -> dict[str, Any]:
    """Raises: KeyError, TypeError, ValueError."""
    return {field.name: _READ[field.name](entry[field.name]) for field in fields(of)}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _maybe(value: object) -> float | None:
    return None if value is None else number(value)


def _kind(value: object) -> DrafterKind | None:
    return None if value is None else DrafterKind(_text(value))


def _pair(value: Any) -> tuple[float, float] | None:
    if value is None:
        return None
    low, high = value
    return number(low), number(high)


def _numbers(value: Any) -> tuple[float, ...]:
    return tuple(map(number, value))


_READ: dict[str, Callable[[Any], Any]] = {
    "mode": _text,
    "kind": _kind,
    "draft_tokens": lambda value: int(number(value)),
    "p_min": number,
    "confirmed": bool,
    "tokens_per_second": number,
    "speedup": _maybe,
    "interval": _pair,
    "by_position": _numbers,
    "expected": _numbers,
    "reason": _text,
}
