"""A reply as text, as one line of numbers, and as JSON."""

from pathlib import Path

import pytest

from slipstream.cli.reply import Printer, receive, speed_line, to_json
from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecConfig
from slipstream.engine.events import Finished, Piece, Reading, ReplyEvent, ReplyNumbers, Source
from slipstream.engine.requests import Loaded, LoadRequest

NUMBERS = ReplyNumbers(
    tokens=214,
    tokens_per_second=63.42,
    first_token=0.312,
    prompt_tokens=12,
    prompt_per_second=400.0,
    drafted=100,
    accepted=78,
    steps=135,
    by_position=(0.9, 0.5),
)
MTP = SpecConfig(DrafterKind.MTP, draft_tokens=3)
EVENTS: list[ReplyEvent] = [
    Reading(1, 12),
    Piece("Hm.", Source.TARGET, reasoning=True),
    Piece("Once", Source.TARGET),
    NUMBERS,
    Piece(" upon", Source.DRAFTER),
    Piece("", Source.TARGET),
    Finished("stop", NUMBERS),
]


def _loaded(spec: SpecConfig, fallback: str | None = None) -> Loaded:
    return Loaded(LoadRequest(Path("x.gguf")), "x", 4096, spec, (), fallback, "engine 1")


def test_pieces_join_to_the_text_and_thinking_stays_apart() -> None:
    seen: list[Piece] = []
    reply = receive(EVENTS, seen.append)
    assert (reply.text, reply.reasoning, reply.finish) == ("Once upon", "Hm.", "stop")
    assert seen == [event for event in EVENTS if isinstance(event, Piece)]


def test_the_speed_line() -> None:
    reply = receive(EVENTS, lambda _: None)
    assert speed_line(reply, MTP) == (
        "63.4 tok/s · 214 tokens · first token 0.31 s · 78 % accepted · MTP, 3 draft tokens"
    )


def test_the_speed_line_of_a_plain_reply_that_was_stopped() -> None:
    numbers = ReplyNumbers(tokens=1, tokens_per_second=0.0, first_token=1.0)
    reply = receive([Finished("cancelled", numbers)], lambda _: None)
    assert speed_line(reply, PLAIN) == (
        "0.0 tok/s · 1 token · first token 1.00 s · no drafter · stopped"
    )


def test_the_document_has_everything_of_the_contract() -> None:
    loaded = _loaded(SpecConfig(DrafterKind.MTP, draft_tokens=3))
    document = to_json(loaded, receive(EVENTS, lambda _: None), with_pieces=True)
    assert document == {
        "text": "Once upon",
        "reasoning": "Hm.",
        "finish": "stop",
        "tokens": 214,
        "tokens_per_second": 63.42,
        "first_token": 0.312,
        "prompt_tokens": 12,
        "prompt_per_second": 400.0,
        "engine": "engine 1",
        "spec": {
            "kind": "mtp",
            "draft_tokens": 3,
            "drafted": 100,
            "accepted": 78,
            "steps": 135,
            "acceptance": 0.78,
            "tokens_per_step": 213 / 135,
            "by_position": (0.9, 0.5),
            "fallback": None,
        },
        "pieces": [
            {"text": "Hm.", "source": "target", "reasoning": True},
            {"text": "Once", "source": "target"},
            {"text": " upon", "source": "drafter"},
            {"text": "", "source": "target"},
        ],
    }


def test_plain_decoding_is_called_off_and_says_why() -> None:
    document = to_json(
        _loaded(PLAIN, "No drafter fits."), receive([], lambda _: None), with_pieces=False
    )
    assert "pieces" not in document
    assert "reasoning" not in document
    spec = document["spec"]
    assert isinstance(spec, dict)
    assert (spec["kind"], spec["fallback"], spec["acceptance"]) == ("off", "No drafter fits.", None)


def test_drafted_text_stands_in_brackets_and_thinking_on_stderr(
    capsys: pytest.CaptureFixture[str],
) -> None:
    receive(EVENTS, Printer(marked=True))
    printed = capsys.readouterr()
    assert printed.out == "Once[ upon]"
    assert printed.err.startswith("Hm.\n")
