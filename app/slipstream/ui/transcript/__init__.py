"""The transcript: Markdown to blocks, blocks to one text document, painted and streamed."""

from slipstream.ui.transcript.markdown import warm_up
from slipstream.ui.transcript.view import Transcript

__all__ = ["Transcript", "warm_up"]
