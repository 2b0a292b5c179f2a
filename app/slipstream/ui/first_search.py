"""What the first page looks for, in worker threads that end when it is left."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from slipstream.cancel import CancelToken
from slipstream.ui.work import Job, Work

if TYPE_CHECKING:
    from slipstream.engine.first_models import Looking, Suggestion
    from slipstream.hub.library.models import Library


def at_the_hub(cancel: CancelToken) -> "Iterator[str | Looking | Suggestion]":
    """In the worker thread: the sentence about this computer, then models that suit it."""
    from slipstream.engine.about import about
    from slipstream.engine.advice import Question, desk_for
    from slipstream.engine.first_models import suggestions
    from slipstream.hub.connection import connect

    desk = desk_for(Question())
    yield about(desk.computer, desk.here.devices)
    cancel.raise_if_cancelled()
    with connect() as connection:
        yield from suggestions(desk, connection, cancel)


def on_the_disk(folders: Sequence[Path], cancel: CancelToken) -> "Iterator[Library]":
    """In the worker thread: the models on this computer."""
    from slipstream.hub.library.scan import scan

    yield scan(folders, cancel)


class Searches:
    """Jobs whose values are shown one by one, as long as they are wanted."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._jobs: list[Job] = []

    def start(
        self,
        steps: Callable[[CancelToken], Iterator[object]],
        show: Callable[..., None],
        done: Callable[[], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        """Run ``steps`` in a worker thread.

        Args:
            steps: yields what is found.
            show: is given each value.
            done: called when nothing more comes.
            failed: called with what was raised.
        """

        def wanted() -> bool:
            return not job.cancel_token.cancelled

        def deliver(values: list[object]) -> None:
            for value in values:
                if wanted():
                    show(value)

        job = self._work.start(
            steps,
            on_values=deliver,
            on_done=lambda: done() if wanted() else None,
            on_error=lambda error: failed(error) if wanted() else None,
        )
        self._jobs = [*(each for each in self._jobs if not each.done), job]

    def stop(self) -> None:
        """Nothing that still comes is wanted."""
        for job in self._jobs:
            job.cancel()
