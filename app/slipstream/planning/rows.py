"""The quantizations of a repository, ready to be planned."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from slipstream.drafters.attached import all_attached, identity
from slipstream.drafters.discovery import NGRAM
from slipstream.drafters.kinds import Drafter, DrafterKind, Found, Unfit
from slipstream.hub.companions import Companion
from slipstream.hub.files import Listing
from slipstream.hub.here import known_header, look_here
from slipstream.hub.repository import FileSet
from slipstream.planning.model import model_of
from slipstream.planning.quantizations import Quantization
from slipstream.planning.read import Read
from slipstream.weights.header import Header
from slipstream.weights.names import quantization_of
from slipstream.weights.resized import Resizer, resized
from slipstream.weights.skeleton import shape_key


@dataclass(frozen=True)
class Row:
    """One quantization of a repository.

    Attributes:
        files: its files there.
        quantization: the same, ready to be planned.
        drafters: what may draft for it, the best first.
        projector: lets it read images; None if its repository has none.
        path: of its first file on this computer; None if not all of it is there.
    """

    files: FileSet
    quantization: Quantization
    drafters: tuple[Companion, ...]
    projector: FileSet | None
    path: Path | None

    @property
    def drafter(self) -> Companion | None:
        """The best that is proven."""
        return next((one for one in self.drafters if one.proven), None)


class Alike:
    """The quantizations of one model: what they have in common is worked out once."""

    def __init__(
        self, listing: Listing, read: Read, projector: tuple[FileSet, Header | None] | None
    ) -> None:
        self._listing, self._read, self._projector = listing, read, projector
        self._attached = all_attached()
        self._copies: dict[tuple[str, str], Path | None] = {}
        self._model, self._shape = model_of(read.header), shape_key(read.header)
        self._resizer = Resizer(read.header)

    def row(self, one: FileSet, drafters: tuple[Companion, ...]) -> Row:
        """A quantization by its own header where that is known, else by its size and another's."""
        listing, read = self._listing, self._read.header
        here = look_here(listing.repo, listing.revision, one)
        is_read = one.files == self._read.files.files
        own = read if is_read else known_header(listing, one, here)
        if is_read:
            model, shape = self._model, self._shape
        elif own:
            model, shape = model_of(own), shape_key(own)
        else:
            sizes = self._resizer.sizes(one.bytes, one.quant)
            model, shape = replace(self._model, sizes=sizes), self._shape
        header = own or replace(read, path=Path(one.path), file_bytes=one.bytes)
        projector = self._projector
        quantization = Quantization(
            label=one.quant or quantization_of(header) or Path(one.path).stem,
            header=header,
            model=model,
            shape=shape,
            files=tuple(Path(file.path) for file in one.files),
            found=self._found(drafters, here.path),
            projector=projector[1] if projector else None,
            download=here.missing,
            read=own is not None,
            headers=_Headers(read, listing, drafters),
        )
        return Row(one, quantization, drafters, projector[0] if projector else None, here.path)

    def _found(self, drafters: Sequence[Companion], target: Path | None) -> Found:
        """What drafts for a quantization; of one that is here, as it would be loaded."""
        listing = self._listing
        choice = self._attached(target).choice if target else "automatic"
        wanted = identity(choice) if isinstance(choice, Path) else None

        def drafter(one: Companion) -> Drafter:
            copy = self._copy(one) if target else None
            return Drafter(
                one.kind,
                path_of(one, listing),
                one.proven,
                one.reason,
                one.bytes,
                one.longest_draft,
                chosen=copy is not None and identity(copy) == wanted,
                copy=copy,
            )

        fit = [drafter(one) for one in drafters if one.fits]
        unfit = [
            Unfit(one.kind, path, one.reason, missed=False)
            for one in drafters
            if not one.fits and (path := path_of(one, listing))
        ]
        chosen_first = sorted(fit, key=lambda one: not one.chosen)
        return Found((*chosen_first, NGRAM), tuple(unfit), target, plain=choice == "none")

    def _copy(self, one: Companion) -> Path | None:
        """The file of a drafter on this computer, looked for once."""
        if one.files is None:
            return None
        key = one.repo, one.files.path
        if key not in self._copies:
            self._copies[key] = look_here(one.repo, one.revision, one.files).path
        return self._copies[key]


class _Headers(Mapping[Path, Header]):
    """Headers of drafters by their paths; that of a lower quantization is made when asked for."""

    def __init__(self, target: Header, listing: Listing, drafters: Iterable[Companion]) -> None:
        self._target = target
        paths = ((path_of(one, listing), one) for one in drafters)
        self._drafters = {
            path: one
            for path, one in paths
            if path and (one.header or one.kind is DrafterKind.SELF)
        }

    def __getitem__(self, path: Path) -> Header:
        one = self._drafters[path]
        label = one.files.quant if one.files else None
        return one.header or resized(self._target, path, one.bytes, label)

    def __iter__(self) -> Iterator[Path]:
        return iter(self._drafters)

    def __len__(self) -> int:
        return len(self._drafters)


def path_of(one: Companion, listing: Listing) -> Path | None:
    """What the quantizations of a repository call a drafter's file: with its repository, if that
    is another one."""
    if one.files is None:
        return None
    return Path(one.files.path) if one.repo == listing.repo else Path(one.repo, one.files.path)
