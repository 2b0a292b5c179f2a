"""A conversation on the terminal."""

import contextlib
import re

from slipstream.cancel import Cancelled, CancelToken
from slipstream.cli import interrupt, output
from slipstream.cli.loading import load
from slipstream.cli.reply import Printer, receive, speed_line
from slipstream.engine.events import EngineState
from slipstream.engine.requests import ChatMessage, LoadRequest, ReplyOptions
from slipstream.engine.session import Session
from slipstream.errors import SlipstreamError

with contextlib.suppress(ImportError):
    import readline  # noqa: F401 - makes input() edit lines and remember them; not on Windows

_PROMPT = "> "
_UNKNOWN_COMMAND = re.compile(r"/[a-z]+( \S+)?")
"""What people type who expect one; a path has a second slash."""


def converse(
    session: Session, request: LoadRequest, name: str, options: ReplyOptions, *, marked: bool
) -> None:
    """Ask and answer until /quit or Ctrl+D. The model is loaded already."""
    if session.loaded is not None:
        output.say(session.loaded.name, style="bold")
    output.say("Ctrl+C stops a reply. /quit or Ctrl+D ends the conversation.", style="dim")
    messages: list[ChatMessage] = []
    while (text := _ask()) is not None:
        if not text.strip():
            continue
        question = ChatMessage("user", text)
        cancel = CancelToken()
        try:
            with interrupt.cancels(cancel):
                if session.state is not EngineState.READY:
                    load(session, request, name, cancel)
                answer = _answer(session, [*messages, question], options, cancel, marked=marked)
        except Cancelled:
            output.say("")
            continue
        except SlipstreamError as error:
            output.say("")
            output.show_error(error, as_json=False)
            continue
        messages += [question, ChatMessage("assistant", answer)]


def _ask() -> str | None:
    """The next message; None to leave."""
    while True:
        try:
            text = input(_PROMPT)
        except EOFError:
            output.say("")
            return None
        except KeyboardInterrupt:
            output.say("\n/quit or Ctrl+D ends the conversation.", style="dim")
            continue
        command = text.strip()
        if command == "/quit":
            return None
        if not _UNKNOWN_COMMAND.fullmatch(command):
            return text
        output.say(f"There is no command {command}. /quit or Ctrl+D ends the conversation.")


def _answer(
    session: Session,
    messages: list[ChatMessage],
    options: ReplyOptions,
    cancel: CancelToken,
    *,
    marked: bool,
) -> str:
    reply = receive(session.reply(messages, options, cancel), Printer(marked=marked))
    output.write("\n")
    if session.loaded is not None:
        output.say(speed_line(reply, session.loaded.spec), style="dim")
    return reply.text
