"""How much faster a drafter made a model on this computer, as far as that was measured."""

import contextlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from slipstream import paths
from slipstream.drafters.entries import change_entries, read_entries
from slipstream.drafters.kinds import DrafterKind
from slipstream.drafters.verdicts import number, run_key

_LATEST = 2**33
"""Seconds since 1970 that every system can tell the day of."""
MOST = 500
"""Gains that are kept, the last ones."""


@dataclass(frozen=True)
class Gain:
    """What a comparison with plain decoding showed.

    Attributes:
        speedup: 1.5 is half as fast again.
        low, high: between which it lies in 95 of 100 cases.
        sure: the difference is large enough, and certain.
        draft_tokens: most draft tokens per step that it was measured with.
        when: seconds since 1970.
    """

    speedup: float
    low: float
    high: float
    sure: bool
    draft_tokens: int
    when: float


@dataclass(frozen=True)
class Run:
    """What was run.

    Attributes:
        target: the first file of the model.
        drafter: the drafter's file; None for a head inside the model, and for n-grams.
        kind: how it drafted.
        engine: build of the engine.
    """

    target: Path
    drafter: Path | None
    kind: DrafterKind
    engine: str


def keep_gains(measured: Iterable[tuple[Run, Gain]]) -> None:
    """Remember what was measured.

    Raises: SlipstreamError ``not_saved``, ``home_not_writable``.
    """
    found = {_key(run): asdict(gain) for run, gain in measured}
    new = {key: entry for key, entry in found.items() if key}
    if new:
        change_entries(
            paths.gains_file,
            lambda entries: {name: e for name, e in entries.items() if name not in new} | new,
            MOST,
        )


def gain_of(run: Run) -> Gain | None:
    """What was measured with these very files on this very build; None if nothing was."""
    entries = read_entries(paths.gains_file)
    key = _key(run) if entries else None
    with contextlib.suppress(KeyError, TypeError, ValueError):
        entry = entries[key] if key else None
        return _decoded(entry) if isinstance(entry, dict) else None
    return None


def _key(run: Run) -> str | None:
    return run_key(run.target, run.drafter, run.kind, run.engine)


def _decoded(entry: dict[str, object]) -> Gain:
    """Raises: KeyError, TypeError, ValueError."""
    sure = entry["sure"]
    speedup, low, high, when = (number(entry[name]) for name in ("speedup", "low", "high", "when"))
    if not isinstance(sure, bool) or not 0 <= when < _LATEST:
        raise TypeError
    return Gain(speedup, low, high, sure, int(number(entry["draft_tokens"])), when)
