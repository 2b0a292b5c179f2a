"""``slipstream compare`` in a terminal and for programs."""

import json
from collections.abc import Callable
from pathlib import Path

from command_line import Ended


def test_compare_prints_one_document(slipstream: Callable[..., Ended], tmp_path: Path) -> None:
    prompts = tmp_path / "mine.txt"
    prompts.write_text("Tell me a story about a fox.\n---\nWrite a Python function named merge.\n")
    arguments = ("compare", "demo", "--modes", "plain,mtp=3,plain", "--passes", "1")
    ended = slipstream(*arguments, "--tokens", "24", "--prompts", str(prompts), "--json")
    assert ended.code == 0, ended.err
    told = json.loads(ended.out)
    assert [one["mode"] for one in told["modes"]] == ["plain", "mtp=3", "plain"]
    for one in told["modes"]:
        assert one["tokens_per_second"] > 0
        assert one["of"] == 2
        assert set(one) >= {"speedup", "interval", "acceptance", "tokens_per_step", "by_position"}
        assert set(one) >= {"first_token", "extra_memory", "by_kind", "same_text", "draft_tokens"}
    assert set(told) >= {"machine", "engine", "model", "modes", "verdict"}
    assert set(told["verdict"]) == {"use", "draft_tokens", "reason"}


def test_compare_says_what_is_no_mode(slipstream: Callable[..., Ended]) -> None:
    ended = slipstream("compare", "demo", "--modes", "plain,warp", "--json")
    assert ended.code == 1
    assert json.loads(ended.out)["error"]["code"] == "wrong_mode"
