"""The text inside one Markdown block: styles, links, and where each character came from."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, repeat
from typing import TYPE_CHECKING

from slipstream.ui.transcript.align import inline_offsets
from slipstream.ui.transcript.blocks import LINE_BREAK, Run, Style, offsets_of

if TYPE_CHECKING:
    from markdown_it.token import Token

LINK_SCHEMES = ("http", "https", "mailto")

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_STYLES = {"strong_open": Style.BOLD, "em_open": Style.ITALIC, "s_open": Style.STRIKE}


def may_link(url: str) -> bool:
    """Whether Markdown may make this address a link; otherwise it stays text."""
    # Without this, the type in std::map<std::string> would be a link and lose its brackets.
    scheme = _SCHEME.match(url)
    return scheme is None or scheme[1].lower() in LINK_SCHEMES


def inline_runs(children: Sequence[Token]) -> tuple[Run, ...]:
    """The text inside one block."""
    runs: list[Run] = []
    outer: list[tuple[Style, str]] = []
    style, href = Style.PLAIN, ""
    for token in children:
        if token.nesting == 1:
            outer.append((style, href))
            style |= _STYLES.get(token.type, Style.PLAIN)
            href = _address(token) or href
        elif token.nesting == -1:
            style, href = outer.pop()
        else:
            for text, extra in _leaf(token):
                _append(runs, Run(text, style | extra, href))
    return tuple(runs)


def split_runs(runs: Sequence[Run], place: int) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
    """The runs before and after this many characters."""
    head, tail = [], []
    for run in runs:
        head.append(replace(run, text=run.text[: max(place, 0)]))
        tail.append(replace(run, text=run.text[max(place, 0) :]))
        place -= len(run.text)
    return tuple(run for run in head if run.text), tuple(run for run in tail if run.text)


def _append(runs: list[Run], run: Run) -> None:
    if not run.text:
        return
    if runs and runs[-1].style == run.style and runs[-1].href == run.href:
        run = Run(runs.pop().text + run.text, run.style, run.href)
    runs.append(run)


def _address(token: Token) -> str:
    address = str(token.attrs.get("href", ""))
    scheme = _SCHEME.match(address)
    return address if scheme and scheme[1].lower() in LINK_SCHEMES else ""


def _leaf(token: Token) -> list[tuple[str, Style]]:
    match token.type:
        case "softbreak" | "hardbreak":
            return [(LINE_BREAK, Style.PLAIN)]
        case "code_inline":
            return [(token.content, Style.CODE)]
        case "image":
            # Nothing is ever loaded: the description stands for the picture.
            if not token.content:
                return [(str(token.attrs.get("src", "")), Style.MUTED)]
            parts = inline_runs(token.children or ())
            return [(part.text, part.style | Style.MUTED) for part in parts]
        case _:
            return [(token.content, Style.PLAIN)]


def raw_offsets(
    children: Sequence[Token],
    content: str,
    raw: str,
    at: int,
    lead: int,
    *,
    from_left: bool = False,
) -> array[int]:
    """Where the characters of a block stand in the whole raw text.

    Args:
        children: the block's inline tokens.
        content: the Markdown they were parsed from, without list markers, ``>`` and indentation.
        raw: the lines it was taken from, with all that.
        at: where these start in the whole text.
        lead: how many characters of a list marker are shown before; these stand nowhere.
        from_left: ``raw`` starts with the content; otherwise its lines end with it.
    """
    places: list[int] = []
    start = at
    for line, raw_line in zip(content.split("\n"), raw.split("\n"), strict=False):
        found = raw_line.find(line) if from_left else raw_line.rfind(line)
        if found >= 0:
            places += range(start + found, start + found + len(line) + 1)
        else:
            places += _spread(line, raw_line, start)
        start += len(raw_line) + 1
    last = len(places) - 1
    shown = inline_offsets(children, content)
    found_at = (places[min(offset, last)] if last >= 0 else -1 for offset in shown)
    return offsets_of(chain(repeat(-1, lead), found_at))


def _spread(line: str, raw_line: str, start: int) -> list[int]:
    """Places of the characters of ``line`` in a raw line that holds more between them."""
    places = []
    at = 0
    for character in line:
        found = raw_line.find(character, at)
        at = found if found >= 0 else at
        places.append(start + at)
        at += found >= 0
    return [*places, start + at]
