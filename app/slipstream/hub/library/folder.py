"""A folder of the user's with models in it."""

import re
from collections.abc import Iterator
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.drafters.lineage import DRAFTER_FOLDERS
from slipstream.hub.library.stored import Group, Part, Source, is_gguf, is_part, part
from slipstream.hub.library.walk import Problems, files_below
from slipstream.weights.names import quantization

_SUFFIX = ".gguf"
_PART = re.compile(rf"(?i){re.escape(_SUFFIX)}|^(?:[0-9a-f]{{40}}|[0-9a-f]{{64}})\.")
"""In the name of a file that has not arrived in full: ours are called by their checksum."""
_MARK = "downloading_"
"""What LM Studio puts before the name of a file that has not arrived in full."""


def groups(root: Path, problems: Problems, cancel: CancelToken) -> Iterator[Group]:
    """The files of each folder, those of its drafter folders and of its quantizations' folders
    with them."""
    homes: dict[Path, list[Path]] = {}
    for path in files_below(root, wanted, problems, cancel):
        homes.setdefault(_home(path.parent, root), []).append(path)
    for home, files in homes.items():
        yield group(Group(Source.FOLDER, root, home), files)


def wanted(name: str) -> bool:
    """Whether a file is a model, or on its way to be one."""
    return is_gguf(name) or (is_part(name) and bool(_PART.search(name)))


def group(about: Group, files: list[Path]) -> Group:
    """A group like ``about`` with these files."""
    whole = tuple(path for path in files if is_gguf(path.name))
    parts = tuple(
        filter(None, (_part(path, about.source) for path in files if not is_gguf(path.name)))
    )
    return Group(about.source, about.root, about.home, about.name, whole, parts)


def _home(folder: Path, root: Path) -> Path:
    """The folder whose models a file belongs to (``drafters.near`` looks for drafters alike)."""
    inner = folder.name.lower() in DRAFTER_FOLDERS or quantization(folder.name)
    return folder.parent if inner and folder != root else folder


def _part(path: Path, source: Source) -> Part | None:
    end = path.name.lower().rfind(_SUFFIX)
    name = path.name[: end + len(_SUFFIX)].removeprefix(_MARK)
    return part(path, name if end >= 0 else None, source)
