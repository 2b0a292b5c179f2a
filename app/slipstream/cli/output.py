"""What the command line prints: results on stdout, everything else on stderr."""

import contextlib
import json
import sys
import unicodedata
from collections.abc import Callable, Iterator

import typer
from rich.console import Console

from slipstream.errors import Fact, SlipstreamError

errors = Console(stderr=True, highlight=False)

_SIZES = {"bytes", "free", "missing", "needed", "size", "total"}


def use_utf8() -> None:
    """Print any text anywhere; a pipe on Windows would otherwise refuse most of Unicode."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]


def print_json(document: object) -> None:
    """The one document of a verb with ``--json``."""
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2))


def say(text: str, style: str | None = None) -> None:
    """A line for the person, on stderr."""
    errors.print(text, style=style, markup=False, soft_wrap=True)


def show_error(error: SlipstreamError, *, as_json: bool) -> None:
    """The error object on stdout, or sentence, facts and action on stderr."""
    if as_json:
        print_json({"error": error.to_json()})
        return
    say(error.message, style="bold")
    for name, value in error.facts.items():
        if value is not None:
            say(f"  {name.replace('_', ' ')}: {_fact(name, value)}", style="dim")
    say(error.action)


def _fact(name: str, value: Fact) -> str:
    if name in _SIZES and isinstance(value, int):
        return size(value)
    return str(value).replace("\n", "\n    ")


def size(number: int) -> str:
    """Bytes as people read them: 3.2 GiB."""
    value = float(number)
    for unit in ("bytes", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"


@contextlib.contextmanager
def progress(text: str) -> Iterator[Callable[[str], None]]:
    """Say what takes a while; the caller may replace the text, which only a terminal shows."""
    if errors.is_terminal:
        with errors.status(text) as status:
            yield status.update
    else:
        say(text)
        yield lambda _: None


def write(text: str) -> None:
    """Text of a reply, at once, on stdout."""
    sys.stdout.write(harmless(text) if sys.stdout.isatty() else text)
    sys.stdout.flush()


def harmless(text: str) -> str:
    """Without control characters, with which a model could drive the terminal."""
    return "".join(char for char in text if char in "\n\t" or unicodedata.category(char) != "Cc")
