"""``slipstream chat``: the real engine and the demo model, as one reply and as a conversation."""

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from command_line import COMMAND, Ended
from gguf_files import DEMO_DFLASH, DEMO_SMALL

STORY = "Tell me a story about a fox."


@pytest.mark.parametrize(
    ("kind", "draft_tokens"), [("off", 0), ("mtp", 3), ("dflash", 5), ("ngram", None)]
)
def test_every_kind_of_speculation_tells_who_chose_what(
    verb: Callable[..., Ended], kind: str, draft_tokens: int | None
) -> None:
    drafts = ["--draft-tokens", str(draft_tokens)] if draft_tokens else []
    ended = verb(
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
    ended = slipstream("chat", "demo", "--temperature", "0", "--pieces", stdin=STORY)
    assert ended.out.count("[") == ended.out.count("]") > 0
    assert ended.out.replace("[", "").replace("]", "").startswith("Once upon a time")


def test_a_limit_ends_the_reply(verb: Callable[..., Ended]) -> None:
    ended = verb("chat", "demo-small", "-p", STORY, "--max-tokens", "5", "--json")
    assert (ended.document["finish"], ended.document["tokens"]) == ("length", 5)


def test_a_text_file_named_gguf(verb: Callable[..., Ended], tmp_path: Path) -> None:
    (tmp_path / "notes.gguf").write_text("This is not a model. " * 50)
    ended = verb("chat", "notes.gguf", "-p", "hi", "--json")
    assert ended.code == 1
    assert "notes.gguf" in str(ended.error)
    assert ended.error["action"]
    assert ended.error["code"] != "bug"


def _engines(app: "subprocess.Popen[Any]") -> list[psutil.Process]:
    """The processes of this app that serve a model, and their guardians."""
    found = []
    for process in psutil.Process(app.pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if {"slipstream.engine.embedded", "--model"} <= set(process.cmdline()):
                found.append(process)
    return found


def _wait_for_engine(app: "subprocess.Popen[Any]") -> list[psutil.Process]:
    deadline = time.monotonic() + 30
    while len(engines := _engines(app)) < 2:
        assert time.monotonic() < deadline, "no engine was started"
        time.sleep(0.01)
    return engines


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_ends_with_130_and_leaves_no_engine(environment: dict[str, str]) -> None:
    with subprocess.Popen(
        [COMMAND, "chat", "demo", "-p", "1 2 3 4 5 6 7 8 9 10"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr
        assert process.stderr.readline() == "Loading demo ...\n"
        engines = _wait_for_engine(process)
        process.send_signal(signal.SIGINT)
        assert "Traceback" not in process.stderr.read()
        assert process.wait(30) == 130
    _, alive = psutil.wait_procs(engines, timeout=10)
    assert not alive


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


@pytest.fixture
def terminal(environment: dict[str, str]) -> Iterator[Terminal]:
    opened = Terminal(environment)
    yield opened
    opened.process.kill()
    opened.process.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
def test_a_conversation_goes_on_after_the_engine_was_killed(terminal: Terminal) -> None:
    terminal.wait_for("> ")
    terminal.type("Hello\n")
    terminal.wait_for("tok/s · ")
    terminal.wait_for("> ")
    guardian, engine = sorted(_engines(terminal.process), key=lambda one: one.create_time())
    engine.kill()
    assert psutil.wait_procs([guardian, engine], timeout=10)[1] == []
    terminal.type(f"{STORY}\n")
    terminal.wait_for("Loading demo")
    terminal.wait_for("Once upon a time")
    terminal.wait_for("> ")
    terminal.type("/quit\n")
    assert terminal.close() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
def test_a_conversation(terminal: Terminal) -> None:
    terminal.wait_for("> ")
    for question in ("Hello", STORY):
        terminal.type(question + "\n")
        terminal.wait_for("tok/s · ")
        terminal.wait_for("> ")
    assert "Once upon a time" in terminal.seen
    terminal.type("\x04")  # Ctrl+D
    assert terminal.close() == 0


def test_without_a_home_it_chats_all_the_same(
    slipstream: Callable[..., Ended], environment: dict[str, str]
) -> None:
    environment["SLIPSTREAM_HOME"] += "/config/settings.json"  # a file in the place of a folder
    ended = slipstream("chat", "demo-small", "-p", STORY, "--max-tokens", "5", "--json")
    assert ended.code == 0, ended.err
    assert ended.document["tokens"] == 5


def test_a_drafter_that_does_not_work_is_told_with_what_is_tried_instead(
    slipstream: Callable[..., Ended], tmp_path: Path
) -> None:
    """Its header is all right, so that only the engine can find out."""
    shutil.copy(DEMO_SMALL, tmp_path)
    content = DEMO_DFLASH.read_bytes()
    broken = content.replace(b"blk.1.attn_norm.weight", b"blk.1.attn_mron.weight")
    (tmp_path / DEMO_DFLASH.name).write_bytes(broken)
    ended = slipstream("chat", DEMO_SMALL.name, "-p", STORY, "--spec", "dflash")
    assert ended.code == 0
    _, reason, attempt, *_ = ended.err.splitlines()
    assert DEMO_DFLASH.name in reason
    assert attempt == "Trying without a drafter."
