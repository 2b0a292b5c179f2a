"""Files that are written to without end: bounded, private, and never a reason to fail."""

import contextlib
import logging
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from slipstream import paths
from slipstream.errors import SlipstreamError


class _PrivateFile(RotatingFileHandler):
    """Rotates; only the user can read it; a full disk stops the log and nothing else."""

    def _open(self) -> TextIOWrapper:
        paths.make_private(Path(self.baseFilename))
        return super()._open()

    def close(self) -> None:
        """Close it; what did not fit on the disk is lost."""
        with contextlib.suppress(OSError):
            super().close()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802
        self.setLevel(logging.CRITICAL + 1)


def log_file(name: str, most_bytes: int) -> logging.Handler:
    """A handler that writes to a file of the log folder; to nothing, if there can be no such file.

    Args:
        name: of the file; one of the same size is kept beside it.
        most_bytes: after which a new file is begun.
    """
    try:
        file = paths.log_folder() / name
    except SlipstreamError:
        return logging.NullHandler()
    return _PrivateFile(file, maxBytes=most_bytes, backupCount=1, encoding="utf-8", delay=True)
