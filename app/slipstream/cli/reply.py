"""One reply: received, shown while it is written, and told as numbers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from slipstream.cli import output
from slipstream.drafters.kinds import SpecConfig
from slipstream.engine.events import Finished, Piece, ReplyEvent, ReplyNumbers, Source
from slipstream.engine.requests import Loaded
from slipstream.words import ENDINGS, SPECULATION, draft_tokens


@dataclass(frozen=True)
class Reply:
    """A complete reply."""

    pieces: tuple[Piece, ...]
    finish: str
    numbers: ReplyNumbers

    @property
    def text(self) -> str:
        """The answer."""
        return "".join(piece.text for piece in self.pieces if not piece.reasoning)

    @property
    def reasoning(self) -> str:
        """The thinking before the answer."""
        return "".join(piece.text for piece in self.pieces if piece.reasoning)


def receive(events: Iterable[ReplyEvent], on_piece: Callable[[Piece], None]) -> Reply:
    """Collect a reply; ``on_piece`` sees every piece as it comes."""
    pieces: list[Piece] = []
    end = Finished("cancelled", ReplyNumbers())
    for event in events:
        if isinstance(event, Piece):
            pieces.append(event)
            on_piece(event)
        elif isinstance(event, Finished):
            end = event
    return Reply(tuple(pieces), end.finish, end.numbers)


class Printer:
    """Prints pieces as they come: the answer on stdout, the thinking dim on stderr.

    With ``marked``, the text that the drafter supplied stands in brackets.
    """

    def __init__(self, *, marked: bool = False) -> None:
        self._marked = marked
        self._thinking = False

    def __call__(self, piece: Piece) -> None:
        """Print one piece."""
        if not piece.text:
            return
        if self._thinking and not piece.reasoning:
            output.say("\n")
        self._thinking = piece.reasoning
        if piece.reasoning:
            output.errors.print(output.plain(piece.text, "dim"), end="", soft_wrap=True)
        elif self._marked and piece.source is Source.DRAFTER:
            output.write(f"[{piece.text}]")
        else:
            output.write(piece.text)


def speed_line(reply: Reply, spec: SpecConfig) -> str:
    """63.4 tok/s · 214 tokens · first token 0.31 s · 78 % accepted · MTP, 3 draft tokens."""
    numbers = reply.numbers
    parts = [
        f"{numbers.tokens_per_second:.1f} tok/s",
        f"{numbers.tokens} {'token' if numbers.tokens == 1 else 'tokens'}",
        f"first token {numbers.first_token:.2f} s",
    ]
    if numbers.acceptance is not None:
        parts.append(f"{numbers.acceptance:.0%} accepted".replace("%", " %"))
    parts.append(_mode(spec, numbers))
    if reply.finish in ENDINGS:
        parts.append(ENDINGS[reply.finish])
    return " · ".join(parts)


def _mode(spec: SpecConfig, numbers: ReplyNumbers) -> str:
    """How it was speculated."""
    if spec.kind is None:
        return "no drafter"
    name = SPECULATION[spec.kind].name
    if not numbers.drafted:
        return f"{name}, nothing drafted"
    return f"{name}, {draft_tokens(spec.draft_tokens)}"


def to_json(loaded: Loaded, reply: Reply, *, with_pieces: bool) -> dict[str, object]:
    """The document of ``chat --json``. Times are seconds."""
    numbers = reply.numbers
    document: dict[str, object] = {
        "text": reply.text,
        "finish": reply.finish,
        "tokens": numbers.tokens,
        "tokens_per_second": numbers.tokens_per_second,
        "first_token": numbers.first_token,
        "prompt_tokens": numbers.prompt_tokens,
        "prompt_per_second": numbers.prompt_per_second,
        "engine": loaded.engine,
        "spec": {
            "kind": loaded.spec.kind or "off",
            "draft_tokens": loaded.spec.draft_tokens,
            "drafted": numbers.drafted,
            "accepted": numbers.accepted,
            "steps": numbers.steps,
            "acceptance": numbers.acceptance,
            "tokens_per_step": numbers.tokens_per_step,
            "by_position": numbers.by_position,
            "fallback": loaded.fallback,
        },
    }
    if reply.reasoning:
        document["reasoning"] = reply.reasoning
    if with_pieces:
        document["pieces"] = [_piece_json(piece) for piece in reply.pieces]
    return document


def _piece_json(piece: Piece) -> dict[str, object]:
    """Pieces of the answer join to ``text``; those of the thinking say that they are."""
    thinking = {"reasoning": True} if piece.reasoning else {}
    return {"text": piece.text, "source": piece.source, **thinking}
