"""The end of a log is kept, whatever an engine prints."""

import json
import logging
import os
import threading
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slipstream.engine.logtail import (
    KEPT_LINES,
    KEPT_OF_MEMORY,
    LONGEST_LINE,
    LogTail,
    parse_progress,
)

PROGRESS = (
    'cmd_child_to_router:state:{"state":"loading","payload":'
    '{"stages":["text_model","spec_model"],"current":"spec_model","value":0.5}}'
)


def tail_of(*printed: bytes, file: logging.Handler | None = None) -> LogTail:
    """A log that an engine printed through a pipe, read to its end."""
    reading, writing = os.pipe()
    tail = LogTail(os.fdopen(reading, "rb", buffering=0), file)
    for part in printed:
        os.write(writing, part)
    os.close(writing)
    assert tail.join(30)
    return tail


def lines_of(text: str) -> tuple[str, ...]:
    return tail_of(text.encode()).lines


def test_lines_come_out_as_they_went_in() -> None:
    assert lines_of("one\n\ntwo\r\nthree") == ("one", "two", "three")
    assert lines_of("") == ()


@given(st.lists(st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=1)))
def test_the_last_lines_are_kept_in_order(lines: list[str]) -> None:
    assert list(lines_of("\n".join(lines))) == lines[-KEPT_LINES:]


def test_bytes_that_are_no_text_do_no_harm() -> None:
    tail = tail_of(b"\xff\xfe ok\n\x00\n")
    assert tail.lines[0].endswith(" ok")
    assert tail.bytes_read == 8


def test_a_flood_does_not_grow_memory() -> None:
    line = b"x" * 999 + b"\n"
    tracemalloc.start()
    try:
        tail = tail_of(*[line * 60] * 500)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert tail.bytes_read == 500 * 60 * len(line)
    assert len(tail.lines) == KEPT_LINES
    assert peak < 2_000_000


def test_an_endless_line_does_not_grow_memory() -> None:
    tracemalloc.start()
    try:
        tail = tail_of(*[b"y" * 60_000] * 500, b"\nlast")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [len(line) for line in tail.lines] == [LONGEST_LINE, 4]
    assert peak < 2_000_000


def test_the_reason_survives_what_is_printed_after_it() -> None:
    noise = "0.00.001.000 I srv: all is well\n" * (2 * KEPT_LINES)
    text = "start\n0.00.000.100 E srv: could not do it\n" + noise + "end\n"
    tail = tail_of(text.encode())
    assert "0.00.000.100 E srv: could not do it" not in tail.lines
    assert tail.evidence()[0] == "0.00.000.100 E srv: could not do it"
    assert tail.evidence()[-1] == "end"


def test_trouble_before_the_mark_is_no_evidence() -> None:
    reading, writing = os.pipe()
    tail = LogTail(os.fdopen(reading, "rb", buffering=0))
    os.write(writing, b"error: survived\n")
    while not tail.lines:
        time.sleep(0.001)
    tail.mark()
    os.write(writing, b"error: fatal\n")
    os.close(writing)
    assert tail.join(5)
    assert tail.evidence() == ("error: fatal",)
    assert tail.lines == ("error: survived", "error: fatal")


def test_progress_is_read_and_not_kept() -> None:
    tail = tail_of(f"a\n{PROGRESS}\nb\n".encode())
    assert tail.progress == 0.75
    assert tail.lines == ("a", "b")


@settings(max_examples=50)
@given(
    st.text() | st.dictionaries(st.sampled_from(["payload", "stages"]), st.none()).map(json.dumps)
)
def test_no_progress_line_confuses(text: str) -> None:
    share = parse_progress(text)
    assert share is None or 0 <= share <= 1


def test_the_lines_are_also_written_to_a_file(tmp_path: Path) -> None:
    file = tmp_path / "engine.log"
    tail = tail_of(b"a\nb\n", file=logging.FileHandler(file))
    assert file.read_text().splitlines() == list(tail.lines)


class Failing(logging.Handler):
    """A log file that fails, from the ``nth`` line on or when it is closed."""

    def __init__(self, nth: int) -> None:
        super().__init__()
        self.left = nth

    def emit(self, record: logging.LogRecord) -> None:  # noqa: ARG002
        self.left -= 1
        if self.left < 0:
            raise OSError(28, "No space left on device")

    def close(self) -> None:
        super().close()
        raise OSError(28, "No space left on device")


class Full(logging.FileHandler):
    """A file on a full disk."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        pass


@pytest.mark.parametrize("nth", [0, 1, 99])
def test_a_log_file_that_fails_stops_neither_the_reader_nor_the_news_of_the_end(nth: int) -> None:
    assert_read_to_its_end(Failing(nth))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a file of Linux")
def test_a_full_disk_stops_neither_the_reader_nor_the_news_of_the_end() -> None:
    assert_read_to_its_end(Full("/dev/full"))


def assert_read_to_its_end(file: logging.Handler) -> None:
    ended = threading.Event()
    reading, writing = os.pipe()
    tail = LogTail(os.fdopen(reading, "rb", buffering=0), file, ended.set)
    os.write(writing, b"a\nb\nc\n")
    os.close(writing)
    assert tail.join(5)
    assert ended.is_set()
    assert tail.lines == ("a", "b", "c")


def test_the_end_is_told() -> None:
    ended = threading.Event()
    reading, writing = os.pipe()
    LogTail(os.fdopen(reading, "rb", buffering=0), on_end=ended.set)
    assert not ended.wait(0.05)
    os.close(writing)
    assert ended.wait(5)


def test_lines_about_memory_are_kept_whatever_follows() -> None:
    told = "load_tensors: loading model tensors", "sched_reserve: reserving ..."
    noise = "all is well\n" * (2 * KEPT_LINES)
    tail = tail_of("\n".join([*told, noise]).encode(), b"x buffer size = 1\n" * 999)
    assert tail.memory[:2] == told
    assert len(tail.memory) == KEPT_OF_MEMORY


def test_what_a_file_says_of_itself_is_no_trouble() -> None:
    name = "0.1 I llama_model_loader: - kv   1: general.name str = error: out of memory"
    tail = tail_of(name.encode(), b"\nfine" * KEPT_LINES)
    assert name not in tail.evidence()
