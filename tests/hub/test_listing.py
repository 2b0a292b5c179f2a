"""A repository is listed at one commit, and nothing in the list can do harm."""

import json
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from hub_server import TOKEN, GgufFacts, HubFile, HubServer, Repo
from slipstream.cancel import Cancelled, CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub import listing
from slipstream.hub.connection import Connection
from slipstream.hub.files import Listing
from slipstream.hub.listing import _keep, read_listing

NEVER = CancelToken()
COMMIT = "c" * 40


@pytest.fixture
def hub() -> Iterator[HubServer]:
    repo = Repo(
        "owner/name",
        [HubFile("Q8_0/model-Q8_0.gguf", b"GGUF"), HubFile("config.json", b"{}")],
        base_models=("maker/model",),
        licence="apache-2.0",
        gguf=GgufFacts(27_000_000_000),
    )
    with HubServer(repo) as server:
        yield server


def test_a_listing_says_what_is_there(hub: HubServer, way: Connection) -> None:
    listing = read_listing("owner/name", way, NEVER)
    assert listing.repo == "owner/name"
    assert listing.revision == hub.repos["owner/name"].commit
    assert listing.ref == "main"
    assert [file.path for file in listing.files] == ["Q8_0/model-Q8_0.gguf", "config.json"]
    model, config = listing.files
    assert (model.bytes, model.sha256, model.blob) == (4, model.blob, hub_sha256(hub))
    assert (config.bytes, config.sha256, len(config.blob)) == (2, None, 40)
    assert (listing.gated, listing.base_models, listing.licence) == (
        False,
        ("maker/model",),
        "apache-2.0",
    )
    assert listing.parameters == 27_000_000_000
    assert listing.skipped == ()


def hub_sha256(hub: HubServer) -> str:
    return hub.repos["owner/name"].files[0].sha256


def test_two_requests_are_enough_for_many_files(hub: HubServer, way: Connection) -> None:
    hub.repos["owner/name"].files = [HubFile(f"a-{n:05}.gguf", b"GGUF") for n in range(60)]
    assert len(read_listing("owner/name", way, NEVER).files) == 60
    assert len(hub.requests) == 2


def test_long_lists_come_in_pages(hub: HubServer, way: Connection) -> None:
    shards = [HubFile(f"m-{n:05}-of-01148.gguf", b"GGUF") for n in range(1, 1149)]
    hub.repos["owner/name"].files = shards
    assert len(read_listing("owner/name", way, NEVER).files) == 1148
    assert len(hub.asked("/tree/")) == 2


def test_a_commit_is_asked_for_once(hub: HubServer, way: Connection) -> None:
    first = read_listing("owner/name", way, NEVER)
    asked = len(hub.requests)
    again = read_listing("Owner/Name", way, NEVER, first.revision)
    assert len(hub.requests) == asked
    assert again == replace(first, ref=first.revision)
    hub.repos["owner/name"].push(HubFile("new.gguf", b"GGUF new"))
    now = read_listing("owner/name", way, NEVER)
    assert now.revision != first.revision
    assert "new.gguf" in {file.path for file in now.files}


def test_listings_can_be_kept_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "remember", lambda *_: None)  # it writes to the disk

    def keep(number: int) -> None:
        for commit in range(2000):
            _keep("http://hub", f"a/{number}", Listing(f"b/{number}", str(commit), ()))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(keep, range(8)))
    finally:
        sys.setswitchinterval(interval)


def test_an_older_commit_can_be_read(hub: HubServer, way: Connection) -> None:
    older = hub.repos["owner/name"].commit
    hub.repos["owner/name"].push(HubFile("new.gguf", b"GGUF new"))
    listing = read_listing("owner/name", way, NEVER, older)
    assert (listing.revision, listing.ref) == (older, older)
    assert "new.gguf" not in {file.path for file in listing.files}


def test_a_renamed_repository_has_its_new_name(hub: HubServer, way: Connection) -> None:
    hub.repos["owner/before"] = Repo("owner/before", renamed_to="owner/name")
    assert read_listing("owner/before", way, NEVER).repo == "owner/name"


def test_a_gated_repository_can_be_listed(hub: HubServer, way: Connection) -> None:
    hub.repos["owner/name"].gated = "auto"
    assert read_listing("owner/name", way, NEVER).gated


def test_a_private_repository_is_there_for_its_reader(hub: HubServer, way: Connection) -> None:
    hub.repos["owner/name"].private = True
    hub.repos["owner/name"].allowed = {"reader"}
    assert read_listing("owner/name", replace(way, token=TOKEN), NEVER).files
    with pytest.raises(SlipstreamError) as caught:
        read_listing("owner/name", way, NEVER)
    assert caught.value.code == "repo_not_found"


def test_a_version_that_is_not_there(way: Connection) -> None:
    with pytest.raises(SlipstreamError) as caught:
        read_listing("owner/name", way, NEVER, "v9")
    assert caught.value.code == "revision_not_found"


