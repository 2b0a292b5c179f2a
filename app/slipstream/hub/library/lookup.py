"""Which model of the library a person means."""

from collections.abc import Sequence, Set

from slipstream.errors import SlipstreamError
from slipstream.hub.library.models import Companion, Library, LocalModel
from slipstream.hub.library.stored import Source
from slipstream.hub.reference import DEMOS, on_the_hub, resolve
from slipstream.hub.renamed import present
from slipstream.paths import printable, real
from slipstream.weights.names import meant

_LISTED = 8


def named(library: Library, text: str) -> LocalModel | Companion:
    """The one model that a text names, or the drafter or projector without a model whose path it
    is.

    Args:
        library: what there is.
        text: its reference, its name in Ollama, one of its files, or a repository with or without
            a quantization; incomplete models have names, too.

    Raises: SlipstreamError: ``not_found``, ``ambiguous_model``, ``comes_with_the_app``.
    """
    if text in DEMOS:
        raise SlipstreamError(
            "comes_with_the_app",
            "This model comes with the app and takes next to no space.",
            facts={"model": text},
            action="Choose another model; 'slipstream models' lists them.",
        )
    found: Sequence[LocalModel | Companion] = [
        one for one in library.models if text in (one.ref, one.name, str(one.path))
    ]
    found = found or _in_repository(library, text) or _at(library, text)
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(printable(_reference(one)) for one in found[:_LISTED])
        raise SlipstreamError(
            "ambiguous_model",
            f"{text} may be {len(found)} models: {names}.",
            facts={"count": len(found), "models": names},
            action="Name one of them.",
        )
    raise SlipstreamError(
        "not_found",
        f"{text} is not on this computer.",
        facts={"model": text},
        action="Run 'slipstream models' to see what is.",
    )


def _in_repository(library: Library, text: str) -> list[LocalModel]:
    address = on_the_hub(text)
    if address is None:
        return []
    names = {address.repo.lower(), present(address.repo).lower()}
    there = [one for one in library.models if _comes_from(one, names)]
    if address.file:
        wanted = address.file.rpartition("/")[2]
        return [one for one in there if one.path.name == wanted]
    if address.quant is None:
        return there
    label = meant(address.quant, (one.quant for one in there))
    return [one for one in there if label and one.quant == label]


def _comes_from(one: LocalModel, names: Set[str]) -> bool:
    return any(
        place.source is Source.HUGGINGFACE and place.name.lower() in names for place in one.places
    )


def _at(library: Library, text: str) -> list[LocalModel | Companion]:
    """What has the file, or the only model of the folder, that a path leads to."""
    try:
        path = real(resolve(text))
    except SlipstreamError:
        return []
    known: tuple[LocalModel | Companion, ...] = (*library.models, *library.loose)
    return [one for one in known if path in {real(file) for file in one.files}]


def _reference(one: LocalModel | Companion) -> str:
    return one.ref if isinstance(one, LocalModel) else str(one.path)
