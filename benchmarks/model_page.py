"""The page of a model of 60 quantizations: how long its pictures take, before any drawing.

PYTHONPATH=tests python benchmarks/model_page.py [MODEL]
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from header_only import MIXES, write_model
from hub_server import HubFile, HubServer, Repo
from machines import computer
from slipstream.cancel import CancelToken
from slipstream.engine.advice import Desk, Question, Subject, desk_for, look_up
from slipstream.engine.picker import Picker
from slipstream.engine.picture import OFF, Knobs
from slipstream.hub.connection import Connection, connect
from slipstream.planning.offer import Look, read_offer

REPO = "somebody/Test-Model-GGUF"
FILES = 60
FIRST_MS, NEXT_MS = 100.0, 16.0
"""What is wanted: from the header to the first picture, and a picture while the slider moves."""
COMPUTERS = {
    "main memory": computer(64),
    "one card, all fits": computer(64, 80),
    "one card, 12 GB": computer(64, 12),
    "two cards, 12 and 8 GB": computer(64, 12, 8),
}
CONTEXTS = [4096 + 1024 * step for step in range(40)]


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "qwen3.6-27b"
    folder = Path(tempfile.mkdtemp())
    os.environ["HF_HOME"], os.environ["SLIPSTREAM_HOME"] = str(folder), str(folder / "home")
    with HubServer(repository(folder, name)) as hub:
        os.environ["HF_ENDPOINT"] = hub.endpoint
        desk, cancel = desk_for(Question()), CancelToken()
        subject = look_up(REPO, Question(), desk, cancel, look=Look.HEADER)
        assert subject.offer
        # Again, with listing and header at hand: what is left is our own time.
        with connect() as connection:
            again = _best(lambda: _rows(subject, connection), 5)
        print(f"{name}: {len(subject.quantizations)} quantizations from one header: {again:.1f} ms")
        for words, where in COMPUTERS.items():
            there = replace(desk, computer=where, devices=where.devices)
            for drafter in (OFF, "auto"):
                _measure(words, subject, Knobs(16_384, drafter=drafter), there, again)
        picker = Picker(subject, desk)
        exact = _best(lambda: picker.picture(Knobs(16_384), cancel), 1)
        print(f"as the engine lays it out, the first time: {exact:.0f} ms")


def _measure(words: str, subject: Subject, knobs: Knobs, desk: Desk, rows: float) -> None:
    picker = Picker(subject, desk)
    began = time.perf_counter()
    picker.sketch(knobs, CancelToken())
    first = rows + (time.perf_counter() - began) * 1000
    spent = []
    for context in CONTEXTS:
        began = time.perf_counter()
        picker.sketch(replace(knobs, context=context), CancelToken())
        spent.append((time.perf_counter() - began) * 1000)
    typical, worst = statistics.median(spent), max(spent)
    print(
        f"{words}, drafter {knobs.drafter}: first {first:.1f} ms ({first / FIRST_MS:.2f} of what"
        f" is allowed), then {typical:.1f} ms ({typical / NEXT_MS:.2f}), worst {worst:.1f}"
    )


def _rows(subject: Subject, connection: Connection) -> None:
    """Make the rows of a repository whose listing and header are at hand."""
    assert subject.offer
    assert subject.address
    read_offer(
        subject.address,
        connection,
        computer(64, 12),
        (),
        CancelToken(),
        look=Look.HEADER,
        listing=subject.offer.listing,
    )


def _best(call: Callable[[], object], times: int) -> float:
    """Milliseconds of the quickest of some calls."""
    spent = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        spent.append(time.perf_counter() - began)
    return min(spent) * 1000


def repository(folder: Path, name: str) -> Repo:
    """Files that are all header, each with its true size."""
    plain = [label for label in MIXES if not label.startswith("UD-")]
    files = []
    for number, label in enumerate([*MIXES, *(f"UD-{label}" for label in plain)]):
        path = write_model(folder / "files", name, label if label in MIXES else label[3:])
        listed = f"{number:064x}"  # the content is a hole of many GB: its checksum is made up
        files.append(HubFile(f"{name}-{label}.gguf", path, listed_sha256=listed))
    files += [HubFile(f"notes-{number}.txt", b"text") for number in range(FILES - len(files))]
    return Repo(REPO, files)


if __name__ == "__main__":
    main()
