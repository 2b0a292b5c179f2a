import sys
from collections.abc import Callable
from itertools import pairwise
from statistics import median
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QPointF, QRect, Qt, QUrl
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QImage,
    QTextBlock,
    QTextCursor,
    QTextDocument,
    QTextTable,
    QWheelEvent,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from slipstream.engine.events import Piece, Source
from slipstream.ui.theme import DARK, LIGHT, Theme
from slipstream.ui.transcript import Transcript
from slipstream.ui.transcript.blocks import Cell
from slipstream.ui.transcript.entries import Place
from slipstream.ui.transcript.grid import grid_of, table_area
from slipstream.ui.transcript.message import Reply
from slipstream.ui.transcript.page import SIDE
from slipstream.ui.transcript.styles import COLUMN
from slipstream.ui.transcript.writer import Writer
from slipstream.ui.work import Work

ANSWER = """## Title

Some **bold** text with `code` and a [link](https://a.b).

1. one
   - nested

> quoted

| a | b |
|---|--:|
| 1 | 2 |

```python
def f(x):
    return x  # done
```

The end.
"""
NOTE = "63.4 tok/s · 214 tokens · 78 % accepted"


def said(text: str, source: Source = Source.TARGET) -> Piece:
    return Piece(text, source)


def thought(text: str) -> Piece:
    return Piece(text, Source.TARGET, reasoning=True)


def dump(document: QTextDocument) -> list[object]:
    """Everything that makes up the look of a document."""
    found: list[object] = []
    block = document.begin()
    while block.isValid():
        form = block.blockFormat()
        margins = (form.topMargin(), form.leftMargin(), form.rightMargin(), form.textIndent())
        table = QTextCursor(block).currentTable()
        size = (table.rows(), table.columns()) if table else None
        pieces: list[tuple[str, object]] = []
        fragments = block.begin()
        while not fragments.atEnd():
            fragment = fragments.fragment()
            look = fragment.charFormat()
            font = (look.font().toString(), look.foreground().color().name(), look.anchorHref())
            if pieces and pieces[-1][1] == font:
                pieces[-1] = (pieces[-1][0] + fragment.text(), font)
            else:
                pieces.append((fragment.text(), font))
            fragments += 1
        found.append((margins, form.lineHeight(), form.alignment(), size, pieces))
        block = block.next()
    return found


def pixels(transcript: Transcript) -> set[str]:
    """The colours on the screen."""
    image = transcript.viewport().grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    return {
        QColor(image.pixel(x, y)).name()
        for x in range(0, image.width(), 2)
        for y in range(0, image.height(), 2)
    }


@pytest.fixture
def emitted() -> Callable[..., list[object]]:
    """Note what a signal carries each time it is emitted."""

    def listen(signal: Any) -> list[object]:
        got: list[object] = []
        signal.connect(lambda *values: got.append(values))
        return got

    return listen


def click(transcript: Transcript, text: str) -> None:
    """Click the link with this text, the last one if there are several."""
    cursor = transcript.document().find(
        text, transcript.document().characterCount() - 1, QTextDocument.FindFlag.FindBackward
    )
    assert not cursor.isNull()
    cursor.setPosition(cursor.selectionStart() + 1)
    transcript.setTextCursor(cursor)
    transcript.ensureCursorVisible()
    place = transcript.cursorRect(cursor).center()
    assert transcript.anchorAt(place)
    QTest.mouseClick(transcript.viewport(), Qt.MouseButton.LeftButton, pos=place)


def follow(transcript: Transcript, block: QTextBlock) -> None:
    """Follow the last link in a block."""
    cursor = QTextCursor(block)
    cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
    transcript.anchorClicked.emit(QUrl(cursor.charFormat().anchorHref()))


def stream(transcript: Transcript, text: str, size: int = 7) -> None:
    for start in range(0, len(text), size):
        transcript.append([said(text[start : start + size])])


def say(transcript: Transcript, messages: int = 12) -> None:
    for number in range(messages):
        transcript.add_user(f"Question {number}")
        transcript.add_reply(f"Answer {number}\n\n" + ANSWER * 3, note=NOTE)


