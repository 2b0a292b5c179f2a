"""``slipstream chat``: the real engine and the demo model, as one reply and as a conversation."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from command_line import COMMAND, Ended

STORY = "Tell me a story about a fox."


@pytest.mark.parametrize(
    ("kind", "draft_tokens"), [("off", 0), ("mtp", 3), ("dflash", 5), ("ngram", None)]
)
def test_every_kind_of_speculation_tells_who_chose_what(
    slipstream: Callable[..., Ended], kind: str, draft_tokens: int | None
) -> None:
    drafts = ["--draft-tokens", str(draft_tokens)] if draft_tokens else []
    ended = slipstream(
        "chat", "demo", "-p", STORY, "--spec", kind, *drafts, "--temperature", "0",
        "--pieces", "--json",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    document = ended.document
    spec, pieces = document["spec"], document["pieces"]
    assert document["text"].startswith("Once upon a time")
    assert document["finish"] == "stop"
    assert "xllamacpp" in document["engine"]
    assert document["tokens_per_second"] > 0
    assert document["first_token"] > 0
    assert document["prompt_tokens"] > 0
    assert (spec["kind"], spec["fallback"]) == (kind, None)
    assert "".join(piece["text"] for piece in pieces) == document["text"]
    assert sum(piece["source"] == "drafter" for piece in pieces) == spec["accepted"]
    assert len(pieces) == document["tokens"]
    if kind in ("mtp", "dflash"):
        assert spec["draft_tokens"] == draft_tokens
        assert spec["acceptance"] > 0.4
        assert len(spec["by_position"]) == draft_tokens
    if kind == "off":
        assert (spec["drafted"], spec["acceptance"]) == (0, None)


def test_people_get_text_on_stdout_and_the_rest_on_stderr(slipstream: Callable[..., Ended]) -> None:
    ended = slipstream("chat", "demo", "-p", STORY, "--temperature", "0")
    assert ended.code == 0
    assert ended.out.startswith("Once upon a time")
    assert ended.out.endswith("\n")
    first, *_, last = ended.err.splitlines()
    assert first == "Loading demo ..."
    assert "tok/s · " in last
    assert "% accepted" in last


def test_piped_text_is_answered_and_drafted_text_marked(slipstream: Callable[..., Ended]) -> None:
    plain = slipstream("chat", "demo", "--temperature", "0", stdin=STORY)
    marked = slipstream("chat", "demo", "--temperature", "0", "--pieces", stdin=STORY)
    assert "[" in marked.out
    assert marked.out.replace("[", "").replace("]", "") == plain.out


def test_a_limit_ends_the_reply(slipstream: Callable[..., Ended]) -> None:
    ended = slipstream("chat", "demo-small", "-p", STORY, "--max-tokens", "5", "--json")
    assert (ended.document["finish"], ended.document["tokens"]) == ("length", 5)


def test_a_text_file_named_gguf(slipstream: Callable[..., Ended], tmp_path: Path) -> None:
    (tmp_path / "notes.gguf").write_text("This is not a model. " * 50)
    ended = slipstream("chat", "notes.gguf", "-p", "hi", "--json")
    assert ended.code == 1
    assert "notes.gguf" in str(ended.error)
    assert ended.error["action"]
    assert ended.error["code"] != "bug"


def _engines() -> set[int]:
    """Processes of this test that run an engine."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        try:
            if any("slipstream.engine" in word for word in process.cmdline()):
                found.add(process.pid)
        except psutil.Error:
            continue
    return found


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_ends_with_130_and_leaves_no_engine(environment: dict[str, str]) -> None:
    with subprocess.Popen(
        [COMMAND, "chat", "demo", "-p", STORY],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr
        assert process.stderr.readline() == "Loading demo ...\n"
        engines = _engines()
        process.send_signal(signal.SIGINT)
        assert "Traceback" not in process.stderr.read()
        assert process.wait(20) == 130
    deadline = time.monotonic() + 5
    while engines and time.monotonic() < deadline:
        engines = {pid for pid in engines if psutil.pid_exists(pid)}
    assert not engines


class Terminal:
    """A conversation on a terminal of its own."""

    def __init__(self, environment: dict[str, str]) -> None:
        import pty

        self._end, other = pty.openpty()
        self.process = subprocess.Popen(
            [COMMAND, "chat", "demo", "--temperature", "0"],
            env={**environment, "TERM": "dumb"},
            stdin=other,
            stdout=other,
            stderr=other,
            start_new_session=True,
        )
        os.close(other)
        self.seen = ""
        self._read_to = 0

    def type(self, text: str) -> None:
        os.write(self._end, text.encode())

    def wait_for(self, text: str) -> None:
        """Read on until ``text`` comes, after what was waited for before."""
        while (found := self.seen.find(text, self._read_to)) < 0:
            ready, _, _ = select.select([self._end], [], [], 30)
            assert ready, f"{text!r} does not come after {self.seen[self._read_to :]!r}"
            self.seen += os.read(self._end, 4096).decode("utf-8", "replace")
        self._read_to = found + len(text)

    def close(self) -> int:
        code = self.process.wait(20)
        os.close(self._end)
        return code


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
@pytest.mark.parametrize("farewell", ["/quit\n", "\x04"])
def test_a_conversation(environment: dict[str, str], farewell: str) -> None:
    terminal = Terminal(environment)
    try:
        terminal.wait_for("> ")
        for question in ("Hello", STORY):
            terminal.type(question + "\n")
            terminal.wait_for("tok/s · ")
            terminal.wait_for("> ")
        assert "Once upon a time" in terminal.seen
        terminal.type(farewell)
        assert terminal.close() == 0
    finally:
        terminal.process.kill()
        terminal.process.wait()
