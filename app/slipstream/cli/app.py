"""The start of the command line."""

from collections.abc import Sequence

from slipstream.cli import interrupt


def main(arguments: Sequence[str], notice: str = "") -> int:
    """Run one verb, after saying ``notice``; returns the exit code. Nothing is raised."""
    with interrupt.ends(as_json="--json" in arguments):
        # Half a second, in which Ctrl+C must be heeded already.
        from slipstream.cli.verbs import run

        return run(arguments, notice)
