"""What the environment tells every tool of Hugging Face.

Names, places and what counts as yes: huggingface_hub's ``constants.py``.
"""

import os
from pathlib import Path


def is_true(*names: str) -> bool:
    """Whether the first of these variables that is set says yes."""
    return _first(*names).upper() in {"1", "ON", "YES", "TRUE"}


def place(name: str, *variables: str) -> Path:
    """Where Hugging Face's own tools keep something; it need not exist.

    Args:
        name: what it is called in their home.
        variables: that may name another place for it; the first that is set counts.
    """
    found = _first(*variables)
    if not found:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        found = f"{os.environ.get('HF_HOME') or f'{base}/huggingface'}/{name}"
    return Path(os.path.expandvars(os.path.expanduser(found)))  # noqa: PTH111 - it never raises


def _first(*names: str) -> str:
    return next(filter(None, map(os.environ.get, names)), "")
