"""Reads the small files that lie beside models: whatever is in their place, it ends in a moment.

A pipe would be waited for for ever, and a device or a damaged file may hold anything.
"""

import json
import stat
from pathlib import Path
from typing import Any

_LONGEST = 1 << 20


def read_text(path: Path, longest: int = _LONGEST) -> str:
    """What a small file says, without white space around it.

    Args:
        longest: bytes it may have.

    Raises: OSError; ValueError: it is no file, too long, or no text.
    """
    return _read(path, longest).decode().strip()


def read_json(path: Path, longest: int = _LONGEST) -> Any:
    """The content of a small JSON file.

    Args:
        longest: bytes it may have.

    Raises: OSError; ValueError: it is no file, too long, or no JSON.
    """
    try:
        return json.loads(_read(path, longest))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _read(path: Path, longest: int) -> bytes:
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("no file")
    with path.open("rb") as stream:
        content = stream.read(longest + 1)
    if len(content) > longest:
        raise ValueError("too long")
    return content
