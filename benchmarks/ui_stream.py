"""How smooth the window stays while a reply streams in.

The real window, composed as the app does; only the engine is a script that writes at a steady
rate in the worker thread. A heartbeat timer ticks every millisecond on the window's thread; what
it is late is a stall, from sending the question until after the reply ended. "computed" is what
that thread computed between two ticks, which other processes do not change. Prints one JSON
document.

    python benchmarks/ui_stream.py [--tokens 20000] [--rates 500,1000] [--history 20]
        [--texts mixed,line,code,table]
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import count
from multiprocessing import get_context
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEventLoop, Qt, QTimer

from slipstream.cancel import CancelToken
from slipstream.chats.store import ChatStore, open_chats
from slipstream.drafters.kinds import DrafterKind, SpecConfig
from slipstream.engine.events import (
    EngineState,
    Finished,
    LoadEvent,
    Piece,
    ReplyEvent,
    ReplyNumbers,
    Source,
)
from slipstream.engine.requests import ChatMessage, Loaded, LoadRequest, ReplyOptions
from slipstream.engine.session import NUMBERS_EVERY, Session
from slipstream.ui import app, collector
from slipstream.ui.preferences import Preferences

SETTLE_MS = 3000  # what the app does after it opened is over by then
AFTER_MS = 500  # what follows the end of a reply is measured, too
HEARTBEAT = 0.001  # seconds
GOAL_RATE = 500  # tokens a second; faster streams are reported only
GOAL_LONGEST = 0.033
GOAL_P99 = 0.016

_SENTENCE = (
    "the cache keeps its entries in order so that every look up costs the same time and nothing "
    "stays longer than it should which makes the program easier to read to test and to change"
)
_WORDS = _SENTENCE.split()


def mixed(chance: random.Random) -> Iterator[str]:
    """Prose, lists, tables and code, as models write."""
    while True:
        yield chance.choice((_prose, _prose, _code, _list, _table, _heading))(chance)


def one_line(chance: random.Random) -> Iterator[str]:
    """A paragraph that does not end."""
    while True:
        yield f"{_words(chance, 20)} "


def one_fence(chance: random.Random) -> Iterator[str]:
    """A code block that does not end."""
    yield "```python\n"
    for number in count():
        yield _function(chance, number)


def one_table(chance: random.Random) -> Iterator[str]:
    """A table that does not end."""
    yield "| a | b | c |\n|---|---|--:|\n"
    for number in count():
        yield _row(chance, number)


def one_list(chance: random.Random) -> Iterator[str]:
    """A list that does not end."""
    while True:
        yield f"- {_words(chance, 12)}\n"


# How each starts, and after how many characters it ends (None: after --tokens).
TEXTS: dict[str, tuple[Callable[[random.Random], Iterator[str]], int | None]] = {
    "mixed": (mixed, None),
    "line": (one_line, 20_000),
    "code": (one_fence, 110_000),  # 3,000 lines
    "table": (one_table, 21_000),  # 500 rows
    "list": (one_list, 21_000),  # 250 items
}
OPEN = "open"


def tokens(name: str, most: int, seed: int) -> list[Piece]:
    """One of the texts, in pieces as small as a model's tokens."""
    chance = random.Random(seed)
    make, characters = TEXTS[name]
    left = characters or sys.maxsize
    pieces: list[Piece] = []
    for block in make(chance):
        left -= len(block)
        while block:
            length = chance.randint(2, 6)
            source = Source.DRAFTER if chance.random() < 0.7 else Source.TARGET
            pieces.append(Piece(block[:length], source))
            block = block[length:]
        if left <= 0 or (characters is None and len(pieces) >= most):
            break
    return pieces if characters else pieces[:most]


def _words(chance: random.Random, count: int) -> str:
    words = [chance.choice(_WORDS) for _ in range(count)]
    for style in ("**{}**", "`{}`", "*{}*"):
        place = chance.randrange(count)
        words[place] = style.format(words[place])
    return " ".join(words)


def _prose(chance: random.Random) -> str:
    return f"{_words(chance, chance.randint(30, 120))}.\n\n"


def _heading(chance: random.Random) -> str:
    return f"## {_words(chance, 4)}\n\n"


def _list(chance: random.Random) -> str:
    items = [f"- {_words(chance, chance.randint(5, 25))}\n" for _ in range(chance.randint(4, 12))]
    return "".join(items) + "\n"


def _row(chance: random.Random, number: int) -> str:
    return f"| {_words(chance, 2)} | {_words(chance, 3)} | {number} |\n"


