"""Reads and writes small files.

Reading ends in a moment, whatever is in their place: a pipe would be waited for for ever, and a
device or a damaged file may hold anything. Writing leaves the old file or the new one.
"""

import json
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

_LONGEST = 1 << 20


def read_text(path: Path, longest: int = _LONGEST) -> str:
    """What a small file says, without white space around it.

    Args:
        longest: bytes it may have.

    Raises: OSError; ValueError: it is no file, too long, or no text.
    """
    return read_bytes(path, longest).decode().strip()


def read_json(path: Path, longest: int = _LONGEST) -> Any:
    """The content of a small JSON file.

    Args:
        longest: bytes it may have.

    Raises: OSError; ValueError: it is no file, too long, or no JSON.
    """
    try:
        return json.loads(read_bytes(path, longest))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def read_bytes(path: Path, longest: int = _LONGEST) -> bytes:
    """The content of a small file.

    Args:
        longest: bytes it may have.

    Raises: OSError; ValueError: it is no file, or too long.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("no file")
    with path.open("rb") as stream:
        content = stream.read(longest + 1)
    if len(content) > longest:
        raise ValueError("too long")
    return content


def write_text(file: Path, text: str) -> None:
    """Put a text in the place of a file; a power cut leaves the old one or the new one.

    Raises: OSError.
    """
    with in_place_of(file) as stream:
        stream.write(text.encode())
        stream.flush()
        os.fsync(stream.fileno())


@contextmanager
def in_place_of(file: Path) -> Iterator[BinaryIO]:
    """What is written inside the block takes the place of a file, unless something is raised; then
    nothing is left of it. Only the user can read it.

    Raises: OSError.
    """
    number, name = tempfile.mkstemp(prefix=f".{file.name}.", suffix=".tmp", dir=file.parent)
    draft = Path(name)
    try:
        with open(number, "wb") as stream:  # noqa: PTH123 - it is open already
            yield stream
        draft.replace(file)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
