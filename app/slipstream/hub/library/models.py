"""The library: the models on this computer and what belongs to each."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from slipstream.drafters.identify import FileRole
from slipstream.errors import SlipstreamError
from slipstream.hub.library.stored import Identity, LocalFile, Part, Source
from slipstream.hub.library.stores import Store


@dataclass(frozen=True)
class Place:
    """One place where a model is found.

    Attributes:
        source: whose store it is.
        root: the store's folder.
        home: the snapshot, repository or folder it lies in.
        name: ``owner/repo``, Ollama's ``name:tag``; empty in a folder of the user's.
        revision: commit of the repository.
        files: those that are there, the first first.
    """

    source: Source
    root: Path
    home: Path
    name: str
    revision: str | None
    files: tuple[LocalFile, ...]

    @property
    def repository(self) -> Path:
        """The folder of its repository; without one, the store's."""
        return self.home.parent.parent if self.source is Source.HUGGINGFACE else self.root


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A file or a set of shards on this computer.

    Attributes:
        path: of the first file, where it is or would be.
        name: for people.
        quant: its quantization; None where nothing tells.
        role: what it is for.
        places: where it is found, one and the same on disk; the first is the one to use.
        missing: names of shards that are not there.
        problem: one sentence, if its file is damaged.
    """

    path: Path
    name: str
    quant: str | None
    role: FileRole
    places: tuple[Place, ...]
    missing: tuple[str, ...] = ()
    problem: str | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """Its files that are there, the first first."""
        return tuple(file.path for file in self.places[0].files)

    @property
    def contents(self) -> dict[Identity, int]:
        """Bytes of each file on disk, whatever it is called."""
        return {file.identity: file.bytes for place in self.places for file in place.files}

    @property
    def bytes(self) -> int:
        """On disk."""
        return sum(self.contents.values())

    @property
    def source(self) -> Source:
        """Whose store it lies in."""
        return self.places[0].source

    @property
    def revision(self) -> str | None:
        """Commit of its repository."""
        return self.places[0].revision


@dataclass(frozen=True, kw_only=True)
class Companion(Stored):
    """A drafter or a projector."""


@dataclass(frozen=True, kw_only=True)
class LocalModel(Stored):
    """A model that can be loaded, or will be once it is whole.

    Attributes:
        ref: what the command line takes for MODEL: ``owner/repo:QUANT`` or a path.
        drafters, projectors: what it is used with.
        lent: paths of those among them that did not come with it, and stay when it goes.
        parts: of its files, those that have not arrived in full.
        last_used: seconds since the epoch; None if it was never loaded here.
        has_head: an MTP head is inside: it drafts without a file of its own.
    """

    ref: str
    drafters: tuple[Companion, ...] = ()
    projectors: tuple[Companion, ...] = ()
    lent: frozenset[Path] = frozenset()
    parts: tuple[Part, ...] = ()
    last_used: float | None = None
    has_head: bool = False

    @property
    def companions(self) -> tuple[Companion, ...]:
        """Everything that belongs to it."""
        return (*self.drafters, *self.projectors)

    @property
    def unfinished(self) -> int:
        """Bytes of files that have not arrived in full."""
        return sum(part.bytes for part in self.parts)


@dataclass(frozen=True)
class Library:
    """The models on this computer.

    Attributes:
        models: by name and size.
        loose: drafters and projectors without a model.
        parts: files that have not arrived in full and belong to no model that is listed.
        stores: the folders that were looked through.
        problems: what could not be looked at.
    """

    models: tuple[LocalModel, ...] = ()
    loose: tuple[Companion, ...] = ()
    parts: tuple[Part, ...] = ()
    stores: tuple[Store, ...] = ()
    problems: tuple[SlipstreamError, ...] = ()

    @property
    def bytes(self) -> int:
        """On disk; what several share counts once."""
        contents: dict[Identity, int] = {}
        for one in self.everything():
            contents |= one.contents
        return sum(contents.values()) + sum(part.bytes for part in self.all_parts())

    def everything(self) -> Iterator[Stored]:
        """Models, what belongs to them, and what belongs to none, each once."""
        yield from self.models
        belonging = (one for model in self.models for one in model.companions)
        yield from {one.path: one for one in (*belonging, *self.loose)}.values()

    def all_parts(self) -> Iterator[Part]:
        """Every file that has not arrived in full."""
        yield from self.parts
        yield from (part for model in self.models for part in model.parts)

    def without(self, gone: Collection[Path]) -> "Library":
        """The same without some models, drafters, projectors and parts.

        Args:
            gone: the paths of those that are left out.
        """

        def left(companions: tuple[Companion, ...]) -> tuple[Companion, ...]:
            return tuple(one for one in companions if one.path not in gone)

        if not gone:
            return self
        models = tuple(
            replace(one, drafters=left(one.drafters), projectors=left(one.projectors))
            for one in self.models
            if one.path not in gone
        )
        parts = tuple(one for one in self.parts if one.path not in gone)
        return replace(self, models=models, loose=left(self.loose), parts=parts)
