"""``slipstream compare`` in a terminal and for programs."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import Ended
from slipstream.compare.history import kept_runs
from slipstream.drafters.gains import Run, gain_of
from slipstream.drafters.kinds import DrafterKind
from slipstream.hub.reference import resolve


def test_compare_prints_one_document_and_remembers_the_gains(
    slipstream: Callable[..., Ended], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    assert [one.document for one in kept_runs()] == [told]
    gain = gain_of(Run(resolve("demo"), None, DrafterKind.MTP, told["engine"]))
    assert gain is not None
    assert (gain.speedup, gain.draft_tokens) == (told["modes"][1]["speedup"], 3)


def test_compare_says_what_is_no_mode(slipstream: Callable[..., Ended]) -> None:
    ended = slipstream("compare", "demo", "--modes", "plain,warp", "--json")
    assert ended.code == 1
    assert json.loads(ended.out)["error"]["code"] == "wrong_mode"
