"""What the command line prints: results on stdout, everything else on stderr."""

import contextlib
import errno
import io
import json
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from slipstream.errors import SlipstreamError
from slipstream.words import facts_lines


class OutputLost(Exception):  # noqa: N818 - it may be a decision of the reader's
    """Standard output takes nothing more.

    Attributes:
        reason: why, in the system's words; empty if its reader simply has enough.
    """

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        # Windows has no broken pipe of its own.
        enough = isinstance(error, BrokenPipeError) or (
            sys.platform == "win32" and error.errno == errno.EINVAL
        )
        self.reason = "" if enough else error.strerror or str(error)


class _Stream(io.TextIOWrapper):
    """A standard stream in UTF-8. Once it fails it goes nowhere, or Python tries again at its end.

    Without UTF-8 a pipe on Windows would refuse most of Unicode.
    """

    def __init__(self, stream: io.TextIOWrapper) -> None:
        line_buffering = stream.line_buffering
        super().__init__(
            stream.detach(), encoding="utf-8", errors="replace", line_buffering=line_buffering
        )

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError as error:
            return self._lost(error)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self._lost(error)

    def _lost(self, error: OSError) -> int:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, self.fileno())
        os.close(null)
        if self is sys.stdout:
            raise OutputLost(error) from error
        return 0  # what is said beside the results may get lost


_AS_WIDE_AS_IT_IS = 10_000

_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Embeddings and overrides of the writing direction; marks of a direction are harmless."""

errors = Console(stderr=True, highlight=False)

_C1_CONTROLS = re.compile("[\x7f-\x9f]")
"""Terminals may obey them; unlike the other controls, JSON need not escape them."""


def open_streams() -> None:
    """Take over the standard streams; ``OutputLost`` is raised by whatever prints from now on.

    One that is closed gets a place, so that no other file takes its number: input is empty, errors
    vanish, and writing to the output fails.
    """
    closed = (("stdin", os.O_RDONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_RDWR, "w"))
    for number, (name, flags, mode) in enumerate(closed):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, flags)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, os.fdopen(number, mode, closefd=False))
    sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
    for name in ("stdout", "stderr"):
        if not isinstance(getattr(sys, name), _Stream):
            setattr(sys, name, _Stream(getattr(sys, name)))


def print_json(document: object) -> None:
    """The one document of a verb with ``--json``."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    write(_C1_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")


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


def waits(update: Callable[[str], None]) -> Callable[[float], None]:
    """Says that a rate limit makes us wait, in place of what is being done, and beside it where
    that is not shown."""

    def waiting(seconds: float) -> None:
        sentence = f"The Hub asks us to wait {seconds:.0f} seconds."
        update(sentence)
        if not errors.is_terminal:
            say(sentence)

    return waiting


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[str]
) -> None:
    """A table on stdout. Its cells are never broken or cut: names in it are copied and searched.

    Args:
        headings: of the columns; a column without a word in it is left out.
        rows: texts as they come from files and people.
        right: headings of the columns that hold numbers.
    """
    cells = [[plain(cell) for cell in row] for row in rows]
    used = [number for number, _ in enumerate(headings) if any(row[number] for row in cells)]
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for number in used:
        heading = headings[number]
        table.add_column(heading, justify="right" if heading in right else "left", no_wrap=True)
    for row in cells:
        table.add_row(*(row[number] for number in used))
    Console(highlight=False, width=_AS_WIDE_AS_IT_IS).print(table)


def write(text: str) -> None:
    """Text of a reply, at once, on stdout."""
    sys.stdout.write(harmless(text) if sys.stdout.isatty() else text)
    sys.stdout.flush()


def plain(text: str, style: str | None = None) -> Text:
    """Text from files, engines and people as it is printed: no markup, no control characters."""
    return Text(harmless(text), style=style or "")


def harmless(text: str) -> str:
    """Without the characters with which a model or a file could drive the terminal, or turn round
    what stands behind them."""
    return "".join(
        char
        for char in text
        if char in "\n\t" or not (char in _TURNS or unicodedata.category(char) == "Cc")
    )
