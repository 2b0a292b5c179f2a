import json
from pathlib import Path

import pytest

from slipstream.drafters.kinds import DrafterKind
from slipstream.drafters.known import known_drafters, read_table
from slipstream.drafters.lineage import Place, listed_name, name_of
from slipstream.paths import resources

TABLE = read_table(resources() / "known_drafters.json")
LISTINGS = Path(__file__).parents[1] / "hub" / "repo_listings.json"
GOOD = {
    "model": "Poet-9B",
    "kind": "mtp",
    "repo": "org/Poet-9B-GGUF",
}


def test_every_line_is_backed_by_a_listed_file_that_bears_the_model_s_name() -> None:
    listed = [
        (one["repo"], drafter["kind"], listed_name(path, Place(one["repo"])))
        for one in json.loads(LISTINGS.read_text(encoding="utf-8"))
        for drafter in one["expected"].get("drafters", ())
        for path in drafter["files"]
        if not drafter.get("fork_only") and not drafter.get("needs_conversion")
    ]
    for one in TABLE:
        model = name_of(one.model)
        names = [name for repo, kind, name in listed if (repo, kind) == (one.repo, one.kind.value)]
        assert model is not None
        assert any(name and name.same_model(model) for name in names), one


def test_no_line_stands_twice() -> None:
    assert len({(one.model, one.kind, one.repo) for one in TABLE}) == len(TABLE)


def test_a_model_is_found_however_it_is_spelled() -> None:
    model = name_of("Qwen_Qwen3.8-27B-Q4_K_M.gguf")
    assert model is not None
    kinds = [one.kind for one in known_drafters(model)]
    assert kinds == [DrafterKind.MTP, DrafterKind.DFLASH]
    other = name_of("Qwen3.8-27B-antislop")
    assert other is not None
    assert known_drafters(other) == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": "model"},
        {"kind": "draft"},
        {"kind": "nonsense"},
        {"repo": "Poet-9B-GGUF"},
        {"repo": "../Poet"},
        {"repo": None},
    ],
)
def test_a_line_that_cannot_be_so_is_refused(tmp_path: Path, wrong: dict[str, str | None]) -> None:
    table = tmp_path / "table.json"
    table.write_text(json.dumps({"drafters": [GOOD]}), encoding="utf-8")
    assert len(read_table(table)) == 1
    table.write_text(json.dumps({"drafters": [GOOD, {**GOOD, **wrong}]}), encoding="utf-8")
    with pytest.raises(ValueError, match=r".+"):
        read_table(table)
