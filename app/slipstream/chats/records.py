"""A chat and a message as the rest of the app sees them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Span = tuple[int, bool]
"""A run of characters, and whether the drafter supplied it."""

_TITLE_LENGTH = 60


@dataclass(frozen=True)
class Chat:
    """One conversation.

    Attributes:
        id: its key.
        title: one line; empty until the first message of the user's.
        created, updated: seconds since 1970; ``updated`` moves with every new message.
        model: reference of the model it talks to; None if none was chosen.
        speculation: a kind of drafter, "auto" or "off".
        draft_tokens: most draft tokens per step; 0 is the kind's default.
    """

    id: int
    title: str
    created: float
    updated: float
    model: str | None
    speculation: str
    draft_tokens: int


@dataclass(frozen=True)
class Message:
    """One message of a chat.

    Attributes:
        id: its key.
        chat_id: the chat it belongs to.
        parent_id: the message it follows; None for the first one.
        role: "system", "user" or "assistant".
        content: the text.
        reasoning: the thinking that came before the text.
        pieces: who chose the characters of ``reasoning`` followed by ``content``.
        numbers: the measured numbers of a reply, as plain JSON values.
        spec: how the reply was speculated, as plain JSON values.
        finish: how the reply ended; empty while it is written, or if that was cut short.
        created: seconds since 1970.
    """

    id: int
    chat_id: int
    parent_id: int | None
    role: str
    content: str
    reasoning: str = ""
    pieces: tuple[Span, ...] = ()
    numbers: Mapping[str, object] = field(default_factory=dict)
    spec: Mapping[str, object] = field(default_factory=dict)
    finish: str = ""
    created: float = 0.0


def title_of(text: str) -> str:
    """The title that a chat gets from its first message: one line, cut between words."""
    line = " ".join(text.split())
    if len(line) <= _TITLE_LENGTH:
        return line
    cut = line[:_TITLE_LENGTH]  # one character is for the ellipsis
    words = cut[: cut.rfind(" ")] if " " in cut else cut[:-1]
    return words.rstrip(" ,.;:-") + "…"