def test_a_streamed_reply_looks_like_a_stored_one(transcript: Transcript) -> None:
    transcript.add_user("Hello")
    transcript.begin_reply()
    stream(transcript, ANSWER)
    transcript.finish_reply(NOTE)
    streamed = dump(transcript.document())
    transcript.clear()
    transcript.add_user("Hello")
    transcript.add_reply(ANSWER, note=NOTE)
    assert dump(transcript.document()) == streamed


def test_code_that_was_interrupted_before_its_first_line_leaves_no_box(
    transcript: Transcript,
) -> None:
    transcript.begin_reply()
    transcript.append([said("```py")])
    transcript.append([said("thon\n")])
    assert transcript.plain_text().startswith("python")
    transcript.finish_reply("interrupted")
    assert transcript.plain_text().split() == ["interrupted", "Copy"]


def work_of(action: Callable[[], None]) -> int:
    """How many functions are called, a measure of work that is the same each time."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize(
    ("start", "more"),
    [
        ("", "some **bold** words and `code`\n\n"),
        ("", "- some words\n"),
        ("```python\n", "x = 1\n"),
        ("| a | b |\n|---|---|\n", "| some **words** | more |\n"),
    ],
    ids=["paragraphs", "list", "code", "table"],
)
@pytest.mark.parametrize("history", [0, 12])
def test_writing_on_costs_the_same_however_much_there_is(
    transcript: Transcript, start: str, more: str, history: int
) -> None:
    def frame() -> None:
        transcript.append([said(more, Source.DRAFTER)])
        transcript.viewport().repaint()

    def usual(frames: int) -> int:
        return int(median(work_of(frame) for _ in range(frames)))

    transcript.set_tint(True)
    say(transcript, history)
    transcript.begin_reply()
    stream(transcript, start, 100)
    usual(40)
    early = usual(20)
    stream(transcript, more * 150, len(more))
    assert usual(20) < 1.1 * early + 50


def test_a_letter_more_in_a_table_writes_one_cell(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[tuple[int, int]] = []

    def fill(writer: Writer, table: QTextTable, row: int, column: int, cell: Cell) -> Place:
        written.append((row, column))
        return original(writer, table, row, column, cell)

    original = Writer._fill_cell
    transcript.begin_reply()
    stream(transcript, "| a | b |\n|---|---|\n" + "| c | d |\n" * 20 + "| e | f")
    monkeypatch.setattr(Writer, "_fill_cell", fill)
    stream(transcript, "g")
    assert written == [(21, 1)]


def test_a_long_table_keeps_its_columns_in_line(transcript: Transcript) -> None:
    rows = "".join(f"| {number} | some words | {'x' * (number % 30)} |\n" for number in range(60))
    transcript.begin_reply()
    stream(transcript, "| a | b | c |\n|---|---|---|\n" + rows, 17)
    transcript.finish_reply(NOTE)
    tables = [entry for entry in transcript._sheet.messages[0].entries if entry.table]
    assert [len(entry.cells) for entry in tables] == [25] + 7 * [5] + [1]
    grids = [
        grid_of(entry, transcript._sheet.styles, table_area(entry, transcript._sheet.styles))
        for entry in tables
    ]
    assert {tuple(grid.columns) for grid in grids} == {tuple(grids[0].columns)}
    for above, below in pairwise(grids):
        assert above.rows[-1] == below.rows[0]
    heights = {after - before for grid in grids for before, after in pairwise(grid.rows)}
    assert len(heights) == 1


def test_the_tint_of_a_table_follows_its_rows(transcript: Transcript) -> None:
    transcript.resize(800, 600)
    transcript.set_tint(True)
    transcript.begin_reply()
    transcript.append([said("| a | b |\n|---|---|\n| c | ")])
    transcript.append([said("drafted", Source.DRAFTER)])
    assert LIGHT.accent_soft in pixels(transcript)
    (place,) = [
        place
        for cells in transcript._sheet.messages[0].entries[0].cells
        for place in cells
        if place.tint and place.tint.areas
    ]
    assert place.block.text() == "drafted"


PARTS = st.sampled_from(
    [
        "word ",
        "\n",
        "\n\n",
        "- ",
        "1. ",
        "> ",
        "```\n",
        "```python\n",
        "x = 1\n",
        "**",
        "`a`",
        "🦊",
        "---\n",
        "# ",
        "[r][r] ",
        "[r]: https://a.b\n",
        "| a | b |\n|---|---|\n",
        "| c | d |\n",
        "   ",
        "\t",
    ]
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(PARTS, max_size=40).map("".join), st.lists(st.floats(0, 1), max_size=12))
def test_any_text_in_any_chunks_ends_up_as_if_written_at_once(
    qapp: QApplication, text: str, cuts: list[float]
) -> None:
    places = sorted({0, len(text), *(round(cut * len(text)) for cut in cuts)})
    streamed, stored = Transcript(Work()), Transcript(Work())
    streamed.begin_reply()
    for start, end in pairwise(places):
        streamed.append([said(text[start:end])])
        entries = streamed._sheet.messages[0].entries
        shown = [entry.first.text() for entry in entries if entry.table is None]
        assert shown == [entry.block.text for entry in entries if entry.table is None]
    streamed.finish_reply(NOTE)
    stored.add_reply(text, note=NOTE)
    assert dump(streamed.document()) == dump(stored.document())
    assert streamed.current_text() == text


def test_a_long_chat_is_filled_from_its_end(
    transcript: Transcript, until: Callable[..., None]
) -> None:
    say(transcript)
    at_once = dump(transcript.document())
    transcript.clear()
    with transcript.filling():
        say(transcript)
    until(transcript.updatesEnabled)
    assert "Answer 11" in transcript.plain_text()
    assert "Question 0" not in transcript.plain_text()
    bar = transcript.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    until(lambda: transcript.filled)
    assert bar.value() == bar.maximum() > 0
    assert dump(transcript.document()) == at_once


def test_a_long_chat_is_filled_in_slices_that_read_little(
    transcript: Transcript, until: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 0

    def read(reply: Reply, characters: int) -> None:
        nonlocal most
        most = max(most, characters)
        original(reply, characters)

    original = Reply.read
    monkeypatch.setattr(Reply, "read", read)
    with transcript.filling():
        transcript.add_reply(ANSWER * 40)
        say(transcript)
    until(lambda: transcript.filled)
    assert 0 < most <= 300
    monkeypatch.undo()
    shown = dump(transcript.document())
    transcript.clear()
    transcript.add_reply(ANSWER * 40)
    say(transcript)
    assert dump(transcript.document()) == shown


def test_a_short_chat_is_there_at_once(transcript: Transcript) -> None:
    with transcript.filling():
        transcript.add_user("Hello")
        transcript.add_reply("Good **day**.", note=NOTE)
    assert transcript.filled
    assert transcript.plain_text().startswith("Hello\nGood day.")


def test_opening_another_chat_stops_filling(
    transcript: Transcript, until: Callable[..., None], qapp: QApplication
) -> None:
    with transcript.filling():
        say(transcript)
    transcript.clear()
    transcript.add_user("Something else")
    for _ in range(20):
        qapp.processEvents()
    assert transcript.updatesEnabled()
    assert transcript.plain_text() == "Something else"


def test_the_reader_keeps_place_and_selection_while_a_chat_is_filled(
    transcript: Transcript, until: Callable[..., None]
) -> None:
    with transcript.filling():
        say(transcript)
    until(transcript.updatesEnabled)
    bar = transcript.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    below = bar.maximum() - bar.value()
    transcript.setTextCursor(transcript.document().find("Answer 11"))
    assert not transcript.filled
    until(lambda: transcript.filled)
    assert transcript.textCursor().selectedText() == "Answer 11"
    assert bar.maximum() - bar.value() == below


def test_a_chat_goes_on_while_it_is_filled(
    transcript: Transcript, until: Callable[..., None]
) -> None:
    with transcript.filling():
        for number in range(12):
            transcript.add_user(f"Question {number}")
            transcript.add_reply(ANSWER * 3, note=NOTE)
    transcript.add_user("Another question")
    transcript.begin_reply()
    stream(transcript, ANSWER)
    transcript.finish_reply(NOTE)
    until(lambda: transcript.filled)
    filled = dump(transcript.document())
    transcript.apply_theme(DARK)
    transcript.apply_theme(LIGHT)
    assert dump(transcript.document()) == filled


def test_the_speed_line_and_its_actions(
    transcript: Transcript, emitted: Callable[..., list[object]]
) -> None:
    transcript.add_reply("**Hi**", note=NOTE)
    assert transcript.plain_text() == f"Hi\n{NOTE}    \tCopy"
    transcript.set_actions(regenerate=True)
    assert transcript.plain_text().endswith("Copy    Regenerate")
    asked = emitted(transcript.regenerate_requested)
    copied = emitted(transcript.copied)
    click(transcript, "Regenerate")
    click(transcript, "Copy")
    assert asked == [()]
    assert copied == [("**Hi**",)]
    assert QGuiApplication.clipboard().text() == "**Hi**"
    transcript.add_user("Thanks")
    assert "Regenerate" not in transcript.plain_text()


def test_a_link_says_for_a_moment_that_it_copied(
    transcript: Transcript, until: Callable[..., None]
) -> None:
    transcript.add_user("Hi")
    transcript.add_reply("```\nfirst\n```\n\nbetween\n\n```\nsecond\n```", note=NOTE)
    before = dump(transcript.document())
    transcript.setTextCursor(transcript.document().find("between"))
    entries = transcript._sheet.messages[1].entries
    for label in (0, 3):
        follow(transcript, entries[label].first)
        assert transcript.plain_text().count("Copied") == 1
        assert entries[label].first.text() == "\tCopied"
        assert transcript.textCursor().selectedText() == "between"
    until(lambda: "Copied" not in transcript.plain_text())
    assert dump(transcript.document()) == before


def test_the_sign_goes_at_once_when_another_chat_is_opened(
    transcript: Transcript, until: Callable[..., None]
) -> None:
    transcript.add_reply("Yes.", note=NOTE)
    click(transcript, "Copy")
    assert "Copied" in transcript.plain_text()
    transcript.clear()
    transcript.add_reply("No.", note=NOTE)
    assert transcript.plain_text().endswith("\tCopy")


def test_a_copied_code_block_says_so_while_the_reply_goes_on(
    transcript: Transcript, until: Callable[..., None]
) -> None:
    transcript.begin_reply()
    stream(transcript, "```\nfirst\n```\n\nsome")
    click(transcript, "Copy")
    stream(transcript, " more\n\ntext")
    assert transcript.plain_text() == "\tCopied\nfirst\nsome more\ntext"
    until(lambda: "Copied" not in transcript.plain_text())
    stream(transcript, ".")
    assert transcript.plain_text() == "\tCopy\nfirst\nsome more\ntext."


def test_code_can_be_copied_alone(
    transcript: Transcript, emitted: Callable[..., list[object]]
) -> None:
    transcript.add_reply("```\nfirst\n```\n\n```\nsecond\n\n  line\n```\n\nend")
    copied = emitted(transcript.copied)
    cursor = transcript.document().find("second")
    above = cursor.block().previous()
    transcript.setTextCursor(QTextCursor(above))
    place = transcript.cursorRect(
        QTextCursor(transcript.document().find("Copy", above.position() - 1))
    ).center()
    place.setX(place.x() - 4)
    QTest.mouseClick(transcript.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert copied == [("second\n\n  line",)]


def test_thinking_is_folded_until_it_is_opened(transcript: Transcript) -> None:
    transcript.add_reply("Yes.", reasoning="Let me see.\nHm.", seconds_thinking=4.2)
    assert transcript.plain_text().startswith("▸ Thought for 4.2 s\nYes.")
    click(transcript, "Thought for")
    assert transcript.plain_text().startswith("▾ Thought for 4.2 s\nLet me see.\nHm.\nYes.")
    click(transcript, "Thought for")
    assert transcript.plain_text().startswith("▸ Thought for 4.2 s\nYes.")


def test_thinking_opened_while_it_streams_stays_open(transcript: Transcript) -> None:
    transcript.begin_reply()
    transcript.append([thought("One")])
    assert transcript.plain_text() == "▸ Thinking"
    click(transcript, "Thinking")
    transcript.append([thought(" two\nthree")])
    assert transcript.plain_text() == "▾ Thinking\nOne two\nthree"
    transcript.append([said("Done.")])
    assert transcript.plain_text().endswith("One two\nthree\nDone.")
    assert transcript.seconds_thinking() is not None
    assert transcript.current_reasoning() == "One two\nthree"
    assert transcript.current_text() == "Done."


def test_spans_say_which_text_the_drafter_supplied(transcript: Transcript) -> None:
    transcript.begin_reply()
    transcript.append([said("ab"), said("c", Source.DRAFTER), said("", Source.DRAFTER)])
    transcript.append([said("de", Source.DRAFTER), said("f"), thought("x")])
    assert transcript.current_spans() == [(2, False), (3, True), (1, False)]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_tint_changes_no_text_and_no_layout(transcript: Transcript, theme: Theme) -> None:
    transcript.apply_theme(theme)
    transcript.add_reply(ANSWER, spans=[(len(ANSWER), True)])
    before, revision = dump(transcript.document()), transcript.document().revision()
    assert theme.accent_soft not in pixels(transcript)
    transcript.set_tint(True)
    assert theme.accent_soft in pixels(transcript)
    assert dump(transcript.document()) == before
    assert transcript.document().revision() == revision
    transcript.set_tint(False)
    assert theme.accent_soft not in pixels(transcript)


def test_the_view_follows_only_a_reader_at_the_end(transcript: Transcript) -> None:
    transcript.begin_reply()
    bar = transcript.verticalScrollBar()
    stream(transcript, "line\n\n" * 60, 60)
    assert bar.value() == bar.maximum() > 0
    bar.setValue(40)
    stream(transcript, "line\n\n" * 10, 60)
    assert bar.value() == 40
    assert bar.maximum() > 40


def test_a_selection_survives_streaming(transcript: Transcript) -> None:
    transcript.begin_reply()
    stream(transcript, "First paragraph.\n\nSecond para")
    for word in ("First", "Second"):
        transcript.setTextCursor(transcript.document().find(word))
        stream(transcript, "graph **goes** on.\n\n- more\n")
        assert transcript.textCursor().selectedText() == word


def test_copying_takes_the_text_without_labels_and_actions(transcript: Transcript) -> None:
    transcript.add_user("Why?\nTell me")
    transcript.add_reply(
        "So:\n\n```python\nx\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |", note=NOTE, reasoning="hm"
    )
    transcript.setFocus()
    QTest.keyClick(transcript, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(transcript, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "Why?\nTell me\nSo:\nx\na\tb\n1\t2"


def test_links_are_announced_and_never_opened(
    transcript: Transcript, emitted: Callable[..., list[object]]
) -> None:
    transcript.add_reply("Go [there](https://a.b/c?d=e#f) now.")
    chosen = emitted(transcript.link_activated)
    before = transcript.toPlainText()
    click(transcript, "there")
    assert chosen == [("https://a.b/c?d=e#f",)]
    assert transcript.toPlainText() == before


def test_links_and_actions_work_by_keyboard(
    transcript: Transcript, emitted: Callable[..., list[object]]
) -> None:
    transcript.add_reply("Go [there](https://a.b) now.")
    chosen, copied = emitted(transcript.link_activated), emitted(transcript.copied)
    transcript.setFocus()
    for _ in range(2):
        QTest.keyClick(transcript, Qt.Key.Key_Tab)
        QTest.keyClick(transcript, Qt.Key.Key_Return)
    assert chosen == [("https://a.b",)]
    assert copied == [("Go [there](https://a.b) now.",)]


def test_nothing_is_ever_loaded(transcript: Transcript) -> None:
    transcript.add_reply("![a fox](https://a.b/fox.png) ![](file:///etc/passwd)")
    assert "a fox" in transcript.plain_text()
    kind = QTextDocument.ResourceType.ImageResource.value
    here = QUrl.fromLocalFile(__file__)
    assert QTextDocument().resource(kind, here), "what Qt does if left alone"
    assert not transcript.document().resource(kind, here)


def test_a_new_look_keeps_the_text(transcript: Transcript) -> None:
    transcript.add_user("Hi")
    transcript.add_reply(ANSWER, note=NOTE)
    before = transcript.plain_text()
    transcript.apply_theme(DARK)
    transcript.set_text_size(150)
    assert transcript.plain_text() == before
    bar = transcript.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    place = bar.value()
    transcript.apply_theme(LIGHT)
    assert bar.value() == place
    transcript.apply_theme(DARK)
    assert DARK.page in pixels(transcript)


def test_the_column_is_centred_and_no_wider_than_it_reads_well(transcript: Transcript) -> None:
    transcript.add_reply("word " * 200)
    transcript.resize(1400, 600)
    assert transcript.viewport().x() == (1400 - COLUMN) // 2
    assert transcript.document().size().width() == COLUMN
    transcript.resize(400, 600)
    assert transcript.viewport().x() == SIDE
    assert transcript.document().size().width() == 400 - 2 * SIDE


def test_a_wider_window_needs_no_new_layout(transcript: Transcript) -> None:
    transcript.add_reply("word " * 200)
    resized: list[object] = []
    transcript.document().documentLayout().documentSizeChanged.connect(resized.append)
    transcript.resize(1100, 600)
    assert resized == []


def test_beside_the_column_one_can_scroll_and_select(transcript: Transcript) -> None:
    transcript.add_reply("word\n\n" * 100)
    bar = transcript.verticalScrollBar()
    bar.setValue(0)
    place = QPointF(5, 300)
    wheel = QWheelEvent(
        place,
        transcript.mapToGlobal(place),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(transcript, wheel)
    assert bar.value() > 0
    QTest.mousePress(transcript, Qt.MouseButton.LeftButton, pos=QPoint(5, 200))
    QTest.mouseMove(transcript, QPoint(5, 300))
    QTest.mouseRelease(transcript, Qt.MouseButton.LeftButton, pos=QPoint(5, 300))
    assert transcript.textCursor().selectedText().count("word") >= 3


def test_odd_characters_do_no_harm(transcript: Transcript) -> None:
    text = "a\x00b\u2029c\ufdd0d\ufdd1e\r\nf\ud800g\ufffc"
    transcript.add_user(text)
    transcript.add_reply(text, reasoning=text)
    transcript.add_notice(text)
    assert transcript.current_text() == text
    assert transcript.document().rootFrame().childFrames() == []


def test_it_has_a_name_for_screen_readers(transcript: Transcript) -> None:
    assert transcript.accessibleName() == "Conversation"
    assert transcript.focusPolicy() & Qt.FocusPolicy.TabFocus


def test_a_link_that_was_clicked_is_not_left_selected(transcript: Transcript) -> None:
    transcript.add_reply("```\nfirst\n```", note=NOTE)
    place = transcript.document().find("Copy")
    where = transcript.cursorRect(place).center() - QPoint(6, 0)
    QTest.mouseClick(transcript.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert "Copied" in transcript.plain_text()
    assert not transcript.textCursor().hasSelection()


def test_every_strip_is_painted_as_it_is_in_the_whole(transcript: Transcript) -> None:
    """While the user scrolls, only a strip at the edge is painted."""
    transcript.add_user("Hi")
    transcript.add_reply("There", note=NOTE)
    view = transcript.viewport()
    whole = view.grab().toImage()
    for top in range(120):
        strip = QRect(0, top, view.width(), 3)
        assert view.grab(strip).toImage() == whole.copy(strip), top


def test_what_is_copied_after_an_emoji_is_what_was_selected(transcript: Transcript) -> None:
    transcript.add_reply("A 🦊 and a 🐻 met", note=NOTE)
    transcript.setTextCursor(transcript.document().find("🐻 met"))
    transcript.copy()
    assert QGuiApplication.clipboard().text() == "🐻 met"
