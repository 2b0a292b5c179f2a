"""What people type or paste to name a model on the Hub.

Grammar of ``hf://``: huggingface_hub's ``utils/_hf_uris.py``; of ``hf:ID:TAG`` and
``hf.co/ID:TAG``: the snippets that the Hub shows for node-llama-cpp and Ollama.
"""

import os
import re
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qs, quote, unquote, urlsplit

from slipstream.paths import printable
from slipstream.weights.names import quantization

HUB = "https://huggingface.co"
"""Where models are, unless HF_ENDPOINT names another place."""
_LONGEST = 2048
_LONGEST_PART = 255
"""Bytes of one name: ext4, APFS and NTFS allow no more."""
_LONGEST_PATH = 1024
_HOSTS = frozenset({"huggingface.co", "www.huggingface.co", "hf.co"})
PORTS = {"http": 80, "https": 443}
_ENDPOINT = re.compile(
    r"https?://(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}))?(?:/[^\s?#@]*)?",
    re.IGNORECASE | re.ASCII,
)
"""Without a name and a password: those would go into every error and log."""
# A name is what huggingface_hub's validate_repo_id lets pass.
_NAME = re.compile(
    r"(?!.*(?:--|\.\.))(?!.*\.git$)[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?"
)
_QUANT = re.compile(r"(?!.*\.\.)[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9_])?")
_REVISION = re.compile(
    r"(?!.*(?:\.\.|//|@\{))(?!.*[./]$)[^\x00-\x20\x7f~^:?*\[\\./][^\x00-\x20\x7f~^:?*\[\\]{0,254}"
)
_SPECIAL = r"refs/(?:pr/[0-9]+|convert/[A-Za-z0-9_.-]+)"
"""Revisions whose slashes stand as they are: pull requests and conversions."""
_ID = re.compile(
    rf"(?P<owner>[^/@:]+)/(?P<name>[^/@:]+)(?:@(?P<revision>{_SPECIAL}|[^/@:]+))?"
    r"(?::(?P<tag>[^/@:]+)|/(?P<path>.+))?",
    re.DOTALL,
)
_BRANCH = re.compile(
    r"(?P<owner>[^/@:]+)/(?P<name>[^/@:]+)@(?P<revision>[^@:]+/[^@:]+)(?::(?P<tag>[^/@:]+))?",
    re.DOTALL,
)
"""What may stand for a branch with slashes in its name, where no path to a file can follow."""
_PLACE = re.compile(
    rf"(?P<action>[^/]+)(?:/(?P<revision>{_SPECIAL}|[^/]+)(?:/(?P<path>.+))?)?", re.DOTALL
)
_FILES = frozenset({"blob", "resolve", "raw", "blame"})
# fmt: off
_NO_OWNERS = frozenset({
    "api", "blog", "buckets", "chat", "collections", "datasets", "docs", "enterprise",
    "join", "kernels", "languages", "learn", "login", "models", "new", "organizations",
    "papers", "posts", "pricing", "search", "settings", "spaces", "tasks",
})
# fmt: on
"""First words of addresses on the Hub that lead to something else than a model."""
_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])", re.IGNORECASE
)
"""Names of devices on Windows (learn.microsoft.com, "Naming Files, Paths, and Namespaces")."""
_FORBIDDEN = re.compile(r'[\\:*?"<>|]')
"""Characters that no file may have on one of the systems, beside those that cannot be shown in a
line; a colon also ends a drive letter."""


@dataclass(frozen=True)
class Address:
    """A model on the Hub.

    Attributes:
        repo: ``owner/name``.
        quant: the quantization, as it was written.
        revision: a branch, tag or commit.
        file: path of a GGUF file; then there is no ``quant``.
    """

    repo: str
    quant: str | None = None
    revision: str | None = None
    file: str | None = None

    def __str__(self) -> str:
        """The shortest text that ``parse`` understands as this."""
        revision = f"@{quote(self.revision, safe='')}" if self.revision else ""
        # what ends like a file would be taken for one on this computer
        scheme = "hf://" if self.file or self.repo.lower().endswith(".gguf") else ""
        rest = f"/{quote(self.file)}" if self.file else f":{self.quant}" if self.quant else ""
        return f"{scheme}{self.repo}{revision}{rest}"


def parse(text: str, endpoint: str = HUB) -> Address | None:
    """The model that a text names; never raises.

    Args:
        text: ``owner/repo[@REVISION][:QUANT]``, the same after ``hf:``, ``hf://`` (also with
            ``models/``, or ``/FILE`` at the end), ``hf.co/`` or ``huggingface.co/``, or the URL of
            a page or a file of the Hub. Only in the first form may the slashes of a branch
            (``feature/x``) stand as they are; in the others, where a path may follow, the branch
            ends at the first one unless they are written ``%2F``, as huggingface_hub reads them.
        endpoint: the Hub that is used; its own URLs are understood, too.

    Returns: None for anything else: other hosts, data sets, spaces, paths to files.
    """
    text = text.strip()
    if not text or len(text) > _LONGEST or not text.isprintable():
        return None
    scheme = re.match(r"(https?|hf)://|hf:", text, re.IGNORECASE)
    if scheme and scheme[0].lower().startswith("hf"):
        return _of_id(text[scheme.end() :])
    try:
        page = _on_a_hub(text, endpoint, bool(scheme))
    except ValueError:  # half an address
        return None
    if page:
        return _of_page(page)
    return None if scheme else _of_bare(text)


