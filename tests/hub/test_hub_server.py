"""The test Hub is worth testing against: huggingface_hub itself is content with it."""

import hashlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from huggingface_hub import HfApi, close_session, hf_hub_download, scan_cache_dir, snapshot_download
from huggingface_hub.errors import (
    DisabledRepoError,
    GatedRepoError,
    HfHubHTTPError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import RepoFile, RepoFolder

from gguf_files import DEMO_SMALL
from hub_server import TOKEN, USER, GgufFacts, HubFile, HubServer, Made, Repo
from hub_server.contents import pieces
from hub_server.layouts import embedded, gated, many_shards, odd_paths, private, sharded
from slipstream.weights.shards import read_model

BIG = Made(3_000_001, seed=5)
BIG_BYTES = b"".join(bytes(piece) for piece in pieces(BIG, 0, BIG.size))


def model(name: str = "owner/model-GGUF") -> Repo:
    files = [
        HubFile("model-Q8_0.gguf", BIG),
        HubFile("config.json", b"{}\n"),
        HubFile("BF16/model-BF16-00001-of-00002.gguf", b"first"),
        HubFile("BF16/model-BF16-00002-of-00002.gguf", b"second"),
    ]
    return Repo(
        name, files, base_models=("owner/model",), licence="mit", gguf=GgufFacts(7_000_000_000),
        downloads=12, likes=3, trending=5, card="# A model",
    )  # fmt: skip


@pytest.fixture
def hub() -> Iterator[HubServer]:
    with HubServer(model()) as server:
        yield server
        close_session()


@pytest.fixture
def repo(hub: HubServer) -> Repo:
    return hub.repos["owner/model-GGUF"]


@pytest.fixture
def api(hub: HubServer) -> HfApi:
    return HfApi(endpoint=hub.endpoint, token=False)


@pytest.fixture
def client(hub: HubServer) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=hub.endpoint, trust_env=False, timeout=5) as one:
        yield one


def link(client: httpx2.Client, path: str = "model-Q8_0.gguf") -> str:
    answer = client.get(f"/owner/model-GGUF/resolve/main/{path}")
    assert answer.status_code == 302
    return answer.headers["Location"]


def test_a_search_finds_filters_sorts_and_pages(hub: HubServer, api: HfApi) -> None:
    hub.models_page = 2
    for number in range(5):
        hub.repos[f"many/Small-{number}"] = Repo(
            f"many/Small-{number}",
            [HubFile("a.gguf", b"a")],
            gguf=GgufFacts(10**9 * number),
            likes=number,
            gated="auto" if number == 4 else False,
        )

    def ids(**wanted: object) -> list[str]:
        return [found.id for found in api.list_models(**wanted)]  # type: ignore[arg-type]

    small = [f"many/Small-{number}" for number in range(5)]
    assert ids(search="small", sort="likes") == small[::-1]
    assert len(hub.asked("/api/models?")) == 3  # of two models each
    assert ids(search="SMALL", sort="likes", limit=3) == small[:1:-1]
    assert ids(author="owner", filter="gguf") == ["owner/model-GGUF"]
    assert ids(filter=["gguf", "base_model:quantized:owner/model"]) == ["owner/model-GGUF"]
    assert ids(filter="base_model:finetune:owner/model") == []
    assert set(ids(num_parameters="min:2B,max:3B")) == set(small[2:4])
    assert ids(gated=True) == small[4:]
    assert ids(sort="trending_score")[0] == "owner/model-GGUF"
    (found,) = api.list_models(author="owner", expand=["gguf", "sha", "gated"])
    assert found.gguf is not None
    assert found.gguf["total"] == 7_000_000_000
    assert (found.gated, found.likes) == (False, None)


