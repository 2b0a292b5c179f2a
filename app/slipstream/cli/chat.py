"""``slipstream chat``: one reply, or a conversation on the terminal."""

import sys
from typing import Annotated

import typer

from slipstream.cancel import CancelToken
from slipstream.cli import interrupt, output
from slipstream.cli.conversation import converse
from slipstream.cli.loading import load
from slipstream.cli.options import LARGEST, SMALLEST_CONTEXT, AsJson, Spec, spec_choice
from slipstream.cli.reply import Printer, receive, speed_line, to_json
from slipstream.engine.requests import ChatMessage, LoadRequest, ReplyOptions
from slipstream.engine.session import Session
from slipstream.hub.reference import resolve

_MOST_DRAFT_TOKENS = 64


def chat(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="demo, demo-small, a .gguf file or a folder with one, or owner/repo[:QUANT] that"
            " was pulled.",
        ),
    ],
    prompt: Annotated[
        str | None,
        typer.Option("--prompt", "-p", metavar="TEXT", help="What to say; one reply, then end."),
    ] = None,
    spec: Spec = "auto",
    draft_tokens: Annotated[
        int | None,
        typer.Option(
            min=1, max=_MOST_DRAFT_TOKENS, metavar="N", help="Most tokens drafted at once."
        ),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(min=1, max=LARGEST, metavar="N", help="End the reply after this many tokens."),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(min=0.0, max=100.0, metavar="T", help="0 always takes the likeliest token."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2**32 - 1,
            metavar="N",
            help="Makes sampling repeatable on the same engine and settings.",
        ),
    ] = None,
    pieces: Annotated[
        bool, typer.Option("--pieces", help="Show which text the drafter supplied.")
    ] = False,
    context: Annotated[
        int | None,
        typer.Option(
            min=SMALLEST_CONTEXT,
            max=LARGEST,
            metavar="N",
            help="Tokens that prompt and reply share.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Talk to a model: one reply with -p or piped text, else a conversation."""
    choice = spec_choice(spec)
    file = resolve(model)
    on_terminal = prompt is None and sys.stdin.isatty()
    if on_terminal and as_json:
        raise typer.BadParameter("--json needs the text to answer: give it with -p.")
    text = prompt if on_terminal or prompt is not None else sys.stdin.read()
    # An argument that is no valid text reaches Python as lone surrogates.
    text = text and text.encode("utf-8", "replace").decode("utf-8")
    if text is not None and not text.strip():
        raise typer.BadParameter("There is no text to answer: give it with -p.")
    request = LoadRequest(file, choice, draft_tokens, context)
    options = ReplyOptions(max_tokens, temperature, seed)
    session = Session()
    cancel = CancelToken()
    try:
        with interrupt.cancels(cancel):
            load(session, request, model, cancel)
            if text is not None:
                _reply_once(session, text, options, cancel, pieces=pieces, as_json=as_json)
        if text is None:
            converse(session, request, model, options, marked=pieces)
    finally:
        session.stop()


def _reply_once(
    session: Session,
    text: str,
    options: ReplyOptions,
    cancel: CancelToken,
    *,
    pieces: bool,
    as_json: bool,
) -> None:
    events = session.reply([ChatMessage("user", text)], options, cancel)
    reply = receive(events, (lambda _: None) if as_json else Printer(marked=pieces))
    loaded = session.loaded
    if loaded is not None and as_json:
        output.print_json(to_json(loaded, reply, with_pieces=pieces))
    elif loaded is not None:
        output.write("\n")
        output.say(speed_line(reply, loaded.spec), style="dim")
    if reply.finish == "cancelled":
        raise typer.Exit(130)
