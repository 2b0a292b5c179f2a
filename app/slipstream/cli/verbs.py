"""The verbs, and the one place where what went wrong is told and becomes an exit code."""

import logging
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from typer.main import get_command

from slipstream import __version__, settings
from slipstream.cancel import Cancelled
from slipstream.cli import interrupt, output
from slipstream.cli.chat import chat
from slipstream.cli.compare import compare
from slipstream.cli.doctor import doctor
from slipstream.cli.models import models
from slipstream.cli.plan import plan
from slipstream.cli.pull import pull
from slipstream.cli.remove import remove
from slipstream.cli.search import search_models
from slipstream.cli.tune import tune
from slipstream.errors import SlipstreamError
from slipstream.logs import log_file

FAILED, WRONG_USAGE = 1, 2
NOBODY_READS = 141
"""What shells show of a program that a broken pipe ended (128 + SIGPIPE)."""

_LOG_BYTES = 1_000_000

app = typer.Typer(
    name="slipstream",
    help="Run language models on this computer. Without a verb it opens the window.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("chat")(chat)
app.command("compare")(compare)
app.command("tune")(tune)
app.command("plan")(plan)
app.command("search")(search_models)
app.command("pull")(pull)
app.command("models")(models)
app.command("remove")(remove)
app.command("doctor")(doctor)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"slipstream {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[  # noqa: ARG001 - its callback has seen to it
        bool,
        typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version."),
    ] = False,
) -> None:
    for notice in settings.load().notices:
        output.say(notice, style="yellow")


def run(arguments: Sequence[str], notice: str) -> int:
    """Run one verb, after saying ``notice``; returns the exit code. Nothing is raised."""
    output.open_streams()
    if notice:
        output.say(notice)
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except output.OutputLost as lost:
        if not lost.reason:
            return NOBODY_READS
        output.say(f"The output could not be written: {lost.reason}.")
        return FAILED
    return code


def _run(arguments: Sequence[str]) -> int:
    """Raises: OutputLost."""
    as_json = "--json" in arguments
    try:
        interrupt.raises_from_now()
        # app() itself would turn Ctrl+C into an exit code, as if a verb had ended so.
        with get_command(app).make_context("slipstream", list(arguments)) as context:
            context.command.invoke(context)
    except output.OutputLost:
        raise
    except typer.Exit as end:
        return end.exit_code
    except typer.TyperException as error:
        output.show_error(_wrong_usage(error, arguments), as_json=as_json)
        return WRONG_USAGE
    except SlipstreamError as error:
        output.show_error(error, as_json=as_json)
        return FAILED
    except (Cancelled, KeyboardInterrupt, typer.Abort):
        if as_json:
            output.show_error(interrupt.stopped(), as_json=True)
        return interrupt.EXIT_CODE
    except Exception as error:  # noqa: BLE001 - the last resort: a bug is told as one
        output.show_error(_bug(error), as_json=as_json)
        return FAILED
    return 0


def _wrong_usage(error: typer.TyperException, arguments: Sequence[str]) -> SlipstreamError:
    verb = arguments[0] if arguments and not arguments[0].startswith("-") else ""
    known = verb in {command.name for command in app.registered_commands}
    return SlipstreamError(
        "wrong_usage",
        error.format_message(),
        action=f"Run 'slipstream {verb + ' ' if known else ''}--help' to see what is possible.",
    )


def _bug(error: Exception) -> SlipstreamError:
    return SlipstreamError(
        "bug",
        f"This is a bug in Slipstream ({type(error).__name__}: {error}).",
        facts={"log_file": _log(error)},
        action="Please report it with the end of that log file.",
    )


def _log(error: Exception) -> str | None:
    """The file that the details are in now; None if there can be none."""
    handler = log_file("slipstream.log", _LOG_BYTES)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    logger = logging.getLogger("slipstream.cli")
    logger.addHandler(handler)
    logger.error("command line", exc_info=error)
    logger.removeHandler(handler)
    handler.close()
    return handler.baseFilename if isinstance(handler, logging.FileHandler) else None
