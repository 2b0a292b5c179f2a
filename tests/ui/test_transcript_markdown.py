import re
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slipstream.ui.theme import DARK, LIGHT, Theme
from slipstream.ui.transcript.blocks import LINE_BREAK, Block, BoxKind, Kind, Style, displayable
from slipstream.ui.transcript.code_blocks import without_empty_code
from slipstream.ui.transcript.colours import DARK_CODE, LIGHT_CODE, chunk_starts, coloured
from slipstream.ui.transcript.markdown import parse
from slipstream.ui.transcript.stream import Stream

# The home of each test is made anew for a test, not for an example; none of these uses it.
examples = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

PARTS = st.sampled_from(
    [
        "word ",
        "two words",
        "\n",
        "\n\n",
        "# ",
        "## ",
        "- ",
        "  - ",
        "1. ",
        "2. ",
        "   ",
        "> ",
        "```\n",
        "```python\n",
        "    ",
        "def f(x):\n    return x\n",
        "`a`",
        "**",
        "*",
        "_",
        "~~",
        "| a | b |\n|---|---|\n",
        "| c | d |\n",
        "---\n",
        "===\n",
        "[x](https://a.b)",
        "[r][r]",
        "![alt](pic.png)",
        "<b>",
        "std::vector<int>",
        "<std::string>",
        "\\",
        "&amp;",
        "é🦊",
        "\r\n",
        "\t",
    ]
)
MARKDOWN = st.lists(PARTS, max_size=40).map("".join)
DEFINITION = st.just("[r]: https://a.b/c\n")


def chunks(text: str, cuts: list[float]) -> list[str]:
    places = sorted({0, len(text), *(round(cut * len(text)) for cut in cuts)})
    return [text[start:end] for start, end in pairwise(places)]


def shown(blocks: list[Block]) -> str:
    texts = []
    for block in blocks:
        texts.append(block.text.removesuffix("\tCopy"))
        texts += [run.text for row in block.rows for cell in row for run in cell.runs]
    return "\n".join(texts)


def one(text: str) -> Block:
    (block,) = parse(text).blocks
    return block


def test_styles_of_running_text() -> None:
    runs = one("plain **bold *both*** ~~gone~~ `x < y`").runs
    assert [(run.text, run.style) for run in runs] == [
        ("plain ", Style.PLAIN),
        ("bold ", Style.BOLD),
        ("both", Style.BOLD | Style.ITALIC),
        (" ", Style.PLAIN),
        ("gone", Style.STRIKE),
        (" ", Style.PLAIN),
        ("x < y", Style.CODE),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "std::vector<int> v;",
        "std::map<std::string, int>",
        "<b>bold</b>",
        "<!-- hm -->",
        "a < b > c",
    ],
)
def test_what_looks_like_html_is_text(text: str) -> None:
    assert one(text).text == text


@pytest.mark.parametrize("address", ["https://a.b", "http://a.b", "mailto:a@b.c"])
def test_links_to_the_web_and_to_mail(address: str) -> None:
    (run,) = one(f"[here]({address})").runs
    assert (run.text, run.href) == ("here", address)


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "file:///etc/passwd", "slipstream:regenerate", "data:a,b"]
)
def test_other_addresses_are_no_links(address: str) -> None:
    block = one(f"[here]({address}) <{address}>")
    assert all(not run.href for run in block.runs)
    assert address in block.text


def test_a_relative_link_keeps_its_text_only() -> None:
    (run,) = one("[here](other.md)").runs
    assert (run.text, run.href) == ("here", "")


def test_an_image_is_its_description() -> None:
    assert one("![a *red* fox](https://a.b/fox.png)").text == "a red fox"
    assert one("![](https://a.b/fox.png)").text == "https://a.b/fox.png"


def test_lists_nest_and_are_numbered_from_their_start() -> None:
    blocks = parse("3. three\n4. four\n   - a\n     - b\n").blocks
    assert [block.text for block in blocks] == ["3.\tthree", "4.\tfour", "•\ta", "◦\tb"]
    assert [block.indent for block in blocks] == [28, 28, 48, 68]


def test_code_has_a_label_and_a_line_for_each_line() -> None:
    label, first, empty, last = parse("```python\nx = 1\n\n  y\n```\n").blocks
    assert label.kind is Kind.CODE_LABEL
    assert label.text.startswith("python\t")
    assert [first.text, empty.text, last.text] == ["x = 1", "", "  y"]
    assert {block.boxes for block in (label, first, empty, last)} == {label.boxes}


