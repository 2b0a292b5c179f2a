"""Markdown, as models write it, to blocks.

HTML is text, a link needs http, https or mailto, and no text is lost.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from slipstream.ui.transcript import colours
from slipstream.ui.transcript.builder import Builder
from slipstream.ui.transcript.cuts import Inside, Parsed, References
from slipstream.ui.transcript.inline import may_link

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


@lru_cache(maxsize=1)
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # takes longer to import than the window may wait

    made = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    made.validateLink = may_link  # type: ignore[method-assign]
    made.normalizeLinkText = lambda link: link  # type: ignore[method-assign]
    return made


def warm_up(languages: Iterable[str] = colours.USUAL) -> Iterator[None]:
    """Load what reading Markdown and colouring code need, before a reply needs it."""
    parse("a")
    yield
    yield from colours.warm_up(languages)


def is_loaded(languages: Iterable[str]) -> bool:
    """Whether Markdown with code in these languages can be read without loading anything."""
    return _markdown.cache_info().currsize > 0 and all(map(colours.is_loaded, languages))


def parse(
    text: str, base: int = 0, references: References | None = None, inside: Inside | None = None
) -> Parsed:
    """Markdown to blocks.

    Args:
        text: the Markdown, or a part of one that starts at a cut.
        base: where the part starts in the whole text.
        references: link definitions of the parts before.
        inside: the block that the part continues.
    """
    if inside is not None:
        text = inside.opening + text
        base -= len(inside.opening)
    env: dict[str, Any] = {"references": dict(references or {})}
    tokens = _markdown().parse(text, env)
    builder = Builder(text, base, inside)
    for token in tokens:
        builder.take(token)
    builder.parsed.references = env["references"]
    return builder.parsed
