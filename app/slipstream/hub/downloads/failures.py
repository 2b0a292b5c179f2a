"""What can go wrong with a download, told so that a person can act on it."""

import errno
from pathlib import Path

from slipstream.errors import SlipstreamError
from slipstream.hub.connection import Connection
from slipstream.hub.downloads.answers import Changed, NotTheFile
from slipstream.hub.downloads.link import Refused
from slipstream.hub.files import RepoFile
from slipstream.hub.refusals import failure, refusal
from slipstream.paths import printable
from slipstream.words import size

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
LOCAL = frozenset({"disk_full", "cannot_write", "not_enough_space"})
"""Codes of failures that are this computer's: the next file would meet them too."""


def disk_full(path: Path, needed: int, free: int | None) -> SlipstreamError:
    """There is no space left, found out while writing."""
    return SlipstreamError(
        "disk_full",
        f"The disk with {printable(path.parent)} is full. What was downloaded so far is kept.",
        facts={"path": printable(path), "needed": needed, "free": free},
        action="Make space there and continue the download.",
    )


def not_enough_space(folder: Path, needed: int, free: int) -> SlipstreamError:
    """There is not enough space, found out before the first byte."""
    missing = needed - free
    return SlipstreamError(
        "not_enough_space",
        f"The download needs {size(needed)} on the disk with {printable(folder)}, which has"
        f" {size(free)} to spare.",
        facts={"path": printable(folder), "needed": needed, "free": free, "missing": missing},
        action=f"Free {size(missing)} there, or choose a smaller quantization.",
    )


def cannot_write(error: OSError, path: Path, needed: int, free: int | None) -> SlipstreamError:
    """A file could not be written or read back: the one that the error names, else ``path``."""
    if error.errno in _FULL:
        return disk_full(path, needed, free)
    found = error.filename2 or error.filename or path
    return SlipstreamError(
        "cannot_write",
        "The download could not be written to disk.",
        facts={"path": printable(str(found)), "reason": error.strerror or str(error)},
        action="Check that the folder can be written to.",
    )


def not_noted(error: OSError, folder: Path) -> SlipstreamError:
    """A new order could not be kept."""
    return SlipstreamError(
        "not_saved",
        "The download cannot be noted, so it was not begun.",
        facts={"path": printable(folder), "reason": error.strerror or str(error)},
        action="Free some space there, or make it writable.",
    )


def download_elsewhere() -> SlipstreamError:
    """Another process runs this order."""
    return SlipstreamError(
        "download_elsewhere",
        "Another program is at this download.",
        action="Stop it there first.",
    )


def went_wrong(error: Exception) -> SlipstreamError:
    """A mistake of ours; the other orders go on all the same."""
    return SlipstreamError(
        "went_wrong",
        "Something went wrong inside Slipstream. What was downloaded so far is kept.",
        facts={"reason": f"{type(error).__name__}: {error}"[:500]},
        action="Try again; the log has the details.",
    )


def changed_on_hub(repo: str, file: RepoFile, found: int) -> SlipstreamError:
    """The file has another size than the listing says."""
    return SlipstreamError(
        "changed_on_hub",
        f"{file.name} is not as it was listed: it has another size.",
        facts={"repository": repo, "file": file.path, "listed_bytes": file.bytes, "bytes": found},
        action="Look into the repository again.",
    )


def not_the_file(repo: str, file: RepoFile) -> SlipstreamError:
    """A web page came instead of the file."""
    return SlipstreamError(
        "not_the_file",
        f"A web page came instead of {file.name}.",
        facts={"repository": repo, "file": file.path},
        action="Check whether this network asks you to sign in first, and try again.",
    )


def checksum_mismatch(repo: str, file: RepoFile, found: str) -> SlipstreamError:
    """What was sent is not what was listed, twice."""
    return SlipstreamError(
        "checksum_mismatch",
        f"{file.name} arrived damaged, twice. It was deleted.",
        facts={
            "repository": repo,
            "file": file.path,
            "expected": file.sha256 or file.blob,
            "found": found,
        },
        action="Try again later, or choose another file.",
    )


def told(error: Exception, repo: str, file: RepoFile, connection: Connection) -> SlipstreamError:
    """What made the last try fail, for people; ``connection`` leads to the server that did."""
    match error:
        case Changed():
            return changed_on_hub(repo, file, error.size)
        case NotTheFile():
            return not_the_file(repo, file)
        case Refused():
            return refusal(error.answer, repo, connection)
    return failure(error, repo, connection)
