"""How the test Hub describes a model, and which models a search finds."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from hub_server.access import knows
from hub_server.answers import Call, refusal
from hub_server.repos import HubFile, Repo


@dataclass(frozen=True)
class View:
    """A repository at one commit."""

    repo: Repo
    commit: str
    files: tuple[HubFile, ...]
    blobs: bool = False


FIELDS: dict[str, Callable[[View], object]] = {
    "author": lambda view: view.repo.author,
    "baseModels": lambda view: _base_models(view.repo),
    "cardData": lambda view: view.repo.card_data(),
    "createdAt": lambda view: _time(view.repo.created),
    "disabled": lambda view: view.repo.disabled,
    "downloads": lambda view: view.repo.downloads,
    "gated": lambda view: view.repo.gated,
    "gguf": lambda view: _gguf(view.repo),
    "lastModified": lambda view: _time(view.repo.modified),
    "library_name": lambda view: "gguf" if "gguf" in view.repo.all_tags() else None,
    "likes": lambda view: view.repo.likes,
    "pipeline_tag": lambda view: view.repo.pipeline,
    "private": lambda view: view.repo.private,
    "sha": lambda view: view.commit,
    "siblings": lambda view: [_sibling(file, view.blobs) for file in view.files],
    "tags": lambda view: list(view.repo.all_tags()),
    "trendingScore": lambda view: view.repo.trending,
    "usedStorage": lambda view: sum(file.size for file in view.files),
}
_EMPTY = frozenset({
    "childrenModelCount", "config", "downloadsAllTime", "evalResults", "inference",
    "inferenceProviderMapping", "mask_token", "model-index", "resourceGroup", "safetensors",
    "spaces", "transformersInfo", "widgetData",
})  # fmt: skip
"""Fields that the Hub knows and no repository here has."""
_ONE = tuple(name for name in FIELDS if name not in ("baseModels", "trendingScore"))
_LISTED = (
    "createdAt", "downloads", "library_name", "likes", "pipeline_tag", "private", "tags",
    "trendingScore",
)  # fmt: skip
_FULL = (*_LISTED, "author", "disabled", "gated", "lastModified", "sha", "siblings")
_SORTED_BY = {
    "createdAt": "created",
    "downloads": "downloads",
    "lastModified": "modified",
    "likes": "likes",
    "trendingScore": "trending",
}


def describe(view: View, call: Call, *, listed: bool = False) -> dict[str, object]:
    """A model as the call wants it: ``expand`` replaces the fields that are usual.

    Raises: Refused: a field that there is not.
    """
    usual = (_FULL if call.flag("full") else _LISTED) if listed else _ONE
    wanted = call.query.get("expand") or usual
    for name in wanted:
        if name not in FIELDS and name not in _EMPTY:
            raise refusal(400, f'"expand" must be one of {sorted(FIELDS)}, not {name}')
    name = view.repo.id
    marked = hashlib.sha256(name.encode()).hexdigest()[:24]
    found = {field: FIELDS[field](view) for field in wanted if field in FIELDS}
    return {
        "_id": marked,
        "id": name,
        **({} if "expand" in call.query else {"modelId": name}),
        **{field: value for field, value in found.items() if value is not None},
    }


def search(repos: Iterable[Repo], call: Call, user: str | None) -> list[Repo]:
    """The repositories that a call to ``/api/models`` finds, in the order it wants."""
    tests = list(_conditions(call))
    found = [
        repo
        for repo in repos
        if knows(repo, user) and not repo.renamed_to and all(test(repo) for test in tests)
    ]
    order = call.one("sort") or "trendingScore"
    if order not in _SORTED_BY:
        raise refusal(400, f'"sort" must be one of {sorted(_SORTED_BY)}, not {order}')
    found.sort(key=attrgetter("id"))
    found.sort(key=attrgetter(_SORTED_BY[order]), reverse=call.one("direction") != "1")
    return found


def _conditions(call: Call) -> Iterable[Callable[[Repo], bool]]:
    words = call.one("search").lower().split()
    yield lambda repo: all(word in repo.id.lower() for word in words)
    tags = {tag for value in call.query.get("filter", []) for tag in value.split(",")}
    yield lambda repo: tags <= {*repo.all_tags(), repo.pipeline}
    if author := call.one("author"):
        yield lambda repo: repo.author.lower() == author.lower()
    if pipeline := call.one("pipeline_tag"):
        yield lambda repo: repo.pipeline == pipeline
    if gated := call.one("gated"):
        yield lambda repo: bool(repo.gated) == (gated.lower() == "true")
    if sizes := call.one("num_parameters"):
        least, most = _sizes(sizes)
        yield lambda repo: repo.gguf is not None and least <= repo.gguf.total <= most
    if call.query.get("apps"):
        yield lambda repo: "gguf" in repo.all_tags()


def _sizes(text: str) -> tuple[float, float]:
    """The bounds in ``min:6B,max:30B``."""
    bounds = {"min": 0.0, "max": float("inf")}
    for part in text.split(","):
        name, _, size = part.partition(":")
        scale = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}.get(size[-1:].upper())
        try:
            bounds[name] = float(size[:-1]) * scale if scale else float(size)
        except ValueError:
            raise refusal(400, f"Invalid num_parameters: {text}") from None
    return bounds["min"], bounds["max"]


def _base_models(repo: Repo) -> dict[str, object] | None:
    if not repo.base_models:
        return None
    models = [
        {"_id": hashlib.sha256(name.encode()).hexdigest()[:24], "id": name}
        for name in repo.base_models
    ]
    return {"relation": repo.relation, "models": models}


def _gguf(repo: Repo) -> dict[str, object] | None:
    if repo.gguf is None:
        return None
    facts = repo.gguf
    return {
        "total": facts.total,
        "architecture": facts.architecture,
        "context_length": facts.context_length,
    }


def _sibling(file: HubFile, blobs: bool) -> dict[str, object]:
    if not blobs:
        return {"rfilename": file.path}
    found: dict[str, object] = {"rfilename": file.path, "size": file.size, "blobId": file.oid}
    if file.is_large:
        pointer = len(file.pointer)
        found["lfs"] = {"sha256": file.sha256, "size": file.size, "pointerSize": pointer}
    return found


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")