def endpoint() -> str | None:
    """The Hub that HF_ENDPOINT names, without a slash at the end; None if it can be none."""
    text = (os.environ.get("HF_ENDPOINT") or HUB).strip().rstrip("/")
    match = _ENDPOINT.fullmatch(text)
    return text if match and int(match["port"] or 0) < 65536 else None


def is_safe_path(path: str) -> bool:
    """Whether a file on any system may have this path below a folder, and never leads out of it."""
    try:
        size = len(path.encode())
    except UnicodeEncodeError:  # half a character
        return False
    return 0 < size <= _LONGEST_PATH and all(_is_safe_part(part) for part in path.split("/"))


def is_repo(text: str) -> bool:
    """Whether this may be the name of a repository: ``owner/name``."""
    owner, _, name = text.partition("/")
    return owner.lower() not in _NO_OWNERS and all(_NAME.fullmatch(part) for part in (owner, name))


def is_owner(text: str) -> bool:
    """Whether this may be the name of somebody who has models."""
    return is_repo(f"{text}/any")


def _is_safe_part(part: str) -> bool:
    return (
        part not in {"", ".", ".."}
        and len(part.encode()) <= _LONGEST_PART
        and not part.endswith((".", " "))
        and not _FORBIDDEN.search(part)
        and printable(part) == part
        and not _RESERVED.fullmatch(part.partition(".")[0].rstrip())
    )


def _of_bare(text: str) -> Address | None:
    """Not what may be the path to a file on this computer."""
    branch = _BRANCH.fullmatch(text)
    if branch:
        return None if text.lower().endswith(".gguf") else _of_parts(branch, None)
    found = _of_id(text) if text.count("/") == 1 else None
    return None if found and found.repo.lower().endswith(".gguf") else found


def _of_id(text: str) -> Address | None:
    match = _ID.fullmatch(text.removeprefix("models/") if text.count("/") > 1 else text)
    return _of_parts(match, match["path"]) if match else None


def _of_parts(match: re.Match[str], rest: str | None) -> Address | None:
    tag, path = unquote(match["tag"] or ""), unquote(rest or "")
    if tag.lower().endswith(".gguf"):
        tag, path = "", tag
    return _checked(
        f"{match['owner']}/{match['name']}", tag, unquote(match["revision"] or ""), path
    )


def _on_a_hub(text: str, endpoint: str, has_scheme: bool) -> SplitResult | None:
    """The URL of a page, its path without that of the endpoint; None if it leads to no Hub.

    Raises: ValueError: it is no URL, or leads elsewhere on the endpoint's server.
    """
    ours = urlsplit(endpoint)
    url = urlsplit(text if has_scheme else f"{ours.scheme}://{text}")
    if _server(url) == _server(ours):
        return url._replace(path=_below(url.path, ours.path))
    return url if url.netloc.lower() in _HOSTS else None


def _of_page(url: SplitResult) -> Address | None:
    owner, _, rest = url.path.strip("/").partition("/")
    name, _, place = rest.partition("/")
    found = _of_id(f"{owner}/{unquote(name)}")
    shown = parse_qs(url.query).get("show_file_info", [""])[0]
    return _of_place(found, place, shown) if found and place else _with_file(found, shown)


def _of_place(found: Address, place: str, shown: str) -> Address | None:
    """The part of a URL after the repository's name: ``tree/main/folder``."""
    match = _PLACE.fullmatch(place)
    if not match or match["action"] not in _FILES | {"tree"}:
        return found  # discussions, settings and the like
    revision, path = unquote(match["revision"] or ""), unquote(match["path"] or "")
    if match["action"] == "tree":
        quant = quantization(path.rpartition("/")[2]) or found.quant or ""
        return _with_file(_checked(found.repo, quant, revision, ""), shown)
    return _checked(found.repo, "", revision, path)


def _with_file(found: Address | None, path: str) -> Address | None:
    if not found or not path:
        return found
    return _checked(found.repo, "", found.revision or "", path)


def _checked(repo: str, quant: str, revision: str, path: str) -> Address | None:
    """An address whose every part may be what it says."""
    if not is_repo(repo) or (quant and not _QUANT.fullmatch(quant)):
        return None
    if revision and not _REVISION.fullmatch(revision):
        return None
    if path and not is_safe_path(path):
        return None
    file = path if path.lower().endswith(".gguf") else None
    return Address(repo, None if file else quant or None, revision or None, file)


def _server(url: SplitResult) -> tuple[str, int | None]:
    """Host and port.

    Raises: ValueError: there is no such port.
    """
    return (url.hostname or "", url.port or PORTS.get(url.scheme.lower()))


def _below(path: str, prefix: str) -> str:
    """The path below a prefix.

    Raises: ValueError: it is not there.
    """
    prefix = prefix.rstrip("/")
    if not f"{path}/".startswith(f"{prefix}/"):
        raise ValueError("not below the endpoint")
    return path[len(prefix) :]
