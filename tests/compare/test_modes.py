"""Modes as they are written on the command line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipstream.cancel import CancelToken
from slipstream.compare.modes import MOST_DRAFT_TOKENS, PLAIN_MODE, Mode, default_modes, parse_modes
from slipstream.drafters.kinds import DrafterKind
from slipstream.errors import SlipstreamError

_MODES = st.builds(
    Mode,
    st.sampled_from(DrafterKind),
    st.none() | st.integers(1, MOST_DRAFT_TOKENS),
) | st.just(PLAIN_MODE)


@given(st.lists(_MODES, min_size=1))
def test_modes_are_read_as_they_are_written(modes: list[Mode]) -> None:
    assert parse_modes(",".join(map(str, modes))) == tuple(modes)


@pytest.mark.parametrize("text", ["", "auto", "off", "plain=2", "mtp=0", "mtp=65", "mtp=", "a,,b"])
def test_what_is_no_mode_is_named(text: str) -> None:
    with pytest.raises(SlipstreamError) as raised:
        parse_modes(text)
    assert raised.value.code == "wrong_mode"


def test_without_a_wish_everything_there_is_is_compared(demo: Path) -> None:
    found = default_modes(demo, CancelToken())
    assert [str(mode) for mode in found] == ["plain", "mtp", "dflash", "draft", "ngram"]
