"""Small files through which a system tells about itself; unreadable ones are empty."""

from pathlib import Path

ROOT = Path("/")
"""Where the system's files begin; tests begin elsewhere."""


def read_text(path: Path) -> str:
    """The text of a file without the space around it; "" where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def read_number(path: Path) -> int | None:
    """The whole number in a file; None where there is none."""
    try:
        return int(read_text(path))
    except ValueError:
        return None