def test_two_code_blocks_are_two_boxes() -> None:
    first, _, second, _ = parse("```\na\n```\n```\nb\n```\n").blocks
    assert first.boxes != second.boxes


def test_code_in_a_list_in_a_quote_lies_in_both() -> None:
    block = parse("> - a\n>\n>   ```\n>   x\n>   ```\n").blocks[-1]
    assert [box.kind for box in block.boxes] == [BoxKind.QUOTE, BoxKind.CODE]
    assert block.text == "x"


def test_tables_keep_alignment_and_escaped_bars() -> None:
    table = one("| a | b |\n|:-:|--:|\n| `x` | y \\| z |\n")
    assert [[cell.runs[0].text for cell in row] for row in table.rows] == [
        ["a", "b"],
        ["x", "y | z"],
    ]
    assert [cell.align for cell in table.rows[1]] == ["center", "right"]
    assert [row[0].header for row in table.rows] == [True, False]


def test_cells_beyond_the_last_column_are_kept() -> None:
    table = one("| a | b |\n|---|---|\n| 1 | 2 | three | 4 |\n")
    assert "".join(run.text for run in table.rows[1][1].runs) == "2 | three | 4"


def test_single_line_ends_stay_line_ends() -> None:
    assert one("roses\nviolets").text == f"roses{LINE_BREAK}violets"


@examples
@given(st.text())
def test_displayable_text_is_as_long_and_holds_no_block_ends(text: str) -> None:
    safe = displayable(text)
    assert len(safe) == len(text)
    assert not re.search("[\r\x00\u2029\ufdd0\ufdd1]", safe)


@examples
@given(MARKDOWN, st.lists(st.floats(0, 1), max_size=12))
def test_streaming_shows_at_every_moment_what_one_parse_shows(text: str, cuts: list[float]) -> None:
    stream = Stream()
    for chunk in chunks(text, cuts):
        stream.feed(chunk)
        whole = parse(displayable(stream.text)).blocks
        assert stream.blocks == whole
        assert [block.offsets for block in stream.blocks] == [block.offsets for block in whole]


@examples
@given(
    st.lists(PARTS | DEFINITION, max_size=30).map("".join), st.lists(st.floats(0, 1), max_size=12)
)
def test_a_finished_stream_equals_one_parse_even_with_link_definitions(
    text: str, cuts: list[float]
) -> None:
    stream = Stream()
    for chunk in chunks(text, cuts):
        stream.feed(chunk)
    stream.finish()
    ended = text if text.endswith("\n") else f"{text}\n"
    assert stream.blocks == without_empty_code(parse(displayable(ended)).blocks)


@pytest.mark.parametrize("text", ["```python", "Here:\n\n```python\n", "```\n```\n\nThe end."])
def test_code_without_a_line_is_shown_only_while_one_may_come(text: str) -> None:
    stream = Stream(text)
    assert any(block.kind is Kind.CODE for block in stream.blocks)
    stream.finish()
    assert not any(block.kind in (Kind.CODE, Kind.CODE_LABEL) for block in stream.blocks)
    stream = Stream("```\n\na")
    stream.finish()
    assert [block.kind for block in stream.blocks] == [Kind.CODE_LABEL, Kind.CODE, Kind.CODE]


def test_very_long_lines_of_code_are_not_coloured() -> None:
    assert len(coloured(["[1, 2]"], "json", complete=True)[0]) > 1
    assert len(coloured(["[1, 2]" * 1000], "json", complete=True)[0]) == 1


def test_the_last_line_of_code_is_coloured_once_the_reply_is_complete() -> None:
    stream = Stream("```python\ndef f():\n    return 1")
    assert len(stream.blocks[-1].runs) == 1
    stream.finish()
    assert stream.blocks[-1].text == "    return 1"
    assert len(stream.blocks[-1].runs) > 1


@examples
@given(st.lists(PARTS.filter(lambda p: not re.search(r"[\[&\d]|```", p)), max_size=40).map("".join))
def test_no_word_is_ever_lost(text: str) -> None:
    stream = Stream(text)
    assert re.findall(r"[^\W_]", shown(stream.blocks)) == re.findall(r"[^\W_]", text)


