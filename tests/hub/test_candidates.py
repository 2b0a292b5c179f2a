import json
from pathlib import Path
from typing import Any

import pytest

from slipstream.drafters.kinds import MADE_FOR_A_TARGET
from slipstream.drafters.lineage import name_of
from slipstream.hub.candidates import Source, drafters_in
from slipstream.hub.files import Listing, RepoFile
from slipstream.hub.repository import Repository, sort_files

GB = 10**9
LISTINGS: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("repo_listings.json").read_text(encoding="utf-8")
)
WITH_BOTH = [
    one for one in LISTINGS if one["expected"].get("targets") and one["expected"].get("drafters")
]


def sorted_files(*paths: str, drafters: frozenset[str] = frozenset()) -> Repository:
    files = (
        RepoFile(path, (1 if path in drafters else 20) * GB, None, "0") for path in sorted(paths)
    )
    return sort_files(Listing("org/Some-Model-GGUF", "0" * 40, tuple(files)))


def tried(repository: Repository, target: str, model: str) -> list[str]:
    files = next(one for one in repository.targets if one.path == target)
    kinds = MADE_FOR_A_TARGET
    found = drafters_in(repository, Source.SAME, files, name_of(model), kinds)
    return [one.files.path for one in found]


@pytest.mark.parametrize("listing", WITH_BOTH, ids=lambda one: one["repo"])
def test_every_listed_drafter_is_tried_and_no_model(listing: dict[str, Any]) -> None:
    drafters = {path for one in listing["expected"]["drafters"] for path in one["files"]}
    repository = sorted_files(*listing["files"], drafters=frozenset(drafters))
    models = {path for one in listing["expected"]["targets"] for path in one["files"]}
    for target in repository.targets:
        if target.path in models:
            assert set(tried(repository, target.path, target.path)) == drafters


def test_the_order_is_kind_then_full_precision_last_then_the_nearest_folder() -> None:
    names = (
        "MTP/mtp-Foo-27B-Q8_0.gguf",
        "Q4_K_M/mtp-Foo-27B-Q4_0.gguf",
        "dflash-Foo-27B-Q8_0.gguf",
        "dspark/dspark-Foo-27B-Q8_0.gguf",
        "eagle3-Foo-27B-Q8_0.gguf",
        "mtp-Foo-27B-BF16.gguf",
        "mtp-Foo-27B-Q8_0.gguf",
        "mtp-Foo-28B-Q8_0.gguf",
    )
    target = "Q4_K_M/Foo-27B-Q4_K_M.gguf"
    repository = sorted_files(target, *names, drafters=frozenset(names))
    assert tried(repository, target, "Foo-27B") == [
        "Q4_K_M/mtp-Foo-27B-Q4_0.gguf",
        "mtp-Foo-27B-Q8_0.gguf",
        "MTP/mtp-Foo-27B-Q8_0.gguf",
        "mtp-Foo-27B-BF16.gguf",
        "dspark/dspark-Foo-27B-Q8_0.gguf",
        "dflash-Foo-27B-Q8_0.gguf",
        "eagle3-Foo-27B-Q8_0.gguf",
        "mtp-Foo-28B-Q8_0.gguf",
    ]