def _table(chance: random.Random) -> str:
    rows = "".join(_row(chance, number) for number in range(8))
    return f"| a | b | c |\n|---|---|--:|\n{rows}\n"


def _function(chance: random.Random, number: int) -> str:
    return (
        f"def {chance.choice(_WORDS)}_{number}(self, key: str, default=None) -> int:\n"
        f'    """{" ".join(chance.choices(_WORDS, k=6))}"""\n'
        f"    entry = self._entries.get(key, {number})  # {chance.choice(_WORDS)}\n"
        f"    return entry if entry is not None else default\n\n"
    )


def _code(chance: random.Random) -> str:
    functions = "".join(_function(chance, number) for number in range(chance.randint(4, 40)))
    return f"```python\n{functions}```\n\n"


class ScriptedSession(Session):
    """Answers with given pieces at a given rate; runs in the worker thread like the real one."""

    def __init__(self, pieces: Sequence[Piece], rate: float) -> None:
        super().__init__()
        self._pieces = pieces
        self._rate = rate

    @property
    def state(self) -> EngineState:
        """Always there."""
        return EngineState.READY

    def load(self, request: LoadRequest, cancel: CancelToken) -> Iterator[LoadEvent]:
        """Nothing to wait for."""
        del cancel
        spec = SpecConfig(DrafterKind.NGRAM, draft_tokens=4)
        self.loaded = Loaded(request, "scripted", 32_768, spec, (), None, "scripted")
        yield from ()

    def reply(
        self, messages: Sequence[ChatMessage], options: ReplyOptions, cancel: CancelToken
    ) -> Iterator[ReplyEvent]:
        """Each piece when it is due, and the numbers as often as the real session tells them."""
        del messages, options, cancel
        began = told = time.monotonic()
        for number, piece in enumerate(self._pieces, start=1):
            time.sleep(max(began + number / self._rate - time.monotonic(), 0))
            yield piece
            if time.monotonic() - told >= NUMBERS_EVERY:
                told = time.monotonic()
                yield self._numbers(number, told - began)
        yield Finished("stop", self._numbers(len(self._pieces), time.monotonic() - began))

    def _numbers(self, done: int, seconds: float) -> ReplyNumbers:
        shares = tuple(0.9**position - done % 7 / 100 for position in range(1, 5))
        return ReplyNumbers(
            tokens=done,
            tokens_per_second=done / seconds,
            speed_now=self._rate + done % 13,
            first_token=0.1,
            prompt_tokens=100,
            prompt_per_second=1000.0,
            drafted=done,
            accepted=done * 7 // 10,
            steps=done // 3 + 1,
            by_position=shares,
        )


@dataclass
class Heartbeat:
    """Notes how late the event loop is, and how much of that its own thread computed."""

    stalls: list[float] = field(default_factory=list)
    computed: list[float] = field(default_factory=list)
    last: tuple[float, float] | None = None

    def tick(self) -> None:
        now, cpu = time.perf_counter(), time.thread_time()
        if self.last is not None:
            self.stalls.append(max(now - self.last[0] - HEARTBEAT, 0.0))
            self.computed.append(cpu - self.last[1])
        self.last = now, cpu

    def clear(self) -> None:
        self.stalls, self.computed = [], []

    def timer(self) -> QTimer:
        beat = QTimer(timerType=Qt.TimerType.PreciseTimer, interval=round(HEARTBEAT * 1000))
        beat.timeout.connect(self.tick)
        return beat

    def report(self, seconds: float, cpu: float) -> dict[str, object]:
        stall = spread(self.stalls)
        return {
            "seconds": round(seconds, 2),
            "cpu_share": round(cpu / seconds, 3),
            "stall": stall,
            "computed": spread(self.computed),
            "kept": max(self.stalls) < GOAL_LONGEST and stall["p99"] < GOAL_P99 * 1000,
        }


