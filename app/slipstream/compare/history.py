"""The comparisons that were made, each as the document that ``compare --json`` prints."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from slipstream.errors import SlipstreamError
from slipstream.paths import comparisons_folder
from slipstream.small_files import read_json, write_text

MOST = 100
"""Comparisons that are kept, the last ones."""
_LARGEST = 64 << 20
"""Bytes of one; the times of every token are in it."""


@dataclass(frozen=True)
class Kept:
    """A comparison that was made.

    Attributes:
        path: where it is kept.
        when: it ended.
        document: what it showed.
    """

    path: Path
    when: datetime
    document: dict[str, Any]


def keep_run(document: dict[str, Any], when: datetime) -> Path:
    """Keep a comparison; the oldest ones go.

    Args:
        document: what it showed.
        when: it ended.

    Raises: SlipstreamError ``not_saved``, ``home_not_writable``.
    """
    folder = comparisons_folder()
    path = folder / f"{when.astimezone(UTC):%Y%m%dT%H%M%S%f}.json"
    try:
        write_text(path, json.dumps(document))
    except OSError as error:
        raise SlipstreamError(
            "not_saved",
            "The comparison could not be kept.",
            facts={"path": str(path), "reason": error.strerror or str(error)},
            action="Check that the disk is not full and that the folder can be written to.",
        ) from error
    for old in _files()[MOST:]:
        with suppress(OSError):
            old.unlink()
    return path


def kept_runs() -> Iterator[Kept]:
    """The comparisons, the newest first; what cannot be read is left out."""
    for path in _files():
        with suppress(OSError, ValueError):
            document = read_json(path, _LARGEST)
            when = datetime.strptime(path.stem, "%Y%m%dT%H%M%S%f").replace(tzinfo=UTC)
            if isinstance(document, dict) and isinstance(document.get("modes"), list):
                yield Kept(path, when, document)


def _files() -> list[Path]:
    with suppress(OSError):
        return sorted(comparisons_folder().glob("*.json"), reverse=True)
    return []
