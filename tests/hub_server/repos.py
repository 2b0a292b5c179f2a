"""Repositories of the test Hub and their files."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from hub_server.contents import Content, git_oid, identity, pieces, sha256, size_of
from hub_server.faults import Sending

_LARGE = (".gguf", ".safetensors", ".bin", ".dat", ".imatrix", ".png", ".pt", ".tar.gz")
_GIT_ALONE = 10 << 20
"""Git itself takes no larger files on the Hub."""


@dataclass
class HubFile:
    """One file of a repository.

    Attributes:
        path: in the repository; it may be as odd as a test needs.
        content: what the listing describes and what is sent.
        sends: what is sent instead; the listing still describes ``content``. So a file shrinks or
            grows after it was listed, or has another sha256 than the listing says.
        link_tells: HEAD and the redirect of ``resolve`` describe ``sends``, not the listing.
        listed_sha256: what the listing claims instead of its true sha256.
        large: it is kept as a large file (LFS) with its sha256; None goes by name and size.
        sending: how its body is sent.
    """

    path: str
    content: Content
    sends: Content | None = None
    link_tells: bool = False
    listed_sha256: str | None = None
    large: bool | None = None
    sending: Sending = field(default_factory=Sending)

    @property
    def size(self) -> int:
        """Bytes, as listed."""
        return size_of(self.content)

    @property
    def sha256(self) -> str:
        """Its sha256, as listed."""
        return self.listed_sha256 or sha256(self.content)

    @property
    def body(self) -> Content:
        """What is sent."""
        return self.content if self.sends is None else self.sends

    @property
    def is_large(self) -> bool:
        """Whether it is kept as a large file, and served by the CDN."""
        if self.large is not None:
            return self.large
        return self.path.lower().endswith(_LARGE) or self.size > _GIT_ALONE

    @property
    def oid(self) -> str:
        """Git's id of the file, or of the pointer that stands for a large one."""
        return git_oid(self.pointer if self.is_large else _whole(self.content))

    @property
    def pointer(self) -> bytes:
        """What git keeps of a large file."""
        lines = ("version https://git-lfs.github.com/spec/v1", f"oid sha256:{self.sha256}")
        return "\n".join((*lines, f"size {self.size}", "")).encode()

    @property
    def etag(self) -> str:
        """What the listing calls its content: the sha256 of a large file, git's id of another."""
        return self.sha256 if self.is_large else self.oid

    @property
    def link_etag(self) -> str:
        """What ``resolve`` calls its content."""
        if self.link_tells:
            return sha256(self.body) if self.is_large else git_oid(_whole(self.body))
        return self.etag

    @property
    def link_size(self) -> int:
        """Bytes, as ``resolve`` tells."""
        return size_of(self.body) if self.link_tells else self.size


@dataclass(frozen=True)
class GgufFacts:
    """What the Hub found in the one GGUF that it looked into.

    Attributes:
        total: parameters.
        architecture: as in the header.
        context_length: tokens.
    """

    total: int
    architecture: str = "qwen3"
    context_length: int = 32_768


@dataclass
class Repo:
    """One repository.

    Attributes:
        id: ``owner/name``.
        files: at the newest commit; ``push`` keeps the commit before it reachable.
        gated: people must accept conditions before they may read files.
        private: only ``allowed`` know that it exists.
        allowed: users (not tokens) who may read it though it is gated or private.
        renamed_to: what it is called now; the Hub answers 307 to there.
        disabled: the Hub took it down.
        base_models: what its card says it was made from.
        relation: how it was made from them.
        licence: as its card names it.
        tags: further tags, besides those that follow from the rest.
        pipeline: its task.
        downloads: in the last month.
        likes: of people.
        trending: its score.
        created: when.
        modified: when.
        gguf: what the Hub found in a GGUF of it; None if it has none.
        card: text of its README.md below the metadata; None: the repository has none of ours.
    """

    id: str
    files: list[HubFile] = field(default_factory=list)
    gated: Literal[False, "auto", "manual"] = False
    private: bool = False
    allowed: set[str] = field(default_factory=set)
    renamed_to: str | None = None
    disabled: bool = False
    base_models: tuple[str, ...] = ()
    relation: Literal["quantized", "finetune", "adapter", "merge"] = "quantized"
    licence: str | None = None
    tags: tuple[str, ...] = ()
    pipeline: str = "text-generation"
    downloads: int = 0
    likes: int = 0
    trending: int = 0
    created: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    modified: datetime = datetime(2026, 6, 1, tzinfo=UTC)
    gguf: GgufFacts | None = None
    card: str | None = None
    _older: dict[str, tuple[HubFile, ...]] = field(default_factory=dict, repr=False)

    @property
    def author(self) -> str:
        """Whose it is."""
        return self.id.partition("/")[0]

    @property
    def commit(self) -> str:
        """The newest commit, which follows from the files."""
        seen = [(file.path, *identity(file.content)) for file in self.tree(None) or ()]
        return hashlib.sha1(repr((self.id, seen)).encode(), usedforsecurity=False).hexdigest()

    def tree(self, revision: str | None) -> tuple[HubFile, ...] | None:
        """Its files by path at a revision, None being the newest; None if there is no such."""
        if revision in self._older:
            return self._older[revision]
        if revision not in (None, "main", "refs/heads/main") and revision != self.commit:
            return None
        files = [*self.files, *self._readme()]
        return tuple(sorted(files, key=lambda file: file.path))

    def push(self, *files: HubFile) -> str:
        """Make a new commit with these files instead of those of the same paths; its id."""
        self._older[self.commit] = self.tree(None) or ()
        paths = {file.path for file in files}
        self.files = [file for file in self.files if file.path not in paths] + list(files)
        return self.commit

    def all_tags(self) -> tuple[str, ...]:
        """What the Hub's ``filter`` looks for."""
        names = [file.path.lower() for file in self.files]
        found = [kind for kind in ("gguf", "safetensors") if any(n.endswith(kind) for n in names)]
        if self.base_models:
            found += [f"base_model:{model}" for model in self.base_models]
            found += [f"base_model:{self.relation}:{model}" for model in self.base_models]
        if self.licence:
            found.append(f"license:{self.licence}")
        return (*self.tags, *found)

    def card_data(self) -> dict[str, object]:
        """The metadata of its card."""
        data = {
            "license": self.licence,
            "base_model": list(self.base_models),
            "base_model_relation": self.relation if self.base_models else None,
            "pipeline_tag": self.pipeline,
            "tags": list(self.tags),
        }
        return {key: value for key, value in data.items() if value}

    def _readme(self) -> Iterable[HubFile]:
        if self.card is None:
            return
        lines = [f"{key}: {value}" for key, value in self.card_data().items()]
        yield HubFile("README.md", "\n".join(["---", *lines, "---", "", self.card, ""]).encode())


def _whole(content: Content) -> bytes:
    return b"".join(bytes(piece) for piece in pieces(content, 0, size_of(content)))
