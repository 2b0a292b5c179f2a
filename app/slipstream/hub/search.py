"""Finding models on the Hub: GGUF repositories, a page at a time."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeVar
from urllib.parse import urlsplit

import httpx2

from slipstream.cancel import CancelToken
from slipstream.drafters.kinds import DrafterKind
from slipstream.errors import SlipstreamError
from slipstream.hub.address import Address, is_owner, is_repo, is_safe_path, parse
from slipstream.hub.calls import ask, silent
from slipstream.hub.connection import Connection
from slipstream.hub.files import Listing, RepoFile
from slipstream.hub.repository import sort_files

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_T = TypeVar("_T")

PAGE = 20
_MOST_PAGES = 50
"""Nobody reads further, and a Hub that ignores what is asked for would be walked to its end."""
Sort = Literal["trending", "downloads", "likes", "newest", "updated"]
_SORTS: Mapping[Sort, str] = {
    "trending": "trendingScore",
    "downloads": "downloads",
    "likes": "likes",
    "newest": "createdAt",
    "updated": "lastModified",
}
_EXPANDED = {
    "expand": ["downloads", "likes", "gated", "gguf", "siblings", "lastModified", "trendingScore"]
}


@dataclass(frozen=True)
class FoundModel:
    """A repository with GGUF files, as a list of results shows it.

    Attributes:
        repo: ``owner/name``.
        downloads: in the last month.
        likes: of people.
        trending: its score.
        parameters: of the model that the Hub looked into; None if unknown.
        architecture: of the same.
        context: tokens that it was made for.
        gated: its files are for people who accepted its conditions.
        modified: when it last changed.
        drafters: their kinds, as far as names of files tell.
        only_drafters: it has no model that could use them.
    """

    repo: str
    downloads: int
    likes: int
    trending: float
    parameters: int | None
    architecture: str | None
    context: int | None
    gated: bool
    modified: datetime | None
    drafters: tuple[DrafterKind, ...]
    only_drafters: bool


def search(
    text: str,
    connection: Connection,
    cancel: CancelToken,
    *,
    author: str | None = None,
    largest_parameters: int | None = None,
    sort: Sort = "trending",
    waiting: Callable[[float], None] = silent,
) -> Iterator[FoundModel]:
    """Find repositories with GGUF files. A page is asked for when its first result is.

    Args:
        text: words of their names, ``owner/`` for somebody's models, or an address, whose
            repository comes first. With no text everything is found: with a bound on the size and
            sorted by trend, models for this computer.
        connection: the Hub.
        cancel: ends it at once.
        author: whose models.
        largest_parameters: leaves out models that are known to have more.
        sort: what comes first.
        waiting: told the seconds whenever a rate limit makes us wait.

    Raises: Cancelled; SlipstreamError: what ``ask`` tells.
    """
    text = text.strip()
    address = parse(text, connection.endpoint)
    first = _look_up(address, connection, cancel, waiting) if address else None
    if first:
        yield first
    if address:
        # a name that is found has kin by the name alone; one that is not may be a part of some
        text = address.repo.partition("/")[2] if first else address.repo
    elif text.endswith("/") and is_owner(text[:-1]):
        text, author = "", text[:-1]
    shown = {first.repo} if first else set[str]()
    for item in _items(text, author, largest_parameters, sort, connection, cancel, waiting):
        found = _found(item)
        too_large = found and largest_parameters and (found.parameters or 0) > largest_parameters
        if found and not too_large and found.repo not in shown:
            shown.add(found.repo)
            yield found


def _items(
    text: str,
    author: str | None,
    largest_parameters: int | None,
    sort: Sort,
    connection: Connection,
    cancel: CancelToken,
    waiting: Callable[[float], None],
) -> Iterator[object]:
    """The results as the Hub sends them, a page whenever one is needed."""
    query: dict[str, str | int | list[str]] = {
        "filter": "gguf",
        "sort": _SORTS[sort],
        "limit": PAGE,
        **_EXPANDED,
        **({"search": text} if text else {}),
        **({"author": author} if author else {}),
    }
    if largest_parameters:
        # the Hub takes whole billions; the rest is left out by us
        query["num_parameters"] = f"max:{math.ceil(largest_parameters / 1e9)}B"
    models = f"{connection.endpoint}/api/models"
    url = str(httpx2.URL(models, params=query))
    for _ in range(_MOST_PAGES):
        page, following = ask("models", _get(url, connection, _page), connection, cancel, waiting)
        if not page:
            return
        yield from page
        if not following:
            return
        url = f"{models}?{following}"


def _look_up(
    address: Address,
    connection: Connection,
    cancel: CancelToken,
    waiting: Callable[[float], None],
) -> FoundModel | None:
    """The repository of this very name, if there is one and it has GGUF files."""

    url = str(httpx2.URL(f"{connection.endpoint}/api/models/{address.repo}", params=_EXPANDED))
    call = _get(url, connection, _repository)
    try:
        return _found(ask(address.repo, call, connection, cancel, waiting)[0])
    except SlipstreamError as error:
        if error.code != "repo_not_found":
            raise
    return None


def _get(
    url: str, connection: Connection, checked: Callable[[object], _T]
) -> "Callable[[HfApi], tuple[_T, str]]":
    """A call that gets an answer as the Hub sends it, ``checked``, and the query for the next page
    or "".

    The next page is always asked of the same Hub: a mirror may pass on links that lead to another.
    ``HfApi.list_models`` cannot: its limit is the page and the end at once, and one odd field of
    one repository ends its list.
    """

    def call(_: "HfApi") -> tuple[_T, str]:
        from huggingface_hub import get_session

        answer = get_session().get(url, headers=connection.headers())
        return checked(answer.json()), urlsplit(answer.links.get("next", {}).get("url", "")).query

    return call


def _page(content: object) -> list[object]:
    """Raises: TypeError: it is no list of repositories; in one, a few may be odd."""
    if not isinstance(content, list) or (content and not any(map(_is_named, content))):
        raise TypeError("no list of repositories came")
    return content


def _repository(content: object) -> object:
    """Raises: TypeError: it is nothing about a repository."""
    if not _is_named(content):
        raise TypeError("nothing about a repository came")
    return content


def _is_named(item: object) -> bool:
    return isinstance(item, dict) and isinstance(item.get("id"), str)


def _found(item: object) -> FoundModel | None:
    """What the Hub says about one repository; None if it makes no sense or has no GGUF files."""
    if not isinstance(item, dict) or not _is_named(item) or not is_repo(item["id"]):
        return None
    names = _names(item.get("siblings"))
    if not names:
        return None
    gguf = item.get("gguf")
    about = gguf if isinstance(gguf, dict) else {}
    files = tuple(RepoFile(name, 0, None, "") for name in names)
    sorted_files = sort_files(Listing(item["id"], "", files))
    kinds = (one.kind for one in sorted_files.drafters if one.kind)
    architecture = about.get("architecture")
    return FoundModel(
        repo=item["id"],
        downloads=_count(item.get("downloads")) or 0,
        likes=_count(item.get("likes")) or 0,
        trending=_count(item.get("trendingScore")) or 0,
        parameters=_count(about.get("total")),
        architecture=architecture if isinstance(architecture, str) else None,
        context=_count(about.get("context_length")),
        gated=item.get("gated") in ("auto", "manual", True),
        modified=_moment(item.get("lastModified")),
        drafters=tuple(dict.fromkeys(kinds)),
        only_drafters=bool(sorted_files.drafters) and not sorted_files.targets,
    )


def _names(siblings: object) -> list[str]:
    """Paths of the GGUF files."""
    entries = siblings if isinstance(siblings, list) else []
    names = [entry.get("rfilename") for entry in entries if isinstance(entry, dict)]
    texts = [name for name in names if isinstance(name, str)]
    return [name for name in texts if name.lower().endswith(".gguf") and is_safe_path(name)]


def _count(value: object) -> int | None:
    """A number that counts something."""
    return value if type(value) is int and value > 0 else None


def _moment(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
