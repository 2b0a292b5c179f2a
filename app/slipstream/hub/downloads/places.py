"""Where a file goes: into the Hugging Face cache, or into a folder of the user's."""

import errno
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from slipstream.errors import SlipstreamError
from slipstream.hub import cache
from slipstream.hub.address import is_safe_path
from slipstream.hub.downloads.blocks import BLOCK, map_of
from slipstream.hub.downloads.hashing import digest_for, expected
from slipstream.hub.files import RepoFile


@dataclass(frozen=True)
class Place(ABC):
    """Where one file goes.

    Attributes:
        root: the cache, or the folder.
        repo: ``owner/name`` it comes from.
        revision: the commit.
        file: as the listing tells.
    """

    root: Path
    repo: str
    revision: str
    file: RepoFile

    @property
    @abstractmethod
    def part(self) -> Path:
        """What is not complete yet."""

    @property
    @abstractmethod
    def lock(self) -> Path:
        """Held while the part is written."""

    @property
    @abstractmethod
    def there(self) -> Path:
        """Where the file is found once it is complete."""

    @property
    @abstractmethod
    def became(self) -> Path:
        """What the part becomes when it is published."""

    @abstractmethod
    def find(self, look: Callable[[], None]) -> Path | None:
        """The file, if it is there already; ``look`` is called while that takes long.

        Raises: OSError; SlipstreamError.
        """

    @abstractmethod
    def publish(self) -> Path:
        """Make the part visible, which is complete; its path.

        Raises: OSError.
        """

    def doubt(self) -> None:
        """Take back what was published when the computer went down before it was on the disk.

        The map is removed when the disk has everything. A map without its part tells that this
        never happened: the file becomes a part again, and is checked as any other.

        Raises: OSError.
        """
        if map_of(self.part).exists() and not self.part.exists():
            if self.became.is_file() and not self.became.is_symlink():
                self.became.replace(self.part)
            else:
                map_of(self.part).unlink()

    def discard(self) -> None:
        """Delete what is not complete."""
        if self.part.exists():
            self.part.unlink(missing_ok=True)
            map_of(self.part).unlink(missing_ok=True)


class CachePlace(Place):
    """The Hugging Face cache."""

    @property
    def part(self) -> Path:
        """Beside the blob that it becomes."""
        own = cache.blob_path(self.root, self.repo, self.file)
        return own.with_name(f"{own.name}.part")

    @property
    def lock(self) -> Path:
        """The same as huggingface_hub's."""
        return cache.lock_path(self.root, self.repo, self.file)

    @property
    def there(self) -> Path:
        """In the snapshot."""
        return cache.snapshot_path(self.root, self.repo, self.revision, self.file.path)

    @property
    def became(self) -> Path:
        """The blob, or where there are no links the file in the snapshot."""
        own = cache.blob_path(self.root, self.repo, self.file)
        return own if own.exists() else self.there

    def find(self, look: Callable[[], None]) -> Path | None:
        """The file in the snapshot, made of what the cache has of it."""
        look()
        found = cache.find(self.root, self.repo, self.revision, self.file)
        if found is None:
            _check_free(cache.blob_path(self.root, self.repo, self.file))
            _check_free(self.there)
            return None
        return cache.take(self.root, self.repo, self.revision, self.file, found)

    def publish(self) -> Path:
        """Make it a blob, and the snapshot lead to it."""
        return cache.publish(self.root, self.repo, self.revision, self.file, self.part)


class FolderPlace(Place):
    """A folder of the user's."""

    @property
    def there(self) -> Path:
        """Under the path that it has in its repository."""
        return self.became

    @property
    def became(self) -> Path:
        """The file itself."""
        if not is_safe_path(self.file.path):
            raise cache.unsafe(self.file.path)
        return self.root / self.file.path

    @property
    def part(self) -> Path:
        """Beside the file that it becomes."""
        return self.became.with_name(f"{self.file.blob}.part")

    @property
    def lock(self) -> Path:
        """Beside it, too."""
        return self.became.with_name(f"{self.file.blob}.lock")

    def find(self, look: Callable[[], None]) -> Path | None:
        """The file, if it is this one; another file is never written over."""
        if not self.became.exists():
            return None
        same_size = self.became.is_file() and self.became.stat().st_size == self.file.bytes
        if same_size and _digest(self.became, self.file, look) == expected(self.file):
            return self.became
        raise SlipstreamError(
            "file_exists",
            f"There is another file named {self.file.name} in this folder.",
            facts={"path": str(self.became)},
            action="Move it away or choose another folder.",
        )

    def publish(self) -> Path:
        """Give it its name."""
        self.part.replace(self.became)
        return self.became


def _check_free(path: Path) -> None:
    """Look before the first byte whether a file can be put somewhere.

    Raises: OSError: a folder has its name, or something else that of a folder above it.
    """
    if path.is_dir() and not path.is_symlink():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    above = next(folder for folder in path.parents if os.path.lexists(folder))
    if not above.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(above))


def _digest(path: Path, file: RepoFile, look: Callable[[], None]) -> str:
    digest = digest_for(file)
    buffer = memoryview(bytearray(BLOCK))
    with path.open("rb", buffering=0) as opened:
        while count := opened.readinto(buffer):
            look()
            digest.update(buffer[:count])
    return digest.hexdigest()
