"""The files of a repository, as the Hub lists them at one commit."""

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from slipstream.cancel import CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub.address import is_repo, is_safe_path
from slipstream.hub.calls import ask, silent
from slipstream.hub.connection import Connection
from slipstream.hub.files import Listing, RepoFile
from slipstream.hub.renamed import remember

if TYPE_CHECKING:
    from huggingface_hub import HfApi, ModelInfo
    from huggingface_hub.hf_api import ExpandModelProperty_T
    from huggingface_hub.hf_api import RepoFile as Entry
    from huggingface_hub.hf_api import RepoFolder as Folder

_FIELDS: "list[ExpandModelProperty_T]" = ["sha", "gguf", "gated", "baseModels", "cardData", "tags"]
_MOST_ENTRIES = 50_000
_LARGEST = 1 << 50
"""Bytes of one file; the Hub takes none that comes near."""
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_KEPT = 64
_lock = threading.Lock()
_known: dict[tuple[str, str, str], Listing] = {}
"""Listings that were read, by endpoint, repository and commit: what is pinned cannot change."""


def read_listing(
    repo: str,
    connection: Connection,
    cancel: CancelToken,
    revision: str | None = None,
    waiting: Callable[[float], None] = silent,
) -> Listing:
    """List a repository; a gated one can be listed, too.

    Args:
        repo: ``owner/name``; if it was renamed, the listing has its new name.
        connection: the Hub.
        cancel: ends it at once.
        revision: a branch, tag or commit; ``main`` if None.
        waiting: told the seconds whenever a rate limit makes us wait.

    Raises: Cancelled; SlipstreamError: what ``ask`` tells.
    """
    if not is_repo(repo):
        raise SlipstreamError(
            "repo_not_found",
            f"{repo} can be no name of a model on the Hub.",
            facts={"what": repo},
            action="Write it as owner/name.",
        )
    key = (connection.endpoint, repo.lower(), revision or "")
    with _lock:
        known = _known.get(key)
    if known:
        return known

    def call(api: "HfApi") -> Listing:
        info = api.model_info(repo, revision=revision, expand=_FIELDS)
        _sure(is_repo(info.id), "the repository's name")
        commit = _matching(_COMMIT, info.sha)
        tree = api.list_repo_tree(info.id, recursive=True, revision=commit)
        return _listing(info, list(islice(tree, _MOST_ENTRIES + 1)))

    listing = replace(ask(repo, call, connection, cancel, waiting), ref=revision or "main")
    _keep(connection.endpoint, repo, listing)
    return listing


def _keep(endpoint: str, repo: str, listing: Listing) -> None:
    pinned = replace(listing, ref=listing.revision)
    with _lock:
        for name in {repo.lower(), listing.repo.lower()}:
            _known[endpoint, name, listing.revision] = pinned
        while len(_known) > _KEPT:
            del _known[next(iter(_known))]
    with suppress(SlipstreamError):  # it is only a help
        remember(repo, listing.repo)


def _listing(info: "ModelInfo", entries: "list[Entry | Folder]") -> Listing:
    """Raises: ValueError: the Hub says something that cannot be."""
    from huggingface_hub.hf_api import RepoFile as Entry

    _sure(len(entries) <= _MOST_ENTRIES, "the number of files")
    files: dict[str, RepoFile] = {}
    skipped = set[str]()
    for entry in entries:
        if not isinstance(entry, Entry):
            continue
        if is_safe_path(entry.path):
            files.setdefault(entry.path, _file(entry))
        else:
            skipped.add(entry.path)
    return Listing(
        repo=info.id,
        revision=_matching(_COMMIT, info.sha),
        files=tuple(files[path] for path in sorted(files)),
        gated=info.gated in ("auto", "manual", True),
        base_models=tuple(dict.fromkeys(filter(is_repo, _base_models(info)))),
        licence=_licence(info),
        parameters=_parameters(info),
        skipped=tuple(sorted(skipped)),
    )


def _file(entry: "Entry") -> RepoFile:
    size = entry.lfs.size if entry.lfs else entry.size
    _sure(type(size) is int and 0 <= size <= _LARGEST, f"the size of {entry.path}")
    if entry.lfs:
        sha256 = _matching(_SHA256, entry.lfs.sha256)
        return RepoFile(entry.path, size, sha256, sha256)
    return RepoFile(entry.path, size, None, _matching(_COMMIT, entry.blob_id))


def _base_models(info: "ModelInfo") -> Iterator[str]:
    """What a repository says it was made from: the Hub's own opinion first, then its card."""
    told: object = info.base_models
    found = told.get("models") if isinstance(told, dict) else told
    card = info.card_data.get("base_model") if info.card_data else None
    for one in (*_several(found), *_several(card)):
        name = one.get("id") if isinstance(one, dict) else one
        if isinstance(name, str):
            yield name


def _several(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else [value]


def _licence(info: "ModelInfo") -> str | None:
    """As the card names it; a licence of its own has a name beside."""
    card = info.card_data
    named = [card.get("license_name"), card.get("license")] if card else []
    tags = [tag.removeprefix("license:") for tag in _texts(info.tags) if tag.startswith("license:")]
    return next(iter((*_texts(named), *tags)), None)


def _texts(values: object) -> list[str]:
    return [value for value in _several(values) if isinstance(value, str) and value]


def _parameters(info: "ModelInfo") -> int | None:
    total = info.gguf.get("total") if isinstance(info.gguf, dict) else None
    return total if type(total) is int and total > 0 else None


def _matching(pattern: re.Pattern[str], text: object) -> str:
    """Raises: ValueError: it is not what it should be, and could name any file."""
    if not isinstance(text, str) or not pattern.fullmatch(text):
        raise ValueError(f"{pattern.pattern} does not match {text!r:.80}")
    return text


def _sure(good: bool, what: str) -> None:
    """Raises: ValueError: something cannot be so."""
    if not good:
        raise ValueError(f"{what} cannot be so")
