"""The revisions of a repository in a Hugging Face cache."""

from pathlib import Path

from slipstream.small_files import read_text


def snapshots(home: Path) -> list[Path]:
    """The folders of its revisions: the one called main first, then the newest.

    Args:
        home: the repository's folder; nothing is found in one that does not exist.
    """
    main = reference(home, "main")
    try:
        found = [path for path in (home / "snapshots").iterdir() if path.is_dir()]
    except OSError:
        return []
    return sorted(found, key=lambda path: (path.name != main, -_changed(path), path.name))


def reference(home: Path, name: str) -> str:
    """The commit that a branch or tag is; empty if that is not known."""
    try:
        return read_text(home / "refs" / name)
    except (OSError, ValueError):
        return ""


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