def test_a_model_tells_what_is_asked(api: HfApi, repo: Repo, client: httpx2.Client) -> None:
    found = api.model_info(repo.id, expand=["sha", "gguf", "baseModels", "siblings", "downloads"])
    assert found.sha == repo.commit
    assert found.gguf == {
        "total": 7_000_000_000, "architecture": "qwen3", "context_length": 32_768,
    }  # fmt: skip
    bases = vars(found)["base_models"]  # typed as what it was once
    assert bases["relation"] == "quantized"
    assert [base["id"] for base in bases["models"]] == ["owner/model"]
    assert (found.downloads, found.tags) == (12, None)

    found = api.model_info(repo.id, files_metadata=True)
    assert found.card_data is not None
    assert found.card_data.license == "mit"
    sizes = {file.rfilename: (file.size, file.lfs) for file in found.siblings or ()}
    size, lfs = sizes["model-Q8_0.gguf"]
    assert lfs is not None
    assert (size, lfs.sha256) == (BIG.size, hashlib.sha256(BIG_BYTES).hexdigest())
    assert sizes["config.json"] == (3, None)
    assert api.list_repo_refs(repo.id).branches[0].target_commit == repo.commit
    assert client.get(f"/api/models/{repo.id}?expand[]=safetensors").status_code == 200
    assert client.get(f"/api/models/{repo.id}?expand[]=nothing").status_code == 400


def test_a_tree_lists_files_and_folders(api: HfApi, repo: Repo) -> None:
    top = list(api.list_repo_tree(repo.id))
    assert [entry.path for entry in top] == ["BF16", "README.md", "config.json", "model-Q8_0.gguf"]
    assert isinstance(top[0], RepoFolder)
    below = api.list_repo_tree(repo.id, "BF16")
    assert [entry.path for entry in below] == [
        "BF16/model-BF16-00001-of-00002.gguf", "BF16/model-BF16-00002-of-00002.gguf",
    ]  # fmt: skip
    # what `git hash-object` says of "{}\n"
    found = api.get_paths_info(repo.id, ["config.json", "BF16", "missing"], expand=True)
    assert [entry.path for entry in found] == ["config.json", "BF16"]
    assert isinstance(found[0], RepoFile)
    assert found[0].blob_id == "0967ef424bce6791893e9a57bb952f80fd536e93"
    assert found[0].last_commit is not None


def test_a_large_tree_comes_in_pages(hub: HubServer, api: HfApi) -> None:
    many = many_shards()
    hub.repos[many.id] = many
    entries = list(api.list_repo_tree(many.id, recursive=True, revision=many.commit))
    assert [entry.path for entry in entries] == [file.path for file in many.files]
    assert len(hub.asked("/tree/")) == 2
    hub.forget()
    hub.tree_page = 100
    assert len(list(api.list_repo_tree(many.id, recursive=True))) == 1148
    assert len(hub.asked("/tree/")) == 12


def test_odd_paths_are_listed_and_served(hub: HubServer, api: HfApi, client: httpx2.Client) -> None:
    odd = odd_paths()
    hub.repos[odd.id] = odd
    listed = {entry.path for entry in api.list_repo_tree(odd.id, recursive=True)}
    assert {file.path for file in odd.files} <= listed
    assert "../outside-Q8_0.gguf" in listed
    address = f"/{odd.id}/resolve/main/percent%252e%252e%252f-Q8_0.gguf"
    assert client.get(client.get(address).headers["Location"]).status_code == 200


def test_what_is_downloaded_is_what_the_hub_holds(
    hub: HubServer, repo: Repo, tmp_path: Path
) -> None:
    folder = snapshot_download(repo.id, endpoint=hub.endpoint, cache_dir=tmp_path, token=False)
    assert Path(folder).name == repo.commit
    assert Path(folder, "model-Q8_0.gguf").read_bytes() == BIG_BYTES
    assert Path(folder, "BF16/model-BF16-00002-of-00002.gguf").read_bytes() == b"second"
    assert "# A model" in Path(folder, "README.md").read_text()
    (cached,) = scan_cache_dir(tmp_path).repos
    assert cached.repo_id == repo.id
    blobs = {path.name for path in (tmp_path / "models--owner--model-GGUF" / "blobs").iterdir()}
    assert blobs == {file.etag for file in repo.tree(None) or ()}


