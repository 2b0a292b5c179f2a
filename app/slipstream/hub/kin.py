"""Repositories that may have a drafter for the model of another one."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeVar

from slipstream.cancel import CancelToken
from slipstream.drafters.identify import KINDS, guess_by_name
from slipstream.drafters.known import known_drafters
from slipstream.drafters.lineage import ModelName, Place, listed_name, name_of
from slipstream.errors import SlipstreamError
from slipstream.hub.calls import ask
from slipstream.hub.candidates import Source
from slipstream.hub.connection import Connection
from slipstream.hub.files import Listing
from slipstream.hub.listing import read_listing
from slipstream.weights.names import model_stem

if TYPE_CHECKING:
    from huggingface_hub import HfApi, ModelInfo

_T = TypeVar("_T")
FOUND = 20
"""Repositories that a search for what was made from a model lists, the most downloaded first."""
LOOKED_INTO = 3
"""Of these, those whose drafters are looked at."""
_NO_ANSWER = frozenset({"offline", "timed_out", "rate_limited", "untrusted"})
_ENDINGS = re.compile(r"(?i)(?:[-_.](?:gguf|mtp|dflash2?|dspark|eagle-?3|assistant|i1|imatrix))+$")


def elsewhere(
    listing: Listing,
    model: ModelName,
    connection: Connection,
    cancel: CancelToken,
    problems: list[SlipstreamError],
    waiting: Callable[[float], None],
) -> Iterator[tuple[Source, Listing]]:
    """Other repositories that may have a drafter, each once, the most likely first.

    The next one is only asked for when it is needed.

    Args:
        listing: of the model's repository.
        model: what it holds.
        connection: the Hub.
        cancel: ends it at once.
        problems: gets what went wrong; once the Hub does not answer, it is asked no more.
        waiting: told the seconds whenever a rate limit makes us wait.

    Raises: Cancelled.
    """
    seen = {listing.repo}

    def searched() -> tuple[str, ...]:
        return made_from_the_same(listing, model, connection, cancel, waiting)

    for source, look in (
        (Source.SISTER, partial(sisters, listing, model)),
        (Source.KNOWN, partial(known, listing, model)),
        (Source.SEARCH, searched),
    ):
        for repo in _tried(look, problems) or ():
            ask_for = partial(read_listing, repo, connection, cancel, waiting=waiting)
            found = _tried(ask_for, problems)
            if found and found.repo not in seen:
                seen.add(found.repo)
                yield source, found


def _tried(call: Callable[[], _T], problems: list[SlipstreamError]) -> _T | None:
    """The answer to a call, if the Hub answers and there is something."""
    if any(problem.code in _NO_ANSWER for problem in problems):
        return None
    try:
        return call()
    except SlipstreamError as error:
        if error.code != "repo_not_found":
            problems.append(error)
        return None


def sisters(listing: Listing, model: ModelName) -> tuple[str, ...]:
    """Names that repositories with drafters for this one's model usually have.

    Args:
        listing: of the repository.
        model: what it holds.
    """
    owner, _, name = listing.repo.partition("/")
    made_from = (base.partition("/")[2] for base in listing.base_models)
    stems = dict.fromkeys((_stem(name), *filter(lambda base: _is(base, model), made_from)))
    names = [
        sister
        for stem in stems
        for sister in (
            f"{owner}/{stem}-MTP-GGUF",
            f"{owner}/{stem}-DFlash-GGUF",
            f"ggml-org/{stem}-GGUF",
            f"{owner}/{stem}-GGUF",
        )
    ]
    return _others(listing, names)


def known(listing: Listing, model: ModelName) -> tuple[str, ...]:
    """Repositories that are known to have a drafter for this model."""
    return _others(listing, (one.repo for one in known_drafters(model)))


def made_from_the_same(
    listing: Listing,
    model: ModelName,
    connection: Connection,
    cancel: CancelToken,
    waiting: Callable[[float], None],
) -> tuple[str, ...]:
    """Search for repositories made from the same model whose file names promise a drafter.

    Raises: Cancelled; SlipstreamError: what ``ask`` tells.
    """
    bases = [base for base in listing.base_models if _is(base, model)]
    if not bases:
        return ()

    def call(api: "HfApi") -> "list[ModelInfo]":
        made_from = ["gguf", f"base_model:{bases[0]}"]
        found = api.list_models(
            filter=made_from, sort="downloads", limit=FOUND, expand=["siblings"]
        )
        return list(islice(found, FOUND))

    found = ask(bases[0], call, connection, cancel, waiting)
    promising = (info.id for info in found if any(_promises(info, model)))
    return _others(listing, promising)[:LOOKED_INTO]


def _promises(info: "ModelInfo", model: ModelName) -> Iterator[bool]:
    place = Place(info.id)
    for sibling in info.siblings or ():
        path: object = sibling.rfilename
        if not isinstance(path, str):
            continue
        if path.lower().endswith(".gguf") and guess_by_name(PurePosixPath(path)).role in KINDS:
            name = listed_name(path, place)
            yield name is not None and name.same_model(model)


def _stem(name: str) -> str:
    return model_stem(_ENDINGS.sub("", name))


def _is(name: str, model: ModelName) -> bool:
    named = name_of(name)
    return named is not None and named.same_model(model)


def _others(listing: Listing, names: Iterable[str]) -> tuple[str, ...]:
    """Each once, and not the repository itself."""
    by_key = {name.lower(): name for name in names}
    by_key.pop(listing.repo.lower(), None)
    return tuple(by_key.values())
