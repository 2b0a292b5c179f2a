"""The environment an engine process starts with: the user's, without what could mislead it."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

# Settings of other llama.cpp programs: a forgotten LLAMA_ARG_SPEC_TYPE would add a drafter.
_STRANGERS = ("LLAMA_", "GGML_")
# The engine talks to loopback only; secrets for the Hub are none of its business.
_NEEDLESS = {
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "FTP_PROXY",
    "HF_TOKEN",
    "HUGGING_FACE_HUB_TOKEN",
}


def child_environment(
    key: str | None = None, inherited: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """The environment of an engine.

    Args:
        key: its API key; an environment variable, because others can read a command line.
        inherited: the app's own environment.
    """
    kept = {name: value for name, value in inherited.items() if not _is_dropped(name)}
    if getattr(sys, "frozen", False):
        _restore_library_path(kept)
    kept["LLAMA_SERVER_ROUTER_PORT"] = "1"  # reports progress, and stops when its input ends
    # An abort would start a debugger for seconds and bury its reason under frames.
    kept["GGML_NO_BACKTRACE"] = "1"
    if os.name == "posix":
        # llama-server also obeys <config>/llama.cpp/config.ini, which may add a drafter.
        kept["XDG_CONFIG_HOME"] = os.devnull
    if key is not None:
        kept["LLAMA_API_KEY"] = key
    return kept


def _is_dropped(name: str) -> bool:
    upper = name.upper()
    return upper.startswith(_STRANGERS) or upper in _NEEDLESS


def _restore_library_path(environment: dict[str, str]) -> None:
    """The user's own LD_LIBRARY_PATH: a frozen app's libraries break other programs.

    PyInstaller's starter puts its folder first and keeps the user's value in the ``_ORIG`` one.
    """
    environment.pop("LD_LIBRARY_PATH", None)
    original = environment.pop("LD_LIBRARY_PATH_ORIG", None)
    if original:
        environment["LD_LIBRARY_PATH"] = original


def own_python() -> tuple[str, ...]:
    """The Python that runs our own code in a child, without the current folder on its path."""
    return (sys.executable, "-P")


def guardian_command(engine: Sequence[str]) -> list[str]:
    """The command that runs an engine under its guardian."""
    script = Path(__file__).with_name("guardian.py")
    return [sys.executable, "-I", "-S", str(script), "--", *engine]
