"""One loaded model and the conversation with it: what the window and the command line drive."""

from collections.abc import Iterator, Sequence

from slipstream.cancel import CancelToken
from slipstream.engine.events import LoadEvent, ReplyEvent
from slipstream.engine.requests import ChatMessage, Loaded, LoadRequest, ReplyOptions

__all__ = ["ChatMessage", "LoadRequest", "Loaded", "ReplyOptions", "Session"]


class Session:
    """Owns at most one engine process. Methods block; call them from a worker thread."""

    loaded: Loaded | None

    def load(self, request: LoadRequest, cancel: CancelToken) -> Iterator[LoadEvent]:
        """Load a model, unloading what ran before; ``loaded`` is set when the iterator ends.

        Raises: SlipstreamError, Cancelled.
        """
        raise NotImplementedError

    def reply(
        self, messages: Sequence[ChatMessage], options: ReplyOptions, cancel: CancelToken
    ) -> Iterator[ReplyEvent]:
        """Generate one reply; ends with Finished, also when cancelled.

        Raises: SlipstreamError, if the engine dies, hangs or refuses; what was generated so far
        has been yielded by then.
        """
        raise NotImplementedError

    def stop(self) -> None:
        """Unload: end the engine process if one runs."""
        raise NotImplementedError
