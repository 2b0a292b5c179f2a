"""From a search to a chat and back: what the verbs do with a Hub that is real but for its place."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from command_line import COMMAND, Ended
from gguf_files import DEMO_DFLASH, DEMO_MTP, write_demo_without_head, write_dflash_without_sense
from hub_server import TOKEN, HubFile, HubServer, Repo
from hub_server.layouts import demo_hub, large
from slipstream.engine.process import free_port

LLAMA_SERVER = os.environ.get("SLIPSTREAM_TEST_LLAMA_SERVER", "")
Verb = Callable[..., Ended]
QUANTS = "slipstream-demo/Slipstream-Demo-3M-GGUF"
ROOT_MTP = "root-mtp/Slipstream-Demo-3M-GGUF"
SISTERS = "sisters/Slipstream-Demo-3M-GGUF"
SISTER = "sisters/Slipstream-Demo-3M-MTP-GGUF"
SIZE = 64 << 20
LARGE = "slipstream-demo/Slipstream-Demo-Large-GGUF"


@pytest.fixture(scope="module")
def served() -> Iterator[HubServer]:
    with HubServer(*demo_hub().values()) as hub:
        yield hub


@pytest.fixture
def hub(
    served: HubServer, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[HubServer]:
    """The demo's repositories; what a test changes is undone."""
    environment["HF_ENDPOINT"] = served.endpoint
    environment["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
    monkeypatch.setenv("HF_ENDPOINT", served.endpoint)
    served.forget()
    before = dict(served.repos)
    yield served
    served.repos.clear()
    served.repos.update(before)


def test_from_a_search_to_a_chat_and_back(
    hub: HubServer, verb: Verb, environment: dict[str, str]
) -> None:
    found = verb("search", "slipstream", "demo", "--json").document["models"]
    assert QUANTS in {one["repo"] for one in found}
    assert {"repo", "downloads", "parameters", "drafters", "gated"} <= set(found[0])

    planned = verb("plan", ROOT_MTP, "--json").document
    assert planned["revision"] == hub.repos[ROOT_MTP].commit
    (quant,) = planned["quants"]
    assert (quant["quant"], quant["drafter"]["kind"]) == ("Q8_0", "mtp")
    assert quant["download"] > 3_000_000

    pulled = verb("pull", f"{ROOT_MTP}:Q8_0", "--json").document
    assert [Path(file["path"]).name for file in pulled["files"]] == [
        "Slipstream-Demo-3M-Q8_0.gguf",
        "mtp-Slipstream-Demo-3M-Q8_0.gguf",
    ]
    assert all(file["verified"] for file in pulled["files"])
    assert pulled["drafter"]["drafts"]
    assert pulled["drafter"]["accepted"] > 20

    (model,) = verb("models", "--json").document["models"]
    assert model["ref"] == f"{ROOT_MTP}:Q8_0"
    assert (model["quant"], model["source"]) == ("Q8_0", "huggingface")
    assert model["bytes"] == pulled["files"][0]["bytes"]
    assert model["drafter"]["kind"] == "mtp"

    said = verb("chat", f"{ROOT_MTP}:Q8_0", "-p", "hello", "--json").document
    assert said["text"].startswith("Hello")
    assert said["spec"]["kind"] == "mtp"
    assert said["spec"]["accepted"] > 5

    removed = verb("remove", f"{ROOT_MTP}:Q8_0", "--json").document
    assert removed["freed"] == sum(file["bytes"] for file in pulled["files"])
    assert removed["kept"] == []
    assert verb("models", "--json").document["models"] == []
    left = [path for path in Path(environment["HF_HOME"]).rglob("*.gguf") if path.exists()]
    assert left == []


def test_without_a_quantization_the_recommended_one_is_taken(hub: HubServer, verb: Verb) -> None:
    plans = verb("plan", QUANTS, "--json").document["quants"]
    (best,) = [one["quant"] for one in plans if one["recommended"]]
    assert verb("pull", QUANTS, "--json").document["model"] == f"{QUANTS}:{best}"
    again = verb("plan", QUANTS, "--json").document["quants"]
    assert {one["quant"]: one["download"] > 0 for one in again} == {
        one["quant"]: one["quant"] != best for one in plans
    }
    told = verb("pull", QUANTS)
    assert (told.code, told.out) == (0, "")
    assert f"{QUANTS}:{best} was here already." in told.err


def test_looking_into_a_repository_reads_two_headers(hub: HubServer, verb: Verb) -> None:
    verb("plan", QUANTS, "--json")
    assert len(hub.asked("tree")) == 1
    assert len(hub.asked("resolve")) <= 2


def test_a_drafter_of_a_sister_comes_along_and_is_found_again(hub: HubServer, verb: Verb) -> None:
    pulled = verb("pull", SISTERS, "--json").document
    assert [file["repo"] for file in pulled["files"]] == [SISTERS, SISTER]
    assert pulled["drafter"]["repo"] == SISTER
    (model,) = verb("models", "--json").document["models"]
    assert model["drafter"]["path"] == pulled["files"][1]["path"]
    said = verb("chat", f"{SISTERS}:Q8_0", "-p", "hello", "--json").document
    assert said["spec"]["kind"] == "mtp"
    removed = verb("remove", SISTERS, "--json").document
    assert set(removed["removed"]) >= {file["path"] for file in pulled["files"]}


def test_without_its_drafter(hub: HubServer, verb: Verb) -> None:
    pulled = verb("pull", SISTERS, "--no-drafter", "--json").document
    assert [file["repo"] for file in pulled["files"]] == [SISTERS]
    assert pulled["drafter"] is None


def test_another_drafter_is_the_user_s_choice(hub: HubServer, verb: Verb, tmp_path: Path) -> None:
    drafters = "drafters/Slipstream-Demo-3M-DFlash-GGUF"
    pulled = verb("pull", SISTERS, "--drafter", drafters, "--json").document
    assert pulled["drafter"]["kind"] == "dflash"
    assert verb("chat", SISTERS, "-p", "hello", "--json").document["spec"]["kind"] == "dflash"
    (model,) = verb("models", "--json").document["models"]
    assert model["drafter"]["kind"] == "dflash"
    verb("remove", SISTERS, "--json")
    pulled = verb("pull", ROOT_MTP, "--drafter", str(DEMO_DFLASH), "--json").document
    assert pulled["drafter"]["file"] == str(DEMO_DFLASH)
    assert len(pulled["files"]) == 1


def test_a_lower_quantization_drafts_for_a_higher_one(hub: HubServer, verb: Verb) -> None:
    planned = verb("plan", f"{QUANTS}:F16", "--spec", "self", "--json").document["quants"]
    assert planned[0]["drafter"]["kind"] == "self"
    assert planned[0]["drafter"]["file"] == "Slipstream-Demo-3M-Q4_0.gguf"
    pulled = verb("pull", f"{QUANTS}:F16", "--drafter", f"{QUANTS}:Q4_0", "--json").document
    assert (pulled["drafter"]["kind"], pulled["drafter"]["drafts"]) == ("self", True)


def test_a_drafter_that_does_not_fit_is_refused(hub: HubServer, verb: Verb) -> None:
    refused = verb("pull", SISTERS, "--drafter", f"hf://{SISTERS}/none.gguf", "--json")
    assert (refused.code, refused.error["code"]) == (1, "no_drafter")
    assert verb("pull", SISTERS, "--drafter", SISTER, "--no-drafter").code == 2
    deep = "slipstream-demo/Slipstream-Demo-Deep-3M-GGUF"
    for drafter in (str(DEMO_MTP), f"{SISTER}/Slipstream-Demo-3M-MTP-Q8_0.gguf"):
        refused = verb("pull", deep, "--drafter", drafter, "--json")
        assert (refused.code, refused.error["code"]) == (1, "drafter_unfit")
        assert "layers" in refused.error["message"]
    assert verb("models", "--json").document["models"] == []


def test_a_drafter_that_only_may_fit_is_offered_and_not_taken(
    hub: HubServer, verb: Verb, tmp_path: Path
) -> None:
    target = write_demo_without_head(tmp_path / "Some-Fine-Tune-Q8_0.gguf")
    files = [HubFile(path.name, path) for path in (target, DEMO_DFLASH)]
    hub.repos["tuned/Some-Fine-Tune-GGUF"] = Repo("tuned/Some-Fine-Tune-GGUF", files)
    (quant,) = verb("plan", "tuned/Some-Fine-Tune-GGUF", "--json").document["quants"]
    assert quant["drafter"] is None
    (offered,) = quant["drafters"]
    assert (offered["kind"], offered["fits"], offered["proven"]) == ("dflash", True, False)
    assert "another model" in offered["reason"]
    assert (
        f"May draft if you ask for it: {DEMO_DFLASH.name}."
        in verb("plan", "tuned/Some-Fine-Tune-GGUF").out
    )


def test_a_drafter_that_is_never_right_is_named_and_not_used(
    hub: HubServer, verb: Verb, tmp_path: Path
) -> None:
    name = "Slipstream-Demo-3M"
    target = write_demo_without_head(tmp_path / f"{name}-Q8_0.gguf")
    drafter = write_dflash_without_sense(tmp_path / f"dflash-{name}-Q8_0.gguf")
    files = [HubFile(path.name, path) for path in (target, drafter)]
    hub.repos["bad/Drafter-GGUF"] = Repo("bad/Drafter-GGUF", files)
    pulled = verb("pull", "bad/Drafter-GGUF", "--json").document
    said = pulled["drafter"]
    assert (said["kind"], said["drafts"], said["accepted"]) == ("dflash", False, 0)
    assert "next to nothing" in said["problem"]
    said = verb("chat", "bad/Drafter-GGUF", "-p", "hello", "--json").document
    assert said["spec"]["kind"] == "off"


def test_into_a_folder_of_the_user_s(hub: HubServer, verb: Verb, tmp_path: Path) -> None:
    pulled = verb("pull", ROOT_MTP, "--folder", "mine", "--json").document
    file = tmp_path / "mine" / "Slipstream-Demo-3M-Q8_0.gguf"
    assert Path(pulled["path"]) == file
    assert pulled["model"] == str(file)
    assert verb("chat", "mine", "-p", "hello", "--json").document["spec"]["kind"] == "mtp"
    (model,) = verb("models", "--json").document["models"]
    assert (model["path"], model["source"]) == (str(file), "folder")
    assert verb("remove", "mine", "--json").document["freed"] == 3_228_928 + 1_460_224
    assert not file.exists()


@pytest.fixture
def interrupted(hub: HubServer, verb: Verb, environment: dict[str, str], tmp_path: Path) -> Ended:
    """A pull of a large model that Ctrl+C ended in the middle."""
    hub.repos[LARGE] = large(SIZE)
    arguments = [COMMAND, "pull", LARGE, "--no-drafter", "--limit", "30MB", "--json"]
    process = subprocess.Popen(
        arguments, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert hub.wait_for(lambda: _sent(hub) > SIZE // 3, 20)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    return Ended(process.returncode, out.decode(), err.decode())


def test_an_interrupted_pull_goes_on(hub: HubServer, verb: Verb, interrupted: Ended) -> None:
    assert (interrupted.code, interrupted.error["code"]) == (130, "cancelled")
    assert "the same command goes on from there" in interrupted.err
    (begun,) = verb("models", "--json").document["downloads"]
    assert (begun["repo"], begun["total"], begun["running"]) == (LARGE, SIZE, False)
    assert SIZE / 5 < begun["done"] < SIZE / 2
    assert f"{LARGE} is not finished: " in verb("models").err
    assert verb("pull", LARGE, "--no-drafter", "--json").document["files"][0]["bytes"] == SIZE
    assert SIZE <= _sent(hub) < SIZE + (8 << 20)
    document = verb("models", "--json").document
    assert (document["unfinished"], document["downloads"]) == ([], [])


def test_a_second_pull_of_the_same_waits_for_the_first(
    hub: HubServer, environment: dict[str, str], tmp_path: Path
) -> None:
    hub.repos[LARGE] = large(SIZE)
    words = [COMMAND, "pull", LARGE, "--no-drafter", "--limit", "30MB", "--json"]

    def begin() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            words, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    first = begin()
    assert hub.wait_for(lambda: _sent(hub) > SIZE // 8, 20)
    both = (first, begin())
    said = [process.communicate(timeout=60)[1].decode() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum("waiting for it" in text for text in said) == 1
    assert _sent(hub) < SIZE + (8 << 20)


def test_an_interrupted_pull_can_be_given_up(
    verb: Verb, interrupted: Ended, environment: dict[str, str]
) -> None:
    assert verb("remove", LARGE, "--json").document["freed"] > SIZE / 5
    document = verb("models", "--json").document
    assert (document["unfinished"], document["downloads"]) == ([], [])
    assert not list(Path(environment["HF_HOME"]).rglob("*.part"))


def test_nothing_is_removed_where_nobody_can_be_asked(hub: HubServer, verb: Verb) -> None:
    verb("pull", f"{ROOT_MTP}:Q8_0", "--json")
    assert verb("remove", ROOT_MTP).code == 2
    assert len(verb("models", "--json").document["models"]) == 1
    assert verb("remove", ROOT_MTP, "--yes").code == 0
    assert verb("models", "--json").document["models"] == []


@pytest.mark.parametrize(
    ("model", "code"),
    [
        ("nobody/nothing", "repo_not_found"),
        (f"{QUANTS}:Q2_K", "no_quantization"),
        ("slipstream-demo/Slipstream-Demo-3M", "no_gguf"),
        ("drafters/Slipstream-Demo-3M-DFlash-GGUF", "only_drafters"),
        ("gated/Slipstream-Demo-3M-GGUF", "gated"),
        ("private/Slipstream-Demo-3M-GGUF", "repo_not_found"),
        ("demo", "not_on_the_hub"),
        ("../etc/passwd", "not_on_the_hub"),
    ],
)
def test_what_cannot_be_had_is_told(hub: HubServer, verb: Verb, model: str, code: str) -> None:
    refused = verb("pull", model, "--json")
    assert (refused.code, refused.error["code"]) == (1, code)
    assert refused.error["message"].endswith(".")
    assert refused.error["action"]


def test_a_token_opens_what_its_owner_may_read(
    hub: HubServer, verb: Verb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert verb("pull", "gated/Slipstream-Demo-3M-GGUF", "--json").code == 0
    assert not any("authorization" in one.headers for one in hub.asked(listener="cdn"))
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    assert verb("pull", "private/Slipstream-Demo-3M-GGUF", "--json").error["code"] == "bad_token"


def test_offline_there_is_what_was_downloaded(
    hub: HubServer, verb: Verb, monkeypatch: pytest.MonkeyPatch
) -> None:
    verb("pull", f"{ROOT_MTP}:Q8_0", "--json")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    hub.forget()
    planned = verb("plan", ROOT_MTP, "--json").document
    assert [one["quant"] for one in planned["quants"]] == ["Q8_0"]
    assert [one["code"] for one in planned["problems"]] == ["offline_mode"]
    assert verb("chat", ROOT_MTP, "-p", "hello", "--json").code == 0
    assert verb("pull", ROOT_MTP, "--json").error["code"] == "offline_mode"
    assert verb("search", "demo", "--json").error["code"] == "offline_mode"
    assert hub.requests == []


def test_a_renamed_model_answers_to_its_old_name(hub: HubServer, verb: Verb) -> None:
    old = "slipstream-demo/Old-Name-GGUF"
    pulled = verb("pull", old, "--json").document
    assert pulled["model"] == "slipstream-demo/Slipstream-Demo-Deep-3M-GGUF:Q8_0"
    assert verb("chat", old, "-p", "hello", "--json").document["text"].startswith("Hello")


def test_a_rate_limit_is_waited_for_and_told(hub: HubServer, verb: Verb) -> None:
    hub.faults.retry_after = 1
    hub.faults.api += [429]
    planned = verb("plan", ROOT_MTP)
    assert planned.code == 0
    assert "The Hub asks us to wait" in planned.err
    hub.faults.resolve += [429]
    planned = verb("plan", "slipstream-demo/Slipstream-Demo-Deep-3M-GGUF")
    assert planned.code == 0
    assert "The Hub asks us to wait" in planned.err


def test_what_was_pulled_belongs_to_huggingface_hub_too(
    hub: HubServer, verb: Verb, environment: dict[str, str]
) -> None:
    from huggingface_hub import scan_cache_dir, try_to_load_from_cache

    pulled = verb("pull", f"{QUANTS}:Q8_0", "--json").document
    cache = Path(environment["HF_HOME"]) / "hub"
    scanned = scan_cache_dir(cache)
    assert scanned.warnings == []
    (repo,) = scanned.repos
    assert repo.repo_id == QUANTS
    assert repo.size_on_disk == sum(file["bytes"] for file in pulled["files"])
    name = Path(pulled["path"]).name
    assert try_to_load_from_cache(QUANTS, name, cache_dir=cache) == pulled["path"]


@pytest.mark.native
@pytest.mark.skipif(not LLAMA_SERVER, reason="SLIPSTREAM_TEST_LLAMA_SERVER is not set")
def test_what_was_pulled_belongs_to_llama_cpp_too(
    hub: HubServer, verb: Verb, environment: dict[str, str]
) -> None:
    verb("pull", f"{ROOT_MTP}:Q8_0", "--json")
    kept = {name: environment[name] for name in ("PATH", "HF_HOME")}
    port = str(free_port())
    words = [LLAMA_SERVER, "-hf", f"{ROOT_MTP}:Q8_0", "--offline", "--port", port]
    with subprocess.Popen(words, env=kept, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as it:
        try:
            assert it.stderr
            assert any(b"model loaded" in line for line in it.stderr)
        finally:
            it.kill()


def test_a_model_that_is_shared_out_in_shards(hub: HubServer, verb: Verb) -> None:
    repo = "sharded/Slipstream-Demo-3M-GGUF"
    pulled = verb("pull", repo, "--json").document
    assert len(pulled["files"]) > 2
    assert verb("chat", repo, "-p", "hello", "--json").document["text"].startswith("Hello")


def _sent(hub: HubServer) -> int:
    """Bytes that downloads were sent; headers are read from the start without an end."""
    asked = hub.asked(listener="cdn")
    return sum(one.sent for one in asked if one.headers.get("range") != "bytes=0-")
