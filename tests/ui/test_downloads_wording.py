"""What the window says about downloads, and which button helps."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from slipstream.errors import Fact, SlipstreamError
from slipstream.hub.downloads.contents import pieces_of
from slipstream.hub.downloads.orders import Item, Order, Pairing
from slipstream.hub.downloads.progress import FileProgress, Progress, State
from slipstream.hub.downloads.queue import Entry
from slipstream.hub.downloads.records import Record, Stage
from slipstream.hub.downloads.standing import Standing
from slipstream.hub.files import RepoFile
from slipstream.ui.downloads import wording
from slipstream.ui.downloads.brief import brief
from slipstream.ui.downloads.wording import Phase, Step

GB = 1_000_000_000
REPO = "ggml-org/gemma-4-E4B-it-GGUF"
NAMES = ("gemma-4-E4B-Q4_K_M.gguf", "mtp-gemma-4-E4B-Q8_0.gguf", "mmproj-F16.gguf")
SIZES = (4_600_000_000, 310_000_000, 90_000_000)
FILES = tuple(RepoFile(n, s, "a" * 64, "a" * 64) for n, s in zip(NAMES, SIZES, strict=True))
ORDER = Order((Item(REPO, "c" * 40, "main", FILES),), None, Pairing(REPO, NAMES[1]))


def progress(*done: int, at: int = 0, state: State = "downloading", **more: object) -> Progress:
    """How far each file is; the file number ``at`` is worked on."""
    files = [
        FileProgress(REPO, name, have, size, "done" if have == size else "pending")
        for name, size, have in zip(NAMES, SIZES, (*done, 0, 0, 0)[:3], strict=True)
    ]
    files[at] = replace(files[at], state=state, **more)  # type: ignore[arg-type]
    return Progress(tuple(files))


def standing(
    stage: Stage = "running",
    now: Progress | None = None,
    *,
    name: str = "one",
    runs: bool = True,
    error: SlipstreamError | None = None,
    target: Path | None = None,
    **entry: Any,
) -> Standing:
    shown = now or progress(3_100_000_000)
    record = Record(name, ORDER, stage, error=error)
    made = Entry(record, shown if runs and stage == "running" else None, **entry)
    return Standing(made, "gemma-4-E4B Q4_K_M", shown, pieces_of(ORDER, shown), target, None)


def failed(code: str, **facts: Fact) -> SlipstreamError:
    return SlipstreamError(code, "It failed.", facts=facts, action="Do something.")


def test_what_happens_is_said_in_plain_words() -> None:
    said = {
        "Waiting for its turn": standing("waiting"),
        "Downloading": standing(),
        "Connecting": standing(now=progress(state="resolving")),
        "Checking what arrived": standing(now=progress(state="checking")),
        "Tries again in 20 s: the Hub is busy": standing(
            now=progress(state="waiting", seconds=20.0, why="the Hub is busy")
        ),
        "Waiting: another program is downloading this file": standing(
            now=progress(state="waiting", why="another program is downloading this file")
        ),
        "It failed. Tries again in 5 min.": standing(
            "waiting", error=failed("offline"), again=300.0
        ),
        "Paused": standing("paused"),
        "Failed": standing("failed"),
        "Another program is at it": standing(runs=False, elsewhere=True),
        "Was interrupted; goes on when its turn comes": standing(runs=False, interrupted=True),
        "Done": standing("done", target=Path("model.gguf")),
        "Done; its files were removed since": standing("done"),
    }
    assert [wording.state(one) for one in said.values()] == list(said)


def test_numbers_as_far_as_they_are_known() -> None:
    now = progress(3_100_000_000)
    assert wording.numbers(standing(now=now)) == "3.1 of 5.0 GB"
    now = replace(now, speed=48_000_000.0)
    assert wording.numbers(standing(now=now)) == "3.1 of 5.0 GB · 48 MB/s · 40 s left"
    assert wording.numbers(standing("paused", now)) == "3.1 of 5.0 GB"
    assert wording.spoken(standing(now=now)) == "62 percent, 3.1 of 5.0 GB"


def test_all_is_there_only_when_all_is_there() -> None:
    assert wording.percent(progress(SIZES[0], SIZES[1], SIZES[2] - 1)) == 99
    assert wording.percent(progress(*SIZES)) == 100


def test_pieces_are_called_what_they_are() -> None:
    begun = standing(now=progress(3_100_000_000))
    assert wording.pieces(begun) == "Model 3.1 of 4.6 GB · drafter 310 MB · projector 90 MB"
    assert wording.following(begun) == "drafter next"
    second = standing(now=progress(SIZES[0], 1_000_000, at=1))
    assert wording.pieces(second) == "Model 4.6 GB, done · drafter 1 of 310 MB · projector 90 MB"
    assert wording.following(second) == "now the drafter"
    done = standing("done", Progress(tuple(replace(f, state="done") for f in begun.progress.files)))
    assert wording.pieces(done) == "Model 4.6 GB · drafter 310 MB · projector 90 MB"


@pytest.mark.parametrize(
    ("error", "way", "page"),
    [
        (failed("offline"), Step.AGAIN, ""),
        (failed("checksum_mismatch"), Step.AGAIN, ""),
        (failed("disk_full", path="/x"), Step.FOLDER, ""),
        (failed("file_exists", path="/x"), Step.FOLDER, ""),
        (failed("bad_token", http_status=401), Step.TOKEN, ""),
        (failed("forbidden", http_status=403), Step.TOKEN, ""),
        (failed("gated", http_status=401, page="https://hub/a/b"), Step.TOKEN, "https://hub/a/b"),
        (failed("gated", http_status=403, page="https://hub/a/b"), Step.PAGE, "https://hub/a/b"),
        (failed("gated", http_status=403, page="file:///etc/passwd"), Step.TOKEN, ""),
        (failed("repo_not_found", http_status=401), Step.TOKEN, ""),
        (failed("repo_not_found", http_status=404), Step.AGAIN, ""),
        (failed("changed_on_hub"), Step.LOOK, ""),
    ],
)
def test_one_button_helps(error: SlipstreamError, way: Step, page: str) -> None:
    offered = wording.help_for(error)
    assert (offered.step, offered.page) == (way, page)
    assert offered.button
    assert offered.advice


def test_a_download_moves_among_those_that_are_not_finished() -> None:
    names = ["a", "b", "c"]
    assert wording.neighbour(names, "c", -1) == (True, "b")
    assert wording.neighbour(names, "a", 1) == (True, "c")
    assert wording.neighbour(names, "b", 1) == (True, None)
    assert wording.neighbour(names, "a", -1) == (False, None)
    assert wording.neighbour(names, "c", 1) == (False, None)


def test_the_tray_shows_what_matters_most() -> None:
    runs = standing(now=replace(progress(3_100_000_000), speed=48_000_000.0), name="runs")
    wrong = standing("failed", name="wrong", error=failed("offline"))
    waits, paused = standing("waiting", name="waits"), standing("paused", name="paused")
    done = standing("done", name="done", target=Path("model.gguf"))
    assert brief([], []) is None
    assert brief([done], []) is None
    shown = brief([done, wrong, runs, waits, paused], ["done"])
    assert shown is not None
    assert shown.title == "gemma-4-E4B Q4_K_M"
    numbers = "3.1 of 5.0 GB · 48 MB/s · 40 s left"
    assert shown.detail == f"{numbers} · drafter next · 3 more · 1 failed"
    assert shown.spoken.startswith("gemma-4-E4B Q4_K_M, 62 percent, 3.1 of 5.0 GB")
    shown = brief([done, wrong, waits], ["done"])
    assert shown is not None
    assert (shown.title, shown.chat) == ("Finished: gemma-4-E4B Q4_K_M", True)
    shown = brief([done, wrong, paused], [])
    assert shown is not None
    assert (shown.title, shown.chat) == ("Failed: gemma-4-E4B Q4_K_M", False)
    shown = brief([paused], [])
    assert shown is not None
    assert shown.detail == "3.1 of 5.0 GB · Paused"


def test_of_several_that_were_finished_the_newest_is_shown() -> None:
    done = [standing("done", name=name, target=Path(name)) for name in "abc"]
    shown = brief(done, ["c", "a"])
    assert shown is not None
    assert (shown.one.id, shown.detail) == ("a", "1 more")


def test_lines_break_between_the_parts() -> None:
    text = "3.1 of 5.0 GB · drafter next"
    assert wording.unbroken(text).split(" ") == [
        "3.1\u00a0of\u00a05.0\u00a0GB\u00a0·",
        "drafter\u00a0next",
    ]


def test_every_phase_has_its_words() -> None:
    assert {wording.phase_of(standing(stage).entry) for stage in ("paused", "failed", "done")} == {
        Phase.PAUSED,
        Phase.FAILED,
        Phase.DONE,
    }