def test_the_token_is_seen_by_the_hub_alone(hub: HubServer, repo: Repo, tmp_path: Path) -> None:
    hf_hub_download(
        repo.id, "model-Q8_0.gguf", endpoint=hub.endpoint, cache_dir=tmp_path, token=TOKEN
    )
    assert all(one.headers["authorization"] == f"Bearer {TOKEN}" for one in hub.asked("/resolve/"))
    (fetched,) = hub.asked(listener="cdn")
    assert "authorization" not in fetched.headers
    assert fetched.sent == BIG.size
    assert hub.cdn.split(":")[1] != hub.endpoint.split(":")[1]  # another host, not only a port
    httpx2.get(f"{hub.cdn}/", headers={"Authorization": "Bearer secret"}, trust_env=False)
    assert hub.asked(listener="cdn")[1].headers["authorization"] == "Bearer secret"


def test_a_renamed_model_is_found_by_its_old_name(
    hub: HubServer, api: HfApi, repo: Repo, client: httpx2.Client, tmp_path: Path
) -> None:
    hub.repos["owner/old"] = Repo("owner/old", renamed_to=repo.id)
    assert api.model_info("owner/old").id == repo.id
    assert api.model_info("OWNER/model-gguf").id == repo.id
    for path in ("config.json", "model-Q8_0.gguf"):
        hf_hub_download("owner/old", path, endpoint=hub.endpoint, cache_dir=tmp_path, token=False)
    answer = client.get("/owner/old/resolve/main/config.json?download=true")
    assert answer.status_code == 307
    assert answer.headers["Location"] == f"/{repo.id}/resolve/main/config.json?download=true"


def test_errors_are_those_that_huggingface_hub_knows(
    hub: HubServer, api: HfApi, repo: Repo, tmp_path: Path
) -> None:
    hub.repos["some/disabled"] = Repo("some/disabled", disabled=True)

    def fetch(name: str, path: str = "config.json", revision: str = "main") -> None:
        hf_hub_download(
            name, path, revision=revision, endpoint=hub.endpoint, cache_dir=tmp_path, token=False
        )

    with pytest.raises(RepositoryNotFoundError) as missing:
        api.model_info("owner/missing")
    assert missing.value.response.status_code == 401
    with pytest.raises(RepositoryNotFoundError) as missing:
        api.model_info("owner/missing", token=TOKEN)
    assert missing.value.response.status_code == 404
    with pytest.raises(RevisionNotFoundError):
        api.model_info(repo.id, revision="0" * 40)
    with pytest.raises(RevisionNotFoundError):
        list(api.list_repo_tree(repo.id, revision="v9"))
    with pytest.raises(RemoteEntryNotFoundError):
        fetch(repo.id, "missing.gguf")
    with pytest.raises(DisabledRepoError):
        api.model_info("some/disabled")
    with pytest.raises(HfHubHTTPError, match="Invalid user token"):
        api.whoami(token="hf_wrong")
    with pytest.raises(HfHubHTTPError, match="Invalid credentials") as wrong:
        api.model_info(repo.id, token="hf_wrong")
    assert not isinstance(wrong.value, RepositoryNotFoundError)
    assert api.whoami(token=TOKEN)["name"] == USER


def test_a_gated_model_is_seen_by_all_and_read_by_those_who_accepted(
    hub: HubServer, api: HfApi, repo: Repo, tmp_path: Path
) -> None:
    repo.gated = "manual"
    assert api.model_info(repo.id).gated == "manual"
    assert list(api.list_repo_tree(repo.id))
    for token, status in ((False, 401), (TOKEN, 403)):
        with pytest.raises(GatedRepoError) as error:
            api.auth_check(repo.id, token=token)
        assert error.value.response.status_code == status
        with pytest.raises(GatedRepoError):
            hf_hub_download(
                repo.id, "config.json", endpoint=hub.endpoint, cache_dir=tmp_path, token=token
            )
    repo.allowed.add(USER)
    api.auth_check(repo.id, token=TOKEN)
    path = hf_hub_download(
        repo.id, "config.json", endpoint=hub.endpoint, cache_dir=tmp_path, token=TOKEN
    )
    assert Path(path).read_text() == "{}\n"


