"""Markdown, as models write it, to blocks.

HTML is text, a link needs http, https or mailto, and no text is lost.
"""

from typing import Any

from markdown_it import MarkdownIt

from slipstream.ui.transcript.builder import Builder, Fence, Parsed, References
from slipstream.ui.transcript.inline import may_link


def _markdown() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    made.validateLink = may_link  # type: ignore[method-assign]
    made.normalizeLinkText = lambda link: link  # type: ignore[method-assign]
    return made


_MARKDOWN = _markdown()


def parse(
    text: str, base: int = 0, references: References | None = None, inside: Fence | None = None
) -> Parsed:
    """Markdown to blocks.

    Args:
        text: the Markdown, or a part of one that starts at a cut.
        base: where the part starts in the whole text.
        references: link definitions of the parts before.
        inside: the open code fence that the part continues.
    """
    if inside is not None:
        text = f"{inside.opening}\n{text}"
        base -= len(inside.opening) + 1
    env: dict[str, Any] = {"references": dict(references or {})}
    tokens = _MARKDOWN.parse(text, env)
    builder = Builder(text, base, inside)
    for token in tokens:
        builder.take(token)
    builder.parsed.references = env["references"]
    return builder.parsed
