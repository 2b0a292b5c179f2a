"""Colours of code. It is coloured in short chunks, so that streaming need not colour it again."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from slipstream.ui.transcript.blocks import Run

if TYPE_CHECKING:
    # Pygments takes longer to import than the window may wait.
    from pygments.lexer import Lexer
    from pygments.token import _TokenType

# A chunk ends before a line that starts a new top-level statement, or when it is long.
_CHUNK_LEAST = 10
_CHUNK_MOST = 40
_LONGEST = 2000  # characters; a longer line is data, and nobody reads it by its colours

USUAL = (
    "python",
    "bash",
    "javascript",
    "json",
    "cpp",
    "html",
    "sql",
    "typescript",
    "rust",
    "java",
    "go",
    "csharp",
    "php",
    "ruby",
    "css",
    "yaml",
    "kotlin",
    "swift",
)

_NAMES = {
    "Comment": "comment",
    "Keyword": "keyword",
    "Keyword.Constant": "number",
    "Operator.Word": "keyword",
    "Literal.String": "string",
    "Literal.Number": "number",
    "Name.Function": "name",
    "Name.Class": "name",
    "Name.Decorator": "name",
    "Name.Tag": "keyword",
    "Name.Attribute": "name",
    "Name.Builtin": "number",
    "Generic.Deleted": "deleted",
    "Generic.Inserted": "string",
    "Generic.Heading": "keyword",
    "Generic.Subheading": "keyword",
}

_loaded: set[str] = set()

LIGHT_CODE = {
    "comment": "#5d6779",
    "keyword": "#7a3bb0",
    "string": "#8a4b08",
    "number": "#0b5cad",
    "name": "#1d4ed8",
    "deleted": "#b42318",
}
DARK_CODE = {
    "comment": "#98a2b3",
    "keyword": "#c9a6ff",
    "string": "#e8bd7a",
    "number": "#7cc4ff",
    "name": "#9db8ff",
    "deleted": "#f97066",
}


def warm_up(languages: Iterable[str]) -> Iterator[None]:
    """Load the lexers of languages, which takes up to 130 ms each, before one is needed."""
    for language in languages:
        if _lexer(language) is None:
            _loaded.add(language)
            continue
        for _ in _tokens(language, "x = 1\n"):
            yield


def is_loaded(language: str) -> bool:
    """Whether colouring code in this language takes no time to load anything."""
    return language in _loaded


def coloured(lines: Sequence[str], language: str, *, complete: bool) -> list[tuple[Run, ...]]:
    """Each line of code as runs.

    Args:
        lines: the code, without line ends.
        language: the name after the fence; unknown ones are not coloured.
        complete: the last line is whole. While it still grows it stays plain.
    """
    whole = len(lines) if complete else max(len(lines) - 1, 0)
    if whole == 0 or _lexer(language) is None:
        return [_plain(line) for line in lines]
    starts = [0, *chunk_starts(lines[:whole]), whole]
    done: list[tuple[Run, ...]] = []
    for start, end in pairwise(starts):
        chunk = lines[start:end]
        if any(len(line) > _LONGEST for line in chunk):
            done += map(_plain, chunk)
        elif chunk:
            done += _chunk(language, "\n".join(chunk))
    return done + [_plain(line) for line in lines[whole:]]


def chunk_starts(lines: Sequence[str]) -> list[int]:
    """Where new chunks start. It depends only on the lines before, so it never changes later."""
    starts = []
    last = 0
    for index in range(1, len(lines)):
        length = index - last
        new_statement = lines[index][:1].strip() and not lines[index - 1].strip()
        if length >= _CHUNK_MOST or (length >= _CHUNK_LEAST and new_statement):
            starts.append(index)
            last = index
    return starts


@lru_cache(maxsize=64)
def _lexer(language: str) -> "Lexer | None":
    from pygments.lexers import get_lexer_by_name

    if language not in _languages():
        return None
    return get_lexer_by_name(language, stripnl=False, ensurenl=False)


@lru_cache(maxsize=1)
def _languages() -> frozenset[str]:
    """Names of the lexers; asked for another, Pygments would search all installed packages."""
    from pygments.lexers import get_all_lexers

    return frozenset(
        alias for _, aliases, _, _ in get_all_lexers(plugins=False) for alias in aliases
    )


@lru_cache(maxsize=1024)
def _chunk(language: str, code: str) -> tuple[tuple[Run, ...], ...]:
    lines: list[list[Run]] = [[]]
    for colour, text in _tokens(language, code):
        first, *others = text.split("\n")
        _add(lines[-1], first, colour)
        for other in others:
            lines.append([])
            _add(lines[-1], other, colour)
    return tuple(tuple(line) for line in lines)


def _tokens(language: str, code: str) -> Iterator[tuple[str, str]]:
    lexer = _lexer(language)
    assert lexer is not None
    reached = 0
    for start, kind, text in lexer.get_tokens_unprocessed(code):
        # Some lexers skip or repeat text; the code itself is what must be shown.
        if start != reached:
            break
        reached += len(text)
        yield _colour(kind), text
    if reached < len(code):
        yield "", code[reached:]
    _loaded.add(language)


@lru_cache(maxsize=256)
def _colour(kind: "_TokenType") -> str:
    names = (_NAMES.get(".".join(each)) for each in reversed(kind.split()))
    return next((name for name in names if name), "")


def _add(line: list[Run], text: str, colour: str) -> None:
    if not text:
        return
    if line and (line[-1].colour == colour or text.isspace()):
        text, colour = line[-1].text + text, line[-1].colour
        line.pop()
    line.append(Run(text, colour=colour))


def _plain(line: str) -> tuple[Run, ...]:
    return (Run(line),) if line else ()
