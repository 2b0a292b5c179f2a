"""A repository as we see it: targets, drafters by kind, projectors, and the rest."""

from dataclasses import dataclass

from slipstream.drafters.kinds import DrafterKind
from slipstream.hub.files import Listing, RepoFile


@dataclass(frozen=True)
class FileSet:
    """One model, projector or drafter: a file, or all shards of a set.

    Attributes:
        quant: its quantization by name; None where the name has none.
        files: those the repository has, the first first.
        missing: paths of shards that the repository does not have.
        kind: how it drafts, if it is a drafter by its name.
    """

    quant: str | None
    files: tuple[RepoFile, ...]
    missing: tuple[str, ...] = ()
    kind: DrafterKind | None = None

    @property
    def path(self) -> str:
        """The path of the first file."""
        return self.files[0].path

    @property
    def bytes(self) -> int:
        """What will be transferred."""
        return sum(file.bytes for file in self.files)


@dataclass(frozen=True)
class Repository:
    """What a repository offers, sorted by name; headers decide in the end.

    Attributes:
        listing: what it was sorted from.
        targets: one per quantization, the smallest first.
        drafters: of each kind the best first.
        projectors: the best first.
        others: files that none of these needs.
    """

    listing: Listing
    targets: tuple[FileSet, ...]
    drafters: tuple[FileSet, ...]
    projectors: tuple[FileSet, ...]
    others: tuple[RepoFile, ...]
