"""A small JSON file of entries by key, which two running apps may change at the same time.

What cannot be read counts as not there, and goes with the next change.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from filelock import FileLock, Timeout

from slipstream.errors import SlipstreamError
from slipstream.paths import real
from slipstream.small_files import read_json, write_text

Entries = dict[str, object]

_LONGEST = 64 << 20
"""Bytes of such a file; ours are far shorter."""
_PATIENCE = 2.0
"""Seconds that another app's change is waited for."""


def read_entries(place: Callable[[], Path]) -> Entries:
    """What a file holds; nothing, if there is no such file or it is damaged.

    Args:
        place: tells the file.
    """
    try:
        content = read_json(place(), _LONGEST)
    except (OSError, SlipstreamError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def change_entries(
    place: Callable[[], Path], change: Callable[[Entries], Mapping[str, object]], most: int
) -> None:
    """Change a file as it is now; a power cut leaves the old one or the new one.

    Args:
        place: tells the file.
        change: gets the entries, returns what they shall be, the newest last.
        most: entries that are kept.

    Raises: SlipstreamError ``not_saved``, ``home_not_writable``.
    """
    file = real(place())
    try:
        with FileLock(file.with_name(f".{file.name}.lock"), timeout=_PATIENCE):
            changed = list(change(read_entries(place)).items())[-most:]
            write_text(file, json.dumps(dict(changed), indent=1))
    except (OSError, Timeout) as error:
        raise SlipstreamError(
            "not_saved",
            f"{file.name} could not be saved.",
            facts={"path": str(file), "reason": getattr(error, "strerror", None) or str(error)},
            action="Check that the disk is not full and that the folder can be written to.",
        ) from error
