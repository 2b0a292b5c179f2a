"""``slipstream tune`` in a terminal and for programs."""

import shutil
from collections.abc import Callable
from pathlib import Path

from command_line import Ended
from gguf_files import DEMO_SMALL


def test_tune_prints_one_document_and_knows_the_answer_the_next_time(
    slipstream: Callable[..., Ended], tmp_path: Path
) -> None:
    model = shutil.copy(DEMO_SMALL, tmp_path)  # without the drafters beside it
    arguments = ("tune", str(model), "--tokens", "16", "--passes", "1")
    first = slipstream(*arguments, "--json")
    assert first.code == 0, first.err
    told = first.document
    assert set(told) >= {"model", "tried", "best", "seconds", "reason", "engine"}
    assert set(told["best"]) == {
        *("kind", "draft_tokens", "p_min", "tokens_per_second", "speedup", "interval")
    }
    assert [one["mode"] for one in told["tried"][:3]] == ["plain", "mtp=4", "ngram=12"]
    assert told["remembered"] is False
    known = slipstream(*arguments, "--json").document
    assert known == told | {"remembered": True}
    person = slipstream(*arguments)
    assert person.code == 0
    assert "N-gram, 12" in person.out
    assert told["reason"] in person.err
    assert "nothing has changed; --again measures anew." in person.err


def test_tune_says_which_model_is_not_there(verb: Callable[..., Ended]) -> None:
    ended = verb("tune", "nowhere.gguf", "--json")
    assert ended.code == 1
    assert ended.error["code"]
