"""What an order brings, as people call it: the model, its drafter, what reads images."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

from slipstream.drafters.identify import FileRole, role_by_name
from slipstream.hub.downloads.orders import Order
from slipstream.hub.downloads.progress import FileProgress, Progress
from slipstream.weights.names import model_stem, quantization_at, shard_of


class Use(StrEnum):
    """What a piece is for."""

    MODEL = "model"
    DRAFTER = "drafter"
    PROJECTOR = "projector"
    OTHER = "other"


@dataclass(frozen=True)
class Piece:
    """A file, or all shards of a set.

    Attributes:
        use: what it is for.
        files: how far each of its files is.
    """

    use: Use
    files: tuple[FileProgress, ...]

    @property
    def done(self) -> int:
        """Bytes that are on disk."""
        return sum(file.done for file in self.files)

    @property
    def total(self) -> int:
        """Bytes of all its files."""
        return sum(file.total for file in self.files)

    @property
    def complete(self) -> bool:
        """Whether it is there as it was listed."""
        return all(file.state == "done" for file in self.files)


def title_of(order: Order) -> str:
    """The name of what is downloaded, with its quantization: ``gemma-4-E4B-it Q4_K_M``."""
    item = order.items[0]
    path = PurePosixPath(item.files[0].path)
    stem = model_stem(path.name) or item.repo.rpartition("/")[2]
    return " ".join(filter(None, (stem, quantization_at(path))))


def pieces_of(order: Order, progress: Progress) -> tuple[Piece, ...]:
    """What belongs together among the files of an order, in the order in which it is fetched."""
    sets: dict[tuple[str, str], list[FileProgress]] = {}
    for file in progress.files:
        sets.setdefault(_set_of(file.repo, file.path), []).append(file)
    return tuple(_pieces(order, sets))


def _pieces(order: Order, sets: dict[tuple[str, str], list[FileProgress]]) -> Iterator[Piece]:
    item, pairing = order.items[0], order.pairing
    model = _set_of(item.repo, item.files[0].path)
    drafter = _set_of(pairing.repo, pairing.path) if pairing else None
    for key, files in sets.items():
        if key == model:
            use = Use.MODEL
        elif key == drafter:
            use = Use.DRAFTER
        elif role_by_name(PurePosixPath(files[0].path)) is FileRole.PROJECTOR:
            use = Use.PROJECTOR
        else:
            use = Use.OTHER
        yield Piece(use, tuple(files))


def _set_of(repo: str, path: str) -> tuple[str, str]:
    """What the shards of one set have in common; a file that is whole has its path alone."""
    at = PurePosixPath(path)
    shard = shard_of(at.name)
    return repo, str(at.with_name(f"{shard.stem} of {shard.total}")) if shard else path