def test_a_private_model_is_hidden(api: HfApi, repo: Repo) -> None:
    repo.private, repo.allowed = True, {USER}
    with pytest.raises(RepositoryNotFoundError):
        api.model_info(repo.id)
    assert list(api.list_models()) == []
    assert api.model_info(repo.id, token=TOKEN).private
    assert [found.id for found in api.list_models(token=TOKEN)] == [repo.id]


def test_an_older_commit_stays_readable(
    hub: HubServer, api: HfApi, repo: Repo, tmp_path: Path
) -> None:
    before = repo.commit
    after = repo.push(HubFile("config.json", b'{"new": true}\n'))
    assert before != after == api.model_info(repo.id).sha
    for revision, text in ((before, "{}\n"), ("main", '{"new": true}\n')):
        path = hf_hub_download(
            repo.id, "config.json", revision=revision, endpoint=hub.endpoint, cache_dir=tmp_path,
            token=False,
        )  # fmt: skip
        assert Path(path).read_text() == text


@pytest.mark.parametrize(
    ("asked", "status", "first", "end"),
    [
        ("bytes=0-0", 206, 0, 1),
        ("bytes=1048570-1048590", 206, 1_048_570, 1_048_591),
        ("bytes=2999990-", 206, 2_999_990, 3_000_001),
        ("bytes=-5", 206, 2_999_996, 3_000_001),
        ("bytes=2999990-9999999", 206, 2_999_990, 3_000_001),
        ("bytes=3000001-", 416, 0, 0),
        ("lines=1-2", 200, 0, 3_000_001),
    ],
)
def test_the_cdn_gives_ranges(
    client: httpx2.Client, asked: str, status: int, first: int, end: int
) -> None:
    answer = client.get(link(client), headers={"Range": asked})
    assert answer.status_code == status
    assert answer.content == BIG_BYTES[first:end]
    if status == 206:
        assert answer.headers["Content-Range"] == f"bytes {first}-{end - 1}/{BIG.size}"
    if status == 416:
        assert answer.headers["Content-Range"] == f"bytes */{BIG.size}"


def test_a_range_of_another_file_is_not_given(client: httpx2.Client) -> None:
    address = link(client)
    etag = client.head(address).headers["ETag"]
    assert etag == f'"{hashlib.sha256(BIG_BYTES).hexdigest()}"'
    same = client.get(address, headers={"Range": "bytes=5-9", "If-Range": etag})
    assert (same.status_code, same.content) == (206, BIG_BYTES[5:10])
    other = client.get(address, headers={"Range": "bytes=5-9", "If-Range": '"other"'})
    assert (other.status_code, len(other.content)) == (200, BIG.size)


def test_a_file_on_disk_is_sent_by_the_same_rules(hub: HubServer, client: httpx2.Client) -> None:
    hub.repos["owner/model-GGUF"].files = [HubFile("model-Q8_0.gguf", DEMO_SMALL)]
    whole = bytearray(DEMO_SMALL.read_bytes())
    answer = client.get(link(client), headers={"Range": "bytes=1000000-3000000"})
    assert answer.content == whole[1_000_000:3_000_001]
    hub.sending.corrupt_at = 2_000_000
    whole[2_000_000] ^= 0xFF
    assert client.get(link(client)).content == whole