@pytest.mark.parametrize("repo", ["", "name", "../name", "a/b/c", "datasets/a", "a/b?x=1"])
def test_what_can_be_no_name_is_not_asked_for(hub: HubServer, way: Connection, repo: str) -> None:
    with pytest.raises(SlipstreamError) as caught:
        read_listing(repo, way, NEVER)
    assert caught.value.code == "repo_not_found"
    assert hub.requests == []


def test_an_empty_repository(hub: HubServer, way: Connection) -> None:
    hub.repos["owner/name"].files = []
    assert read_listing("owner/name", way, NEVER).files == ()


def test_it_can_be_cancelled(way: Connection) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        read_listing("owner/name", way, cancel)


def test_names_that_no_file_may_have_are_left_out(hub: HubServer, way: Connection) -> None:
    bad = [
        "../model.gguf",
        "/etc/model.gguf",
        "a/../../model.gguf",
        "a\\model.gguf",
        "C:/model.gguf",
        "model.gguf.",
        "nul.gguf",
        "line\nbreak.gguf",
        "model\u202efugg.gguf",
        f"{'a' * 300}.gguf",
    ]
    good = ["ä ö (1) [x] #2 100% ☃.gguf", "MTP/mtp-model.gguf"]
    hub.repos["owner/name"].files = [HubFile(path, b"GGUF") for path in (*bad, *good)]
    listing = read_listing("owner/name", way, NEVER)
    assert {file.path for file in listing.files} == set(good)
    assert set(listing.skipped) == set(bad)


# --- answers that the test Hub would not give


ABOUT: dict[str, object] = {"id": "owner/name", "sha": COMMIT}
FILE: dict[str, object] = {
    "type": "file",
    "path": "m.gguf",
    "size": 4,
    "oid": "b" * 40,
    "lfs": {"oid": "a" * 64, "size": 4, "pointerSize": 127},
}


def told(way: Connection, about: dict[str, object], *entries: object) -> dict[str, object]:
    """The listing where a Hub says this about a repository and its files, or the error."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(entries if "/tree/" in self.path else about).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        other = replace(way, endpoint=f"http://127.0.0.1:{server.server_port}")
        try:
            return vars(read_listing("owner/name", other, NEVER))
        except SlipstreamError as error:
            return {"error": error.code}
        finally:
            server.shutdown()


@pytest.mark.parametrize(
    "entry",
    [
        {**FILE, "lfs": {"oid": "a" * 64, "size": -1, "pointerSize": 127}},
        {**FILE, "lfs": {"oid": "a" * 64, "size": 1 << 60, "pointerSize": 127}},
        {**FILE, "lfs": {"oid": "a" * 64, "size": "4", "pointerSize": 127}},
        {**FILE, "lfs": {"oid": "a" * 63, "size": 4, "pointerSize": 127}},
        {**FILE, "lfs": {"oid": f"../{'a' * 61}", "size": 4, "pointerSize": 127}},
        {**FILE, "lfs": {"oid": None, "size": 4, "pointerSize": 127}},
        {**FILE, "lfs": 4},
        {**FILE, "lfs": None, "oid": "../../etc"},
        {**FILE, "lfs": None, "size": None},
        {**FILE, "path": None},
        {"type": "file"},
        {},
        "m.gguf",
        None,
    ],
)
def test_files_that_cannot_be_are_refused(way: Connection, entry: object) -> None:
    found = told(way, ABOUT, entry)
    assert found == {"error": "server_error"}


@pytest.mark.parametrize(
    "about",
    [
        {"id": "owner/name"},
        {"id": "owner/name", "sha": "main"},
        {"id": "../name", "sha": COMMIT},
        {"id": None, "sha": COMMIT},
        {"sha": COMMIT},
    ],
)
def test_repositories_that_cannot_be_are_refused(way: Connection, about: dict[str, object]) -> None:
    found = told(way, about, FILE)
    assert found == {"error": "server_error"}


def test_what_is_odd_about_a_repository_does_not_matter(way: Connection) -> None:
    odd = {
        "gated": "perhaps",
        "gguf": [1],
        "baseModels": {"models": [{"id": 3}, "maker/one", None, {"id": "../x"}]},
        "cardData": {"license": ["mit"], "base_model": [None, 4, "maker/two"], "license_name": 7},
        "tags": [None, "license:mit"],
    }
    found = told(way, {**ABOUT, **odd}, FILE, FILE)
    assert [file.path for file in found["files"]] == ["m.gguf"]  # type: ignore[attr-defined]
    assert found["base_models"] == ("maker/one", "maker/two")
    assert found["licence"] == "mit"
    assert (found["gated"], found["parameters"]) == (False, None)


def test_a_licence_of_its_own_has_a_name(way: Connection) -> None:
    card = {"license": "other", "license_name": "gemma", "base_model": "maker/model"}
    found = told(way, {**ABOUT, "cardData": card}, FILE)
    assert (found["licence"], found["base_models"]) == ("gemma", ("maker/model",))
