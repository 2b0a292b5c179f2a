"""What is to be done with files and folders that somebody dropped onto the app."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub.library.stored import is_gguf, is_part
from slipstream.hub.library.walk import files_below, is_folder
from slipstream.paths import expanded, printable, real
from slipstream.weights.shards import shards

_OTHER_FORMATS = (".safetensors", ".bin", ".pt", ".pth", ".onnx", ".ggml", ".mlx")


@dataclass(frozen=True)
class OpenModel:
    """Open a model: its first file."""

    path: Path


@dataclass(frozen=True)
class ShowFolders:
    """Show the models in some folders.

    Attributes:
        folders: those that hold models.
        new: those of them that are on the user's list of folders not yet, and in none that is.
    """

    folders: tuple[Path, ...]
    new: tuple[Path, ...]


Dropped = OpenModel | ShowFolders


def dropped(paths: Sequence[Path], known: Sequence[Path], cancel: CancelToken) -> Dropped:
    """Decide what to do; a model counts before a folder.

    Args:
        paths: what was dropped.
        known: the user's folders with models.

    Raises: Cancelled; SlipstreamError: ``nothing_to_open``, ``not_a_model``, ``not_finished``,
        ``no_models_here``.
    """
    model = next((path for path in paths if is_gguf(path.name) and path.is_file()), None)
    if model:
        return OpenModel(shards(model)[0])
    folders = [path for path in paths if is_folder(path)]
    holding = tuple(path for path in folders if _holds_models(path, cancel))
    if holding:
        roots = [real(expanded(folder)) for folder in known]
        new = (path for path in holding if not any(real(path).is_relative_to(r) for r in roots))
        return ShowFolders(holding, tuple(new))
    if folders:
        raise _no_models_here(folders[0])
    if not paths:
        raise _nothing_to_open()
    raise _no_model(paths[0])


def _holds_models(folder: Path, cancel: CancelToken) -> bool:
    return any(files_below(folder, is_gguf, [], cancel, follow=True))


def _nothing_to_open() -> SlipstreamError:
    return SlipstreamError(
        "nothing_to_open",
        "What was dropped is no file on this computer.",
        action="Drop a .gguf file, or a folder that holds some.",
    )


def _no_model(path: Path) -> SlipstreamError:
    name, suffix = printable(path.name), path.suffix.lower()
    if not path.exists():
        return SlipstreamError(
            "not_found",
            f"{name} is not there any more.",
            facts={"path": printable(path)},
            action="Look for where it is now, and drop it again.",
        )
    if is_part(path.name):
        return SlipstreamError(
            "not_finished",
            f"{name} has not arrived in full.",
            facts={"path": printable(path)},
            action="Finish its download first.",
        )
    if suffix in _OTHER_FORMATS:
        why = f"{name} is a model in another format; Slipstream runs GGUF files."
    else:
        why = f"{name} is not a GGUF model."
    return SlipstreamError(
        "not_a_model",
        why,
        facts={"path": printable(path)},
        action="Drop a .gguf file, or a folder that holds some.",
    )


def _no_models_here(folder: Path) -> SlipstreamError:
    return SlipstreamError(
        "no_models_here",
        f"There are no GGUF models in {printable(folder.name or folder)}.",
        facts={"path": printable(folder)},
        action="Choose a folder that holds .gguf files.",
    )
