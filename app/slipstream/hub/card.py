"""A repository's own description of itself: its README, as text."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from slipstream.cancel import CancelToken
from slipstream.hub.calls import ask, silent
from slipstream.hub.connection import Connection
from slipstream.hub.files import Listing

if TYPE_CHECKING:
    from huggingface_hub import HfApi

LONGEST = 256 << 10
"""Bytes of a card that are read; the rest of a longer one is left out."""
_NAME = "README.md"
_FRONT_MATTER = re.compile(
    r"\A\ufeff?\s*---[ \t]*\r?\n(?:.*?\r?\n)??---[ \t]*(?:\r?\n|\Z)\s*", re.DOTALL
)


def read_card(
    listing: Listing,
    connection: Connection,
    cancel: CancelToken,
    waiting: Callable[[float], None] = silent,
) -> str:
    """Read a repository's card at the commit of its listing.

    Args:
        listing: of the repository.
        connection: the Hub.
        cancel: ends it at once.
        waiting: told the seconds whenever a rate limit makes us wait.

    Returns: Markdown, without the YAML before it; empty where there is no card.
    Raises: Cancelled; SlipstreamError: what ``ask`` tells.
    """
    if not any(file.path == _NAME and file.bytes for file in listing.files):
        return ""
    url = connection.file_url(listing.repo, listing.revision, _NAME)
    headers = {**connection.headers(), "Range": f"bytes=0-{LONGEST - 1}"}

    def call(_: "HfApi") -> bytes:
        from huggingface_hub import get_session

        content: bytes = get_session().get(url, headers=headers).content
        return content[:LONGEST]

    text = ask(listing.repo, call, connection, cancel, waiting).decode(errors="replace")
    return _FRONT_MATTER.sub("", text, count=1)
