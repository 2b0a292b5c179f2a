"""Very long words in the transcript: the window goes on, and no text is changed."""

from time import perf_counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QTextCursor

from slipstream.ui.transcript import Transcript
from slipstream.ui.transcript.blocks import Run, Style
from slipstream.ui.transcript.breaks import LONGEST_WORD, with_breaks, without_breaks
from slipstream.ui.transcript.copying import selected_text

WORDS = st.lists(
    st.tuples(st.sampled_from(["x", " ", "\u200b", "a b", "\u2028"]), st.integers(1, 1200)),
    max_size=8,
)
LONG = "0" * 200_000


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(WORDS, st.integers(0, 5000))
def test_places_to_break_change_no_text_and_stay_while_it_grows(
    words: list[tuple[str, int]], length: int
) -> None:
    runs = [Run(text * times, Style(number % 2)) for number, (text, times) in enumerate(words)]
    raw = "".join(run.text for run in runs)
    broken, offsets = with_breaks(runs, range(len(raw)))
    shown = "".join(run.text for run in broken)
    assert without_breaks(shown) == raw
    assert len(offsets) == len(shown)
    for character, offset in zip(shown, offsets, strict=True):
        assert character == ("\u200b" if offset < 0 else raw[offset])
    start, _ = with_breaks((Run(raw[:length]),), range(length))
    assert shown.startswith("".join(run.text for run in start))
    assert max(map(len, shown.replace("\u200b", " ").split()), default=0) <= LONGEST_WORD


@pytest.mark.parametrize(
    "markdown", [LONG, f"```\n{LONG}\n```", f"- {LONG}", f"| a |\n|---|\n| {LONG} |", f"`{LONG}`"]
)
def test_a_reply_of_one_very_long_line_does_not_stop_the_window(
    transcript: Transcript, markdown: str
) -> None:
    began = perf_counter()
    transcript.add_reply(markdown)
    transcript.viewport().repaint()
    assert perf_counter() - began < 10  # it was minutes
    cursor = QTextCursor(transcript.document())
    cursor.select(QTextCursor.SelectionType.Document)
    assert LONG in selected_text(cursor)


def test_a_message_of_one_very_long_line_does_not_stop_the_window_and_is_copied_whole(
    transcript: Transcript,
) -> None:
    began = perf_counter()
    transcript.add_user(LONG)
    transcript.viewport().repaint()
    assert perf_counter() - began < 10
    cursor = QTextCursor(transcript.document())
    cursor.select(QTextCursor.SelectionType.Document)
    assert selected_text(cursor).strip() == LONG
    cursor.setPosition(600)
    cursor.setPosition(1700, QTextCursor.MoveMode.KeepAnchor)
    assert selected_text(cursor) in ("0" * 1097, "0" * 1098)
