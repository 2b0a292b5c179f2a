"""What the command line prints: results on stdout, everything else on stderr."""

import contextlib
import json
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator

import typer
from rich.console import Console
from rich.text import Text

from slipstream.errors import SlipstreamError
from slipstream.words import facts_lines

errors = Console(stderr=True, highlight=False)

_C1_CONTROLS = re.compile("[\x7f-\x9f]")
"""Terminals may obey them; unlike the other controls, JSON need not escape them."""


def use_utf8() -> None:
    """Print any text anywhere; a pipe on Windows would otherwise refuse most of Unicode."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]


def print_json(document: object) -> None:
    """The one document of a verb with ``--json``."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    typer.echo(_C1_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def say(text: str, style: str | None = None) -> None:
    """A line for the person, on stderr."""
    errors.print(plain(text, style), soft_wrap=True)


def show_error(error: SlipstreamError, *, as_json: bool) -> None:
    """The error object on stdout, or sentence, facts and action on stderr."""
    if as_json:
        print_json({"error": error.to_json()})
        return
    say(error.message, style="bold")
    for line in facts_lines(error):
        say(f"  {line}", style="dim")
    say(error.action)


@contextlib.contextmanager
def progress(text: str) -> Iterator[Callable[[str], None]]:
    """Say what takes a while; the caller may replace the text, which only a terminal shows."""
    if errors.is_terminal and not errors.is_dumb_terminal:
        with errors.status(plain(text)) as status:
            yield lambda text: status.update(plain(text))
    else:
        say(text)
        yield lambda _: None


def write(text: str) -> None:
    """Text of a reply, at once, on stdout."""
    sys.stdout.write(harmless(text) if sys.stdout.isatty() else text)
    sys.stdout.flush()


def plain(text: str, style: str | None = None) -> Text:
    """Text from files, engines and people as it is printed: no markup, no control characters."""
    return Text(harmless(text), style=style or "")


def harmless(text: str) -> str:
    """Without control characters, with which a model or a file could drive the terminal."""
    return "".join(char for char in text if char in "\n\t" or unicodedata.category(char) != "Cc")