def test_links_are_for_one_file_and_a_while(hub: HubServer, client: httpx2.Client) -> None:
    hub.faults.link_answers = 1
    address = link(client)
    for wrong in (address.replace("Expires=", "Expires=9"), address[:-20], f"{hub.cdn}/any"):
        answer = client.get(wrong)
        assert (answer.status_code, answer.text[:5]) == (403, "<?xml")
    assert client.head(address).status_code == 200
    assert client.get(address).status_code == 200
    assert client.get(address).status_code == 403  # it was good for one answer
    hub.faults.link_answers, hub.faults.link_bytes = 9, 4_000_000
    address = link(client)
    assert [client.get(address).status_code for _ in range(3)] == [200, 200, 403]
    hub.faults.link_bytes, hub.faults.link_seconds = 1 << 40, 0
    assert "expired" in client.get(link(client)).text
    hub.faults.link_seconds = 3600
    address = link(client)
    hub.expire_links()
    assert client.get(address).status_code == 403
    assert client.get(link(client)).status_code == 200


def test_the_hub_can_refuse_for_a_while(hub: HubServer, client: httpx2.Client) -> None:
    hub.faults.api += [429, 503]
    hub.faults.resolve.append(500)
    hub.faults.retry_after = 7
    busy = client.get("/api/models")
    assert busy.status_code == 429
    assert busy.headers["RateLimit"] == '"api";r=0;t=7'
    assert busy.headers["RateLimit-Policy"] == '"fixed window";"api";q=500;w=300'
    assert busy.headers["Retry-After"] == "7"
    assert [client.get("/api/models").status_code for _ in range(2)] == [503, 200]
    path = "/owner/model-GGUF/resolve/main/config.json"
    assert [client.head(path).status_code for _ in range(2)] == [500, 307]
    hub.faults.cdn.append(503)
    assert [client.get(link(client)).status_code for _ in range(2)] == [503, 200]


def test_huggingface_hub_waits_for_the_rate_limit(hub: HubServer, api: HfApi) -> None:
    hub.faults.api.append(429)
    hub.faults.retry_after = 0
    assert len(list(api.list_models())) == 1
    assert [one.status for one in hub.requests] == [429, 200]


def test_bodies_are_cut_for_a_while(hub: HubServer, client: httpx2.Client) -> None:
    hub.sending.cut_after, hub.sending.cuts = 1_500_000, 2
    for _ in range(2):
        got = 0
        with (
            pytest.raises(httpx2.RemoteProtocolError),
            client.stream("GET", link(client)) as answer,
        ):
            for piece in answer.iter_raw():
                got += len(piece)
        assert got == 1_500_000
    assert client.get(link(client)).content == BIG_BYTES


def test_a_file_of_its_own_can_stall(hub: HubServer, repo: Repo, client: httpx2.Client) -> None:
    repo.files[0].sending.stall_after = 1000
    with client.stream("GET", link(client), timeout=0.2) as answer:
        coming = answer.iter_raw()
        assert next(coming) == BIG_BYTES[:1000]
        with pytest.raises(httpx2.ReadTimeout):
            next(coming)
    assert hub.wait_for(lambda: hub.asked(listener="cdn")[0].sent == 1000)
    (stalled,) = hub.asked(listener="cdn")
    assert (stalled.sent, stalled.ended) == (1000, False)
    other = link(client, "BF16/model-BF16-00001-of-00002.gguf")
    assert client.get(other).content == b"first"


def test_stopping_ends_what_stalls() -> None:
    with httpx2.Client(trust_env=False, timeout=5) as client:
        with HubServer(model()) as hub:
            hub.sending.stall_after = 10
            address = client.get(f"{hub.endpoint}/owner/model-GGUF/resolve/main/model-Q8_0.gguf")
            answer = client.send(
                client.build_request("GET", address.headers["Location"]), stream=True
            )
            began = time.monotonic()
        assert time.monotonic() - began < 2
        with pytest.raises(httpx2.RemoteProtocolError):
            answer.read()


def test_the_rate_can_be_changed_while_it_sends(hub: HubServer, client: httpx2.Client) -> None:
    hub.sending.rate = 500_000
    address, began = link(client), time.monotonic()
    with client.stream("GET", address) as answer:
        coming = answer.iter_raw()
        got = sum(len(next(coming)) for _ in range(10))
        assert got <= 500_000 * (time.monotonic() - began) + 20_000
        hub.sending.rate = 0
        assert got + sum(map(len, coming)) == BIG.size


