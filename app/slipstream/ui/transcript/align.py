"""Where each shown character stands in the raw Markdown; markdown-it does not keep that.

Both are walked side by side. Exact for plain text and code; a character reference (``&amp;``)
counts as its first character, and markup as nothing.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it.token import Token

_REFERENCE = re.compile(r"&#?\w{1,32};")
_REACH = 80


def inline_offsets(children: Sequence[Token], content: str) -> list[int]:
    """For each character that ``children`` show, its offset in ``content``, never decreasing.

    Args:
        children: the inline tokens.
        content: the Markdown that they were parsed from.
    """
    walk = _Walk(content)
    for token in children:
        walk.step(token)
    return walk.offsets


class _Walk:
    def __init__(self, content: str) -> None:
        self.content = content
        self.at = 0
        self.offsets: list[int] = []

    def step(self, token: Token) -> None:
        match token.type:
            case "softbreak" | "hardbreak":
                self._line_break()
            case "code_inline":
                self._skip(token.markup)
                self._show(token.content, verbatim=True)
                self._skip(token.markup)
            case "link_open":
                self._skip("<" if token.markup == "autolink" else "[")
            case "link_close":
                self._skip(">") if token.markup == "autolink" else self._end_of_link()
            case "image":
                self._image(token)
            case _ if token.nesting:
                self._skip(token.markup)
            case _:
                self._show(token.content)

    def _skip(self, markup: str) -> None:
        found = self.content.find(markup, self.at)
        if found >= 0:
            self.at = found + len(markup)

    def _line_break(self) -> None:
        found = self.content.find("\n", self.at)
        found = self.at if found < 0 else found
        self.offsets.append(found)
        self.at = found + 1
        while self.content[self.at : self.at + 1] == " ":
            self.at += 1

    def _show(self, text: str, *, verbatim: bool = False) -> None:
        if self.content.startswith(text, self.at):
            self.offsets += range(self.at, self.at + len(text))
            self.at += len(text)
            return
        for character in text:
            self._advance(character, verbatim)

    def _advance(self, character: str, verbatim: bool) -> None:
        here = self.content[self.at : self.at + 1]
        if not verbatim:
            if here == "&" and (found := _REFERENCE.match(self.content, self.at)):
                if html.unescape(found[0]) == character:
                    self.offsets.append(self.at)
                    self.at = found.end()
                    return
            elif here == "\\" and self.content[self.at + 1 : self.at + 2] == character:
                self.at += 1
                here = character
        if here != character and not (character == " " and here == "\n"):
            found_at = self.content.find(character, self.at, self.at + _REACH)
            if found_at < 0:
                self.offsets.append(min(self.at, len(self.content) - 1))
                return
            self.at = found_at
        self.offsets.append(self.at)
        self.at += 1

    def _end_of_link(self) -> None:
        self._skip("]")
        following = self.content[self.at : self.at + 1]
        if following == "[":
            self._skip("]")
        elif following == "(":
            self.at = _after_destination(self.content, self.at)

    def _image(self, token: Token) -> None:
        start = len(self.offsets)
        self._skip("![")
        for child in token.children or ():
            self.step(child)
        self._end_of_link()
        if not token.content:  # then its address is shown instead
            shown = str(token.attrs.get("src", ""))
            self.offsets[start:] = [self.at - 1] * len(shown)


def _after_destination(content: str, at: int) -> int:
    """The offset after ``(address "title")``, which starts at ``at``."""
    from markdown_it.helpers import parseLinkDestination, parseLinkTitle

    end = len(content)
    at = _after_space(content, at + 1)
    destination = parseLinkDestination(content, at, end)
    if destination.ok:
        at = _after_space(content, destination.pos)
    title = parseLinkTitle(content, at, end)
    if title.ok:
        at = _after_space(content, title.pos)
    return min(content.find(")", at) + 1 or at, end)


def _after_space(content: str, at: int) -> int:
    while at < len(content) and content[at] in " \n":
        at += 1
    return at
