"""LM Studio's models: ``publisher/repo/file.gguf`` in its folder."""

from collections.abc import Iterator
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.hub.library.folder import group, wanted
from slipstream.hub.library.stored import Group, Source
from slipstream.hub.library.walk import Problems, files_below
from slipstream.paths import expanded, is_path
from slipstream.small_files import read_json, read_text

_POINTER = "~/.lmstudio-home-pointer"
_HOMES = ("~/.lmstudio", "~/.cache/lm-studio")


def roots() -> list[Path]:
    """The folders LM Studio may keep models in: below its home, and where its settings say."""
    found = []
    for home in _homes():
        found.append(home / "models")
        found += _downloads(home)
    return found


def groups(root: Path, problems: Problems, cancel: CancelToken) -> Iterator[Group]:
    """The files of each repository; links to folders are gone along, as LM Studio does."""
    homes: dict[Path, list[Path]] = {}
    for path in files_below(root, wanted, problems, cancel, follow=True):
        inner = path.parent.relative_to(root).parts[:2]
        homes.setdefault(root.joinpath(*inner), []).append(path)
    for home, files in homes.items():
        name = "/".join(home.relative_to(root).parts)
        yield group(Group(Source.LMSTUDIO, root, home, name), files)


def _homes() -> Iterator[Path]:
    try:
        pointed = read_text(expanded(Path(_POINTER)))
    except (OSError, ValueError):
        pointed = ""
    if is_path(pointed):
        yield expanded(Path(pointed))
    yield from (expanded(Path(home)) for home in _HOMES)


def _downloads(home: Path) -> Iterator[Path]:
    try:
        folder = read_json(home / "settings.json").get("downloadsFolder")
    except (OSError, ValueError, AttributeError):
        return
    if isinstance(folder, str) and is_path(folder):
        yield expanded(Path(folder))