def remember(store: ChatStore, messages: int) -> int:
    """A chat of so many questions with long answers."""
    chat = store.create_chat(title="Long")
    store.mark_opened(chat.id)
    for number in range(messages):
        store.add_message(chat.id, "user", f"Question {number}: how does it work?")
        text = "".join(piece.text for piece in tokens("mixed", 1000, number))
        reply = store.add_message(chat.id, "assistant")
        numbers = asdict(ReplyNumbers(tokens=1000, tokens_per_second=60.0))
        store.update_message(
            reply.id,
            content=text,
            pieces=[(3, True), (4, False)] * (len(text) // 7),
            numbers=numbers,
        )
    return chat.id


def run_loop(milliseconds: int) -> None:
    """Let the window live for a while."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, 99th percentile and maximum in milliseconds."""
    ordered = sorted(values)
    found = {"median": 0.5, "p99": 0.99, "max": 1.0}
    return {
        name: round(ordered[min(int(len(ordered) * share), len(ordered) - 1)] * 1000, 2)
        for name, share in found.items()
    }


def measure(text: str, most: int, rate: float, history: int) -> dict[str, object]:
    """Open the window on a chat, stream one reply (or open the chat) and report the stalls."""
    app.application()
    pieces = [] if text == OPEN else tokens(text, most, seed=7)
    with tempfile.TemporaryDirectory() as home:
        os.environ["SLIPSTREAM_HOME"] = home
        collector.hold()
        chats = open_chats(Path(home) / "chats.db")
        long = remember(chats.store, history)
        if text == OPEN:
            chats.store.mark_opened(chats.store.create_chat(title="Empty").id)
        running = app.compose(Preferences(), chats, lambda: ScriptedSession(pieces, rate))
        try:
            found = measure_opening(running, long) if text == OPEN else measure_in(running, pieces)
            return found | {"text": text, "tokens_per_second": rate, "history": history}
        finally:
            running.window.close()
            running.end()


def measure_opening(running: app.Running, chat_id: int) -> dict[str, object]:
    """The stalls of a window that shows an empty chat while another is opened."""
    window, heartbeat = running.window, Heartbeat()
    beat = heartbeat.timer()
    window.chat.show_tint(True)
    running.open()
    run_loop(SETTLE_MS)
    beat.start()
    run_loop(AFTER_MS)
    heartbeat.clear()
    began, cpu = time.perf_counter(), time.process_time()
    loop = QEventLoop()
    window.conversation.opened.connect(loop.quit)
    window.conversation.open(chat_id)
    loop.exec()
    while not window.chat.transcript.filled:
        run_loop(50)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    run_loop(AFTER_MS)
    beat.stop()
    return heartbeat.report(seconds, cpu)


def measure_in(running: app.Running, pieces: Sequence[Piece]) -> dict[str, object]:
    """The stalls of a window while one reply comes; times are milliseconds."""
    window, heartbeat = running.window, Heartbeat()
    beat = heartbeat.timer()
    window.chat.show_tint(True)
    beat.start()
    running.open()
    run_loop(SETTLE_MS)
    opening = spread(heartbeat.stalls)
    heartbeat.clear()
    loop = QEventLoop()
    window.conversation.replied.connect(loop.quit)
    began, cpu = time.perf_counter(), time.process_time()
    window.conversation.send("How does it work?")
    loop.exec()
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    run_loop(AFTER_MS)
    beat.stop()
    shown = window.chat.transcript.current_text()
    assert shown == "".join(piece.text for piece in pieces)
    return {"tokens": len(pieces), "opening": opening} | heartbeat.report(seconds, cpu)


def histories(text: str, longest: int) -> Sequence[int]:
    """In chats with how many long replies a text is tried."""
    if text == "mixed":
        return (0, longest) if longest else (0,)
    return (longest,) if text == OPEN else (0,)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tokens", type=int, default=20_000)
    parser.add_argument("--rates", default="500,1000", help="tokens per second, with commas")
    parser.add_argument("--history", type=int, default=20, help="long replies already in the chat")
    parser.add_argument(
        "--texts", default=",".join([*TEXTS, OPEN]), help="what is written, with commas"
    )
    given = parser.parse_args()
    rates = [float(rate) for rate in given.rates.split(",")]
    wanted = [
        (text, given.tokens, rate, history)
        for text in given.texts.split(",")
        for history in histories(text, given.history)
        for rate in (rates[:1] if text == OPEN else rates)
    ]
    runs = []
    # Each in a process of its own: what is loaded or cached by one must not help the next.
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
        for each in wanted:
            runs.append(pool.submit(measure, *each).result())
            print(json.dumps(runs[-1]), file=sys.stderr)
    goal = {"longest_ms": GOAL_LONGEST * 1000, "p99_ms": GOAL_P99 * 1000}
    print(json.dumps({"goal": goal, "runs": runs}, indent=1))
    return 0 if all(run["kept"] for run in runs if run["tokens_per_second"] == GOAL_RATE) else 1


if __name__ == "__main__":
    sys.exit(main())
