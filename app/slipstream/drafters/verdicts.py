"""What running a model with a drafter showed, kept until one of the two or the engine changes."""

import contextlib
import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from slipstream import paths
from slipstream.drafters.entries import change_entries, read_entries
from slipstream.drafters.kinds import DrafterKind

MOST = 500
"""Verdicts that are kept, the last ones."""


@dataclass(frozen=True)
class Verdict:
    """Whether a drafter turned out to draft for a model.

    Attributes:
        ok: it may be used.
        reason: one sentence: what was seen.
        drafted, accepted: tokens, while it was tried.
        engine: build of the engine.
        when: seconds since 1970.
    """

    ok: bool
    reason: str
    drafted: int
    accepted: int
    engine: str
    when: float


def record(target: Path, drafter: Path | None, kind: DrafterKind, verdict: Verdict) -> None:
    """Remember what a launch showed.

    Args:
        target: the first file of the model.
        drafter: the drafter's; None for a head inside the model.
        kind: how it drafted.

    Raises: SlipstreamError ``not_saved``, ``home_not_writable``.
    """
    key = run_key(target, drafter, kind, verdict.engine)
    if key:
        change_entries(
            paths.verdicts_file,
            lambda entries: {
                **{name: entry for name, entry in entries.items() if name != key},
                key: asdict(verdict),
            },
            MOST,
        )


def verdict_on(
    target: Path, drafter: Path | None, kind: DrafterKind, engine: str
) -> Verdict | None:
    """What running these very files on this very build showed; None if they never ran.

    Args:
        target, drafter, kind: as for ``record``.
        engine: build of the engine.
    """
    entries = read_entries(paths.verdicts_file)
    key = run_key(target, drafter, kind, engine) if entries else None
    with contextlib.suppress(KeyError, TypeError, ValueError):
        entry = entries[key] if key else None
        return _decoded(entry) if isinstance(entry, dict) else None
    return None


def run_key(target: Path, drafter: Path | None, kind: DrafterKind, engine: str) -> str | None:
    """A name for two versions of files and how they ran; None if one of the files is gone."""
    try:
        files = [file_version(path) for path in (target, drafter) if path is not None]
    except (OSError, ValueError):
        return None
    return hashlib.sha256(json.dumps([*files, kind.value, engine]).encode()).hexdigest()[:32]


def file_version(path: Path) -> tuple[str, int, int]:
    """What changes when a file does. Raises: OSError, ValueError."""
    file = paths.real(path)
    stat = file.stat()
    return str(file), stat.st_size, stat.st_mtime_ns


def _decoded(entry: dict[str, object]) -> Verdict:
    """Raises: KeyError, TypeError, ValueError."""
    ok, reason, engine = entry["ok"], entry["reason"], entry["engine"]
    if not (isinstance(ok, bool) and isinstance(reason, str) and isinstance(engine, str)):
        raise TypeError
    drafted, accepted = number(entry["drafted"]), number(entry["accepted"])
    return Verdict(ok, reason, int(drafted), int(accepted), engine, number(entry["when"]))


def number(value: object) -> float:
    """A number that a file tells. Raises: TypeError, if it is none that can be."""
    if not isinstance(value, int | float) or not abs(value) < 1e18:
        raise TypeError
    return value
