"""``/api/...`` of the test Hub."""

import base64
import json
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import parse_qs, unquote, urlencode

from hub_server.access import check_readable, files_at, find_repo, user_of
from hub_server.answers import Answer, Call, as_json, refusal
from hub_server.models import View, describe, search
from hub_server.repos import HubFile, Repo

if TYPE_CHECKING:
    from hub_server.server import HubServer

T = TypeVar("T")
_MODEL = re.compile(r"/api/models/(?P<id>[^/]+/[^/]+)(?:/(?P<verb>[^/]+)(?:/(?P<rest>.*))?)?")
_EXPANDED_PAGE = 50


def answer_api(hub: "HubServer", call: Call) -> Answer:
    """Answer one call to the API.

    Raises: Refused.
    """
    user = user_of(hub.tokens, call)
    if call.path == "/api/whoami-v2":
        return _whoami(user)
    if call.path == "/api/models":
        return _models(hub, call, user)
    match = _MODEL.fullmatch(call.path)
    verb = _VERBS.get(match["verb"] or "") if match else None
    if match is None or verb is None:
        raise refusal(404, "Sorry, we can't find the page you are looking for.")
    repo = find_repo(hub.repos, call, unquote(match["id"]), user)
    if match["verb"] == "auth-check":
        check_readable(repo, user)
    return verb(hub, call, repo, match["rest"] or "")


def _whoami(user: str | None) -> Answer:
    if user is None:
        raise refusal(401, "Invalid username or password.")
    token = {"displayName": "test", "role": "read"}
    auth = {"type": "access_token", "accessToken": token}
    return as_json({"type": "user", "id": user, "name": user, "orgs": [], "auth": auth})


def _models(hub: "HubServer", call: Call, user: str | None) -> Answer:
    found = search(list(hub.repos.values()), call, user)
    size = min(int(call.one("limit") or hub.models_page), hub.models_page)
    page, headers = _page(hub, call, found, size)
    views = [View(repo, repo.commit, repo.tree(None) or ()) for repo in page]
    return as_json([describe(view, call, listed=True) for view in views], headers=headers)


def _info(hub: "HubServer", call: Call, repo: Repo, rest: str) -> Answer:
    commit, files = files_at(repo, unquote(rest) or "main")
    return as_json(describe(View(repo, commit, files, call.flag("blobs")), call))


def _refs(hub: "HubServer", call: Call, repo: Repo, rest: str) -> Answer:
    main = {"name": "main", "ref": "refs/heads/main", "targetCommit": repo.commit}
    return as_json({"branches": [main], "converts": [], "tags": []})


def _tree(hub: "HubServer", call: Call, repo: Repo, rest: str) -> Answer:
    revision, _, folder = rest.partition("/")
    _, files = files_at(repo, unquote(revision))
    entries = _entries(files, unquote(folder), call.flag("recursive"))
    if folder and not entries:
        raise refusal(404, f"{unquote(folder)} does not exist on {revision}", "EntryNotFound")
    expanded = call.flag("expand")
    size = min(hub.tree_page, _EXPANDED_PAGE) if expanded else hub.tree_page
    page, headers = _page(hub, call, entries, size)
    return as_json([_entry(one, repo, expanded) for one in page], headers=headers)


def _paths_info(hub: "HubServer", call: Call, repo: Repo, rest: str) -> Answer:
    _, files = files_at(repo, unquote(rest))
    if "json" in call.headers.get("content-type", ""):
        wanted = json.loads(call.body)
        paths, expanded = wanted["paths"], bool(wanted.get("expand"))
    else:
        form = parse_qs(call.body.decode())
        paths, expanded = form.get("paths", []), form.get("expand", [""])[0].lower() == "true"
    known = {one if isinstance(one, str) else one.path: one for one in _entries(files, "", True)}
    found = [known[path] for path in paths if path in known]
    return as_json([_entry(one, repo, expanded) for one in found])


def _auth_check(hub: "HubServer", call: Call, repo: Repo, rest: str) -> Answer:
    return Answer()


_VERBS: dict[str, Callable[["HubServer", Call, Repo, str], Answer]] = {
    "": _info,
    "revision": _info,
    "refs": _refs,
    "tree": _tree,
    "paths-info": _paths_info,
    "auth-check": _auth_check,
}


def _page(
    hub: "HubServer", call: Call, entries: Sequence[T], size: int
) -> tuple[Sequence[T], dict[str, str]]:
    """The page that the call's cursor points to, and the header with the next."""
    try:
        start = int(base64.urlsafe_b64decode(call.one("cursor")) or 0)
    except ValueError:
        raise refusal(400, "Invalid cursor") from None
    if start + size >= len(entries):
        return entries[start:], {}
    cursor = base64.urlsafe_b64encode(b"%d" % (start + size)).decode()
    query = urlencode({**call.query, "cursor": [cursor]}, doseq=True)
    link = f'<{hub.endpoint}{call.path}?{query}>; rel="next"'
    return entries[start : start + size], {"Link": link}


def _entries(files: Sequence[HubFile], folder: str, recursive: bool) -> list[HubFile | str]:
    """Files, and folders by their paths, below a folder, sorted by path."""
    below = f"{folder}/" if folder else ""
    found: dict[str, HubFile | str] = {}
    for file in files:
        if not file.path.startswith(below):
            continue
        parts = file.path[len(below) :].split("/")
        for depth in range(1, len(parts)):
            path = below + "/".join(parts[:depth])
            if recursive or depth == 1:
                found[path] = path
        if recursive or len(parts) == 1:
            found[file.path] = file
    return [found[path] for path in sorted(found)]


def _entry(entry: HubFile | str, repo: Repo, expanded: bool) -> dict[str, object]:
    found: dict[str, object]
    if isinstance(entry, str):
        found = {"type": "directory", "oid": repo.commit, "size": 0, "path": entry}
    else:
        found = {"type": "file", "oid": entry.oid, "size": entry.size, "path": entry.path}
        if entry.is_large:
            found["lfs"] = {
                "oid": entry.sha256,
                "size": entry.size,
                "pointerSize": len(entry.pointer),
            }
    if expanded:
        when = repo.modified.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        found["lastCommit"] = {"id": repo.commit, "title": "Upload", "date": when}
    return found
