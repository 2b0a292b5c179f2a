"""When models were last used, by what their files are called for good."""

import logging
import time
from collections.abc import Mapping
from pathlib import Path

from slipstream import paths
from slipstream.drafters.attached import identity
from slipstream.drafters.entries import Entries, change_entries, read_entries
from slipstream.errors import SlipstreamError

MOST = 2000
"""Models that are remembered, those used last."""

_CLOCKS_DIFFER = 86_400.0
"""Seconds; what was used later than that in the future was not."""

_log = logging.getLogger(__name__)


def note_use(path: Path) -> None:
    """Remember that a model was loaded now; it is only a help, so a full disk does not matter.

    Args:
        path: its first file.
    """

    def noted(known: Entries) -> Entries:
        key = identity(path)
        known.pop(key, None)
        return {**known, key: time.time()}

    try:
        change_entries(paths.uses_file, noted, MOST)
    except (SlipstreamError, ValueError) as error:  # a path with a null character has no identity
        _log.warning("use not noted: %s", error)


def last_uses() -> Mapping[str, float]:
    """When models were last used, in seconds since the epoch, by the ``identity`` of their first
    files."""
    known = read_entries(paths.uses_file)
    latest = time.time() + _CLOCKS_DIFFER
    return {
        key: moment
        for key, moment in known.items()
        if isinstance(moment, float) and 0 <= moment <= latest
    }
