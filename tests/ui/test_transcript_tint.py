import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slipstream.ui.transcript.blocks import LINE_BREAK
from slipstream.ui.transcript.markdown import parse
from slipstream.ui.transcript.tinting import drafted_ranges

examples = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def origins(markdown: str) -> list[tuple[str, str]]:
    """Each shown text, and the same read from the raw text at the offsets that were found."""
    blocks = parse(markdown).blocks
    texts = [(block.text, block.offsets) for block in blocks if block.offsets]
    for block in blocks:
        for row in block.rows:
            texts += [("".join(r.text for r in cell.runs), cell.offsets) for cell in row]
    return [(t, "".join(markdown[o] if o >= 0 else "\t" for o in offs)) for t, offs in texts]


@pytest.mark.parametrize(
    "markdown",
    [
        "plain text",
        "a **bold** and *it* and ***both*** end",
        "`code` and ``a ` b`` end",
        "a \\* b \\_ c",
        "[link](https://a.b/c(d) 'title with end') end",
        "[ab](https://ab.ab) ab",
        "<https://a.b> end",
        "![alt](a.png) lta",
        "![](a.png) end",
        "~~gone~~ x",
        "a **b",
        "## Heading ##",
        "> quoted\n> **more** text",
        "- one\n  two\n  - three",
        "| a | b |\n|---|---|\n| a | **b** |\n| bb | b |\n",
        "```python\nx = 1\n\n  y\n```",
        "    indented\n    code",
        "🦊 **fox** end",
        "word[1] and word [x][y] end",
    ],
)
def test_every_shown_character_is_found_where_it_stands(markdown: str) -> None:
    for shown, found in origins(markdown):
        marker = shown.rfind("\t") + 1
        if "](a.png)" in markdown and "![]" in markdown:
            assert shown.endswith(" end")
            assert found.endswith(" end")
        else:
            assert found[marker:] == shown[marker:].replace(LINE_BREAK, "\n")


def test_a_character_reference_counts_where_it_starts() -> None:
    (block,) = parse("a &amp; b &lt;c").blocks
    assert block.text == "a & b <c"
    assert list(block.offsets) == [0, 1, 2, 7, 8, 9, 10, 14]


@examples
@given(
    st.lists(st.sampled_from(["ab", "**", "*", "`", "[", "](x)", "\\", "&amp;", " ", "\n", "|"]))
)
def test_offsets_never_go_back_and_lie_in_the_text(parts: list[str]) -> None:
    markdown = "".join(parts)
    for block in parse(markdown).blocks:
        if block.kind != "code label" and not block.rows:
            assert len(block.offsets) == len(block.text)
        places = [offset for offset in block.offsets if offset >= 0]
        assert places == sorted(places)
        assert all(offset < len(markdown) for offset in places)


def test_ranges_are_counted_as_qt_counts() -> None:
    text = "  a🦊b"
    assert drafted_ranges(text, [0, 1, 2, 3, 4], bytearray([1, 1, 0, 1, 1])) == [(3, 6)]


def test_indentation_and_markers_are_not_tinted() -> None:
    assert drafted_ranges("  ab", [0, 1, 2, 3], bytearray([1, 1, 1, 1])) == [(2, 4)]
    assert drafted_ranges("•\tab", [-1, -1, 2, 3], bytearray([1, 1, 1, 0])) == [(2, 3)]
