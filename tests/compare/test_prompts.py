"""Prompts: eight kinds of our own, and files of the user."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipstream.compare.prompts import OWN, own_set, read_set
from slipstream.errors import SlipstreamError


def test_our_own_come_in_eight_kinds_and_none_is_seen_twice_in_four_passes() -> None:
    found = own_set()
    assert len(found.kinds) == 8
    passes = [found.of_pass(number) for number in range(4)]
    assert all(len({prompt.kind for prompt in prompts}) == 8 for prompts in passes)
    texts = [prompt.text for prompts in passes for prompt in prompts]
    assert len(set(texts)) == 32
    assert found.of_pass(4) == passes[0]


def test_the_users_prompts_are_all_answered_in_each_pass(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("First,\nin two lines.\n---\n\n---\nSecond.\n", encoding="utf-8")
    found = read_set(file)
    assert [prompt.text for prompt in found.of_pass(0)] == ["First,\nin two lines.", "Second."]
    assert found.of_pass(0) == found.of_pass(7)
    assert {prompt.kind for prompt in found.of_pass(0)} == {OWN}


@pytest.mark.parametrize("content", [b"", b"---\n \n", b"\xff\xfe\x00", None])
def test_what_is_no_prompt_is_said(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "mine.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SlipstreamError) as raised:
        read_set(file)
    assert raised.value.code == "bad_prompts"


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="-\r"), min_size=1)))
def test_every_text_between_the_lines_is_a_prompt(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    file = tmp_path_factory.mktemp("prompts") / "mine.txt"
    wanted = ["\n".join(text.splitlines()).strip() for text in texts]
    wanted = [text for text in wanted if text]
    file.write_text("\n---\n".join(wanted), encoding="utf-8", newline="")
    if wanted:
        assert [prompt.text for prompt in read_set(file).of_pass(0)] == wanted