def test_long_code_is_frozen_line_by_line() -> None:
    stream = Stream("```python\n")
    for number in range(2000):
        stream.feed(f"def f{number}():\n    return {number}\n\n")
    assert len(stream.text) - stream._cut < 2000
    assert stream.blocks == parse(stream.text).blocks


def test_a_table_is_frozen_row_by_row() -> None:
    stream = Stream("| a | b |\n|---|---|\n")
    row = "| some words | more |\n"
    for _ in range(80):
        stream.feed(row)
        assert len(stream.text) - stream._cut <= 2 * len(row)
    assert stream.blocks == parse(stream.text).blocks
    assert [len(block.rows) for block in stream.blocks] == [25] + 11 * [5] + [1]


@pytest.mark.parametrize("item", ["- some **words**\n", "7. one\n", "- a\n\n", "* a\n  - b\n"])
def test_a_list_is_frozen_item_by_item(item: str) -> None:
    stream = Stream()
    for _ in range(60):
        for character in item:
            stream.feed(character)
        assert len(stream.text) - stream._cut <= 2 * len(item)
    whole = parse(stream.text).blocks
    assert stream.blocks == whole
    assert [block.offsets for block in stream.blocks] == [block.offsets for block in whole]


def test_numbers_of_a_list_are_counted_across_cuts() -> None:
    stream = Stream()
    for line in ("3. a\n", "3. b\n", "9. c\n", "1. d"):
        stream.feed(line)
    assert [block.text for block in stream.blocks] == ["3.\ta", "4.\tb", "5.\tc", "6.\td"]


def test_only_the_item_after_a_blank_line_is_set_apart() -> None:
    assert [block.gap for block in parse("- a\n- b\n\n- c\n- d\n").blocks] == [4, 4, 8, 4]


@pytest.mark.parametrize(
    ("start", "more"),
    [
        ("", "some **bold** words, `code` and a\nline break; "),
        ("", "words" * 20),
        ("", "一段没有空格的文字"),
        ("| a | b |\n|---|--:|\n", "| some **bold** words | `code` | more |\n"),
    ],
)
def test_a_block_without_end_is_read_in_parts_and_shown_whole(start: str, more: str) -> None:
    text = start + more * (12_000 // len(more)) + "\n\nAnd then\n\n> a quote"
    stream = Stream()
    longest = 0
    for at in range(0, len(text), 61):
        stream.feed(text[at : at + 61])
        longest = max(longest, len(stream.text) - stream._cut)
        if at % 7 == 0:
            assert stream.blocks == parse(stream.text).blocks
    whole = parse(text).blocks
    assert stream.blocks == whole
    assert [block.offsets for block in stream.blocks] == [block.offsets for block in whole]
    assert longest < 3000
    parts = [block for block in whole if block.kind in (Kind.PARAGRAPH, Kind.TABLE)][:-2]
    assert len(parts) > 2
    assert {part.gap for part in parts[1:]} == {0}


def test_colours_do_not_change_the_code() -> None:
    lines = ['x = "a', "b", "\t# c", "", "'''", "d"]
    runs = coloured(lines, "python", complete=True)
    assert ["".join(run.text for run in line) for line in runs] == lines
    assert {run.colour for line in runs for run in line} > {"comment"}


def test_a_line_that_grows_and_an_unknown_language_are_plain() -> None:
    assert coloured(["return", "return"], "python", complete=False)[1][0].colour == ""
    assert coloured(["return"], "klingon", complete=True)[0][0].colour == ""


def _luminance(colour: str) -> float:
    """Relative luminance, https://www.w3.org/TR/WCAG22/#dfn-relative-luminance."""
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(("theme", "colours"), [(LIGHT, LIGHT_CODE), (DARK, DARK_CODE)])
def test_coloured_code_is_easy_to_read(theme: Theme, colours: dict[str, str]) -> None:
    for colour in colours.values():
        for ground in (theme.code, theme.accent_soft):
            low, high = sorted((_luminance(colour), _luminance(ground)))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (colour, ground)


@examples
@given(st.lists(st.sampled_from(["a", "  b", ""]), max_size=120))
def test_where_code_is_cut_depends_only_on_what_is_before(lines: list[str]) -> None:
    starts = chunk_starts(lines)
    for count in range(0, len(lines), 7):
        assert chunk_starts(lines[:count]) == [start for start in starts if start < count]
