"""What a repository on the Hub holds, as it lists it at one commit."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RepoFile:
    """One file of a repository.

    Attributes:
        path: in the repository, with forward slashes; it never leads out of it.
        bytes: its size.
        sha256: of its content; None for a small file that git itself keeps.
        blob: the name of its content in the Hugging Face cache: the sha256, or git's own id.
    """

    path: str
    bytes: int
    sha256: str | None
    blob: str

    @property
    def name(self) -> str:
        """Its name without folders."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class Listing:
    """The files of a repository, pinned to one commit.

    Attributes:
        repo: ``owner/name``, as the Hub spells it now.
        revision: the commit (40 hex digits); every later request names it.
        files: by path.
        gated: its files are for people who accepted its conditions.
        base_models: what it says it was made from, ``owner/name``.
        licence: as its card names it.
        parameters: of the model that the Hub looked into.
        skipped: paths that were left out because no file may have such a name.
        ref: the branch or tag that was asked for.
    """

    repo: str
    revision: str
    files: tuple[RepoFile, ...]
    gated: bool = False
    base_models: tuple[str, ...] = ()
    licence: str | None = None
    parameters: int | None = None
    skipped: tuple[str, ...] = ()
    ref: str = "main"
