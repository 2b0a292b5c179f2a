"""Finding models: by words, by owner, by address, and for this computer."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub_server import GgufFacts, HubFile, HubServer, Repo
from range_server import Served, serving
from slipstream.cancel import Cancelled, CancelToken
from slipstream.drafters.kinds import DrafterKind
from slipstream.errors import SlipstreamError
from slipstream.hub.connection import Connection
from slipstream.hub.search import FoundModel, _found, search

NEVER = CancelToken()
BILLION = 1_000_000_000


def repo(name: str, *paths: str, billions: float = 8, trending: int = 0, likes: int = 0) -> Repo:
    stem = PurePosixPath(name).name
    files = [HubFile(path, b"GGUF") for path in paths or (f"{stem}-Q4_K_M.gguf",)]
    facts = GgufFacts(int(billions * BILLION), "qwen35", 262_144)
    return Repo(name, files, gguf=facts, trending=trending, likes=likes, downloads=100 - likes)


@pytest.fixture
def hub() -> Iterator[HubServer]:
    with HubServer(
        repo("unsloth/Qwen3.8-27B-GGUF", "m-Q4_K_M.gguf", "MTP/mtp-m-Q8_0.gguf", billions=27),
        repo("maker/Qwen3.8-4B-GGUF", billions=4, trending=9),
        repo("maker/Llama-8B-GGUF", trending=5, likes=7),
        repo("z-lab/Qwen3.8-27B-DFlash-GGUF", "dflash-Qwen3.8-27B-Q8_0.gguf", billions=3),
        Repo("maker/Qwen3.8-27B", [HubFile("model.safetensors", b"x")], trending=50),
    ) as server:
        yield server


def names(found: Iterator[FoundModel]) -> list[str]:
    return [one.repo for one in found]


def test_words_find_models(way: Connection) -> None:
    found = list(search("qwen3.8 27b", way, NEVER))
    assert {one.repo for one in found} == {
        "unsloth/Qwen3.8-27B-GGUF",
        "z-lab/Qwen3.8-27B-DFlash-GGUF",
    }


def test_a_result_says_what_the_list_needs(hub: HubServer, way: Connection) -> None:
    hub.repos["unsloth/Qwen3.8-27B-GGUF"].gated = "manual"
    (found,) = search("unsloth qwen", way, NEVER)
    assert found == FoundModel(
        repo="unsloth/Qwen3.8-27B-GGUF",
        downloads=100,
        likes=0,
        trending=0,
        parameters=27 * BILLION,
        architecture="qwen35",
        context=262_144,
        gated=True,
        modified=datetime(2026, 6, 1, tzinfo=UTC),
        drafters=(DrafterKind.MTP,),
        only_drafters=False,
    )


def test_a_repository_with_only_drafters_says_so(way: Connection) -> None:
    (found,) = search("z-lab", way, NEVER)
    assert found.drafters == (DrafterKind.DFLASH,)
    assert found.only_drafters


def test_without_words_what_is_trending_comes_first(way: Connection) -> None:
    assert names(search("", way, NEVER))[:2] == ["maker/Qwen3.8-4B-GGUF", "maker/Llama-8B-GGUF"]
    assert names(search("", way, NEVER, sort="likes"))[0] == "maker/Llama-8B-GGUF"
    assert names(search("", way, NEVER, sort="downloads"))[-1] == "maker/Llama-8B-GGUF"


def test_for_this_computer_large_models_are_left_out(hub: HubServer, way: Connection) -> None:
    hub.repos["maker/Large"] = repo("maker/Large", billions=7.9, trending=20)
    found = names(search("", way, NEVER, largest_parameters=int(7.5 * BILLION)))
    assert found == ["maker/Qwen3.8-4B-GGUF", "z-lab/Qwen3.8-27B-DFlash-GGUF"]
    assert "num_parameters=max%3A8B" in hub.requests[-1].path


@pytest.mark.parametrize(("text", "author"), [("maker/", None), (" maker/ ", None), ("", "maker")])
def test_somebodys_models(way: Connection, text: str, author: str | None) -> None:
    found = names(search(text, way, NEVER, author=author))
    assert found == ["maker/Qwen3.8-4B-GGUF", "maker/Llama-8B-GGUF"]


@pytest.mark.parametrize(
    "text", ["unsloth/Qwen3.8-27B-GGUF:Q4_K_M", "hf.co/unsloth/Qwen3.8-27B-GGUF"]
)
def test_an_address_finds_its_repository_first(hub: HubServer, way: Connection, text: str) -> None:
    hub.repos["a/Qwen3.8-27B-GGUF"] = repo("a/Qwen3.8-27B-GGUF", trending=99)
    assert names(search(text, way, NEVER)) == ["unsloth/Qwen3.8-27B-GGUF", "a/Qwen3.8-27B-GGUF"]
    url = f"{hub.endpoint}/unsloth/Qwen3.8-27B-GGUF/tree/main"
    assert next(search(url, way, NEVER)).repo == "unsloth/Qwen3.8-27B-GGUF"


def test_the_beginning_of_an_address_is_searched_for(way: Connection) -> None:
    assert names(search("maker/qwen", way, NEVER)) == ["maker/Qwen3.8-4B-GGUF"]


def test_a_repository_without_ggufs_is_not_found(way: Connection) -> None:
    assert names(search("maker/Qwen3.8-27B", way, NEVER)) == []


def test_a_renamed_repository_is_found_once(hub: HubServer, way: Connection) -> None:
    hub.repos["maker/Old-8B-GGUF"] = Repo("maker/Old-8B-GGUF", renamed_to="maker/Llama-8B-GGUF")
    assert names(search("maker/Old-8B-GGUF", way, NEVER)) == ["maker/Llama-8B-GGUF"]


def test_pages_come_when_they_are_needed(hub: HubServer, way: Connection) -> None:
    for number in range(50):
        name = f"many/model-{number:02}"
        hub.repos[name] = repo(name)
    results = search("many", way, NEVER)
    assert hub.requests == []
    assert len(list(islice(results, 20))) == 20
    assert len(hub.requests) == 1
    assert "limit=20" in hub.requests[0].path
    next(results)
    assert len(hub.requests) == 2
    assert len(names(results)) == 29
    assert len(hub.requests) == 3


def pages(way: Connection, page: list[dict[str, object]], link: str) -> tuple[list[str], list[str]]:
    """What is found where a Hub sends this page whatever it is asked, and who was asked for it."""
    served = Served(json.dumps(page).encode(), headers={"Link": f'<{link}>; rel="next"'})
    with serving(served) as address:
        other = replace(way, endpoint=address.rpartition("/owner")[0])
        found = names(search("model", other, NEVER, largest_parameters=BILLION))
    return found, [asked["host"] for asked in served.asked]


def found_as(number: int, billions: int = 1) -> dict[str, object]:
    files = [{"rfilename": "model-Q8_0.gguf"}]
    return {"id": f"o/m{number}", "siblings": files, "gguf": {"total": billions * BILLION}}


@pytest.fixture
def few_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slipstream.hub.search._MOST_PAGES", 5)


@pytest.mark.usefixtures("few_pages")
@pytest.mark.parametrize(
    "page",
    [[{"id": "../x"}], [found_as(1, billions=9)], [found_as(1)]],
    ids=["junk", "large", "again"],
)
def test_pages_without_anything_new_come_to_an_end(
    way: Connection, page: list[dict[str, object]]
) -> None:
    found, asked = pages(way, page, "/api/models?cursor=more")
    assert len(found) <= 1
    assert len(asked) == 5


@pytest.mark.usefixtures("few_pages")
def test_the_next_page_is_asked_of_the_hub_that_is_used(hub: HubServer, way: Connection) -> None:
    _, asked = pages(way, [found_as(1)], f"{hub.endpoint}/api/models?cursor=more")
    assert len(asked) > 1
    assert hub.requests == []


@pytest.mark.usefixtures("few_pages")
@pytest.mark.parametrize("link", ["http://[", "", "/api/models", "x?" + "a" * 50_000])
def test_a_next_page_may_be_called_anything(way: Connection, link: str) -> None:
    try:
        assert pages(way, [found_as(1)], link)[0] == ["o/m1"]
    except SlipstreamError as error:
        assert error.code == "server_error"  # noqa: PT017 - either will do


def test_an_answer_that_is_too_deep(way: Connection) -> None:
    with serving(Served(b"[" * 200_000)) as address, pytest.raises(SlipstreamError) as caught:
        list(search("x", replace(way, endpoint=address.rpartition("/owner")[0]), NEVER))
    assert caught.value.code == "server_error"


@pytest.mark.parametrize("text", ["x", "a/b"])
@pytest.mark.parametrize(
    "answer", [b'{"error": "later"}', b"null", b'"ok"', b"[1, 2]", b'[{"error": "later"}]']
)
def test_an_answer_of_another_shape_is_a_failure_and_not_nothing(
    way: Connection, answer: bytes, text: str
) -> None:
    with serving(Served(answer)) as address, pytest.raises(SlipstreamError) as caught:
        list(search(text, replace(way, endpoint=address.rpartition("/owner")[0]), NEVER))
    assert caught.value.code == "server_error"


def test_a_rate_limit_is_told_and_waited_for(hub: HubServer, way: Connection) -> None:
    hub.faults.api = [429]
    hub.faults.retry_after = 0
    told: list[float] = []
    assert names(search("llama", way, NEVER, waiting=told.append)) == ["maker/Llama-8B-GGUF"]
    assert told == [1.0]


def test_errors_and_cancelling_come_through(hub: HubServer, way: Connection) -> None:
    with pytest.raises(SlipstreamError) as caught:
        list(search("maker/Llama-8B-GGUF", replace(way, token="hf_wrong"), NEVER))
    assert caught.value.code == "bad_token"
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        list(search("llama", way, cancel))


def test_what_is_odd_in_a_page_is_passed_over(way: Connection) -> None:
    good = {"id": "a/b", "siblings": [{"rfilename": "m-Q8_0.gguf"}]}
    page = [
        None,
        {},
        "a/c",
        {"id": "../x", "siblings": good["siblings"]},
        {"id": "a/c", "siblings": [{}, None, {"rfilename": 4}, {"rfilename": "../m.gguf"}]},
        {**good, "downloads": "many", "likes": -1, "gguf": "yes", "lastModified": "long ago"},
    ]
    with serving(Served(json.dumps(page).encode())) as address:
        other = replace(way, endpoint=address.rpartition("/owner")[0])
        (found,) = search("x", other, NEVER)
    assert (found.repo, found.downloads, found.likes) == ("a/b", 0, 0)
    assert (found.parameters, found.modified, found.gated) == (None, None, False)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
_FIELDS = ["downloads", "likes", "gated", "gguf", "lastModified", "trendingScore"]


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from(_FIELDS), _JSON), st.lists(st.text(max_size=12)))
def test_any_answer_is_read(fields: dict[str, object], paths: list[str]) -> None:
    siblings = [{"rfilename": f"{path}.gguf"} for path in paths]
    found = _found({"id": "a/b", "siblings": siblings, **fields})
    assert found is None or found.repo == "a/b"
