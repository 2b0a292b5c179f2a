"""What repositories are called on the Hub now: what was downloaded has that name.

Whoever asked for a repository by an old name, or in other letter case, finds it by that again.
"""

from pathlib import Path

from slipstream import paths
from slipstream.drafters.entries import Entries, change_entries, read_entries

_MOST = 1000
"""Names that are remembered, the last ones."""


def remember(asked: str, name: str) -> None:
    """Note what the Hub calls a repository that was asked for.

    Args:
        asked: ``owner/name`` as it was asked for.
        name: as the Hub calls it.

    Raises: SlipstreamError ``not_saved``, ``home_not_writable``.
    """
    key = asked.lower()
    known = read_entries(_file).get(key, asked)
    if known == name:
        return

    def changed(entries: Entries) -> Entries:
        others = {one: now for one, now in entries.items() if one not in (key, name.lower())}
        return {**others, key: name}

    change_entries(_file, changed, _MOST)


def present(name: str) -> str:
    """What a repository is called now, as far as is known; it may have been renamed repeatedly."""
    entries = read_entries(_file)
    seen: set[str] = set()
    while name.lower() not in seen:
        seen.add(name.lower())
        known = entries.get(name.lower())
        name = known if isinstance(known, str) else name
    return name


def _file() -> Path:
    return paths.cache_folder() / "renamed.json"
