"""Which model of the library a person means."""

from slipstream.errors import SlipstreamError
from slipstream.hub.library.models import Library, LocalModel
from slipstream.hub.library.stored import Source
from slipstream.hub.reference import DEMOS, on_the_hub, resolve
from slipstream.paths import printable, real
from slipstream.weights.names import meant

_LISTED = 8


def named(library: Library, text: str) -> LocalModel:
    """The one model that a text names.

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
    found = [one for one in library.models if text in (one.ref, one.name, str(one.path))]
    found = found or _in_repository(library, text) or _at(library, text)
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(printable(one.ref) for one in found[:_LISTED])
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
    there = [one for one in library.models if _comes_from(one, address.repo)]
    if address.file:
        wanted = address.file.rpartition("/")[2]
        return [one for one in there if one.path.name == wanted]
    if address.quant is None:
        return there
    label = meant(address.quant, (one.quant for one in there))
    return [one for one in there if label and one.quant == label]


def _comes_from(one: LocalModel, repo: str) -> bool:
    return any(
        place.source is Source.HUGGINGFACE and place.name.lower() == repo.lower()
        for place in one.places
    )


def _at(library: Library, text: str) -> list[LocalModel]:
    """The model whose file, or whose folder, a path leads to."""
    try:
        path = real(resolve(text))
    except SlipstreamError:
        return []
    return [one for one in library.models if path in {real(file) for file in one.files}]
