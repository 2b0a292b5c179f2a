"""Small files through which a system tells about itself; unreadable ones are empty."""

import re
from pathlib import Path

ROOT = Path("/")
"""Where the system's files begin; tests begin elsewhere."""
_NUMBER = re.compile(r"-?[0-9]{1,20}")


def read_text(path: Path) -> str:
    """The text of a file without the space around it; "" where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def read_number(path: Path) -> int | None:
    """The whole number in a file; None where there is none, or an impossible one."""
    text = read_text(path)
    return int(text) if _NUMBER.fullmatch(text) else None