def test_a_byte_is_damaged_in_one_answer_or_in_all(hub: HubServer, client: httpx2.Client) -> None:
    hub.sending.corrupt_at, hub.sending.corrupt_only = 2_000_000, 2
    damaged = bytearray(BIG_BYTES)
    damaged[2_000_000] ^= 0xFF
    address = link(client)
    client.get(address, headers={"Range": "bytes=0-99"})  # does not have that byte
    contents = [client.get(address).content for _ in range(3)]
    assert contents == [BIG_BYTES, bytes(damaged), BIG_BYTES]
    hub.sending.corrupt_only = 0
    part = client.get(address, headers={"Range": "bytes=2000000-2000000"})
    assert part.content == damaged[2_000_000:2_000_001]


def test_what_is_sent_may_differ_from_the_listing(
    api: HfApi, repo: Repo, client: httpx2.Client
) -> None:
    file = repo.files[0]
    file.sends = BIG_BYTES[:-1]
    told = client.head(f"/{repo.id}/resolve/main/{file.path}").headers["X-Linked-Size"]
    assert int(told) == BIG.size == len(client.get(link(client)).content) + 1
    file.link_tells = True
    told = client.head(f"/{repo.id}/resolve/main/{file.path}").headers["X-Linked-Size"]
    assert int(told) == BIG.size - 1
    file.sends, file.link_tells, file.listed_sha256 = None, False, "0" * 64
    (listed,) = api.get_paths_info(repo.id, file.path)
    assert isinstance(listed, RepoFile)
    assert listed.lfs is not None
    assert listed.lfs.sha256 == "0" * 64
    file.sending.html = True
    page = client.get(link(client))
    assert page.headers["Content-Type"].startswith("text/html")
    assert page.text.startswith("<!DOCTYPE html>")


def test_a_cdn_may_know_no_ranges(hub: HubServer, client: httpx2.Client) -> None:
    hub.sending.ranges = False
    answer = client.get(link(client), headers={"Range": "bytes=5-9"})
    assert (answer.status_code, len(answer.content)) == (200, BIG.size)
    assert "Accept-Ranges" not in answer.headers


def test_answers_may_be_late(hub: HubServer, client: httpx2.Client) -> None:
    hub.faults.latency = 0.1
    began = time.monotonic()
    client.get("/api/models")
    assert time.monotonic() - began >= 0.1


def test_shards_are_a_model(tmp_path: Path) -> None:
    files = [file for file in sharded().files if file.path.startswith("Q8_0/")]
    for file in files:
        assert isinstance(file.content, bytes)
        (tmp_path / Path(file.path).name).write_bytes(file.content)
    whole, split = read_model(DEMO_SMALL), read_model(tmp_path / Path(files[0].path).name)
    assert len(files) == 6
    assert {(one.name, one.bytes) for one in split.tensors} == {
        (one.name, one.bytes) for one in whole.tensors
    }


def test_it_starts_by_hand_and_ends_at_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "own" / "Model-GGUF").mkdir(parents=True)
    (tmp_path / "own" / "Model-GGUF" / "a-Q8_0.gguf").write_bytes(b"mine")
    command = [sys.executable, "-m", "hub_server", "--folder", str(tmp_path)]
    with subprocess.Popen(
        command, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            endpoint = process.stdout.readline().removeprefix("export HF_ENDPOINT=").strip()
            api = HfApi(endpoint=endpoint, token=False)
            listed = {found.id for found in api.list_models()}
            api.list_repo_files("own/Model-GGUF")
        finally:
            process.send_signal(signal.SIGINT)
            close_session()
        said = process.stderr.read()
        assert TOKEN in process.stdout.read()
    assert process.returncode == 0
    assert {"own/Model-GGUF", embedded().id, gated().id} <= listed
    assert private().id not in listed
    assert "hub 200 GET /api/models" in said
    assert "Traceback" not in said
