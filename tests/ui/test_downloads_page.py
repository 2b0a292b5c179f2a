"""Downloads in the window: the tray, the badge and the full list, with a real queue and Hub."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QObject, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton, QVBoxLayout, QWidget

from downloading import HURRIED, MIB, item_of, sent, served
from hub_server import TOKEN, HubFile, HubServer, Made, Repo
from slipstream import settings
from slipstream.hub.downloads.orders import Order, Pairing
from slipstream.hub.downloads.queue import Downloads
from slipstream.hub.downloads.records import Records
from slipstream.paths import downloads_folder
from slipstream.ui.downloads.board import DownloadBoard
from slipstream.ui.downloads.list_page import DownloadsPage
from slipstream.ui.downloads.row import DownloadRow
from slipstream.ui.downloads.tray import DownloadBadge, DownloadTray
from slipstream.ui.look import Look
from slipstream.ui.preferences import Preferences
from slipstream.ui.widgets.notice_bar import Notice
from slipstream.ui.work import Work

Until = Callable[..., None]
BIG, SMALL, OTHER = "maker/big-GGUF", "maker/small-GGUF", "maker/other-GGUF"
DRAFTER = "mtp-big-Q8_0.gguf"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    big = [HubFile("big-Q4_K_M.gguf", Made(4 * MIB, 1)), HubFile(DRAFTER, Made(MIB, 2))]
    with served(
        monkeypatch,
        tmp_path,
        Repo(BIG, big),
        Repo(SMALL, [HubFile("small-Q8_0.gguf", Made(MIB, 3))]),
        Repo(OTHER, [HubFile("other-Q8_0.gguf", Made(MIB, 4))]),
    ) as server:
        yield server


@dataclass
class Desk:
    """Everything that shows downloads, in one window, and what it told."""

    window: QWidget
    work: Work
    board: DownloadBoard
    tray: DownloadTray
    badge: DownloadBadge
    page: DownloadsPage
    finished: list[Path] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)

    def row(self, title: str) -> DownloadRow:
        (found,) = (row for row in self.page.rows.values() if row.standing.title == title)
        return found

    def state(self, title: str) -> str:
        """What the list says of a download; empty if it is not there."""
        rows = [row for row in self.page.rows.values() if row.standing.title == title]
        return rows[0].state if rows else ""

    def done(self, title: str) -> int:
        """Bytes that have arrived."""
        rows = [row for row in self.page.rows.values() if row.standing.title == title]
        return rows[0].standing.progress.done if rows else 0

    def end(self) -> None:
        self.work.stop(5)
        self.board.shut_down()
        self.window.close()
        shiboken6.delete(self.window)


@pytest.fixture
def open_desk(qapp: QApplication, hub: HubServer) -> Iterator[Callable[..., Desk]]:
    desks: list[Desk] = []

    def build(open_queue: Callable[[], Downloads] = Downloads) -> Desk:
        preferences = Preferences()
        work, look = Work(preferences), Look(preferences)
        board = DownloadBoard(work, preferences, open_queue)
        window = QWidget()
        parts = DownloadTray(look, board), DownloadBadge(look, board), DownloadsPage(look, board)
        column = QVBoxLayout(window)
        for part in parts:
            column.addWidget(part)
        desk = Desk(window, work, board, *parts)
        board.finished.connect(lambda _one, path: desk.finished.append(path))
        board.failed.connect(lambda one: desk.failed.append(one.entry.record.error.code))
        board.noticed.connect(desk.notices.append)
        window.resize(900, 700)
        window.show()
        board.start()
        desks.append(desk)
        return desk

    yield build
    for desk in desks:
        if shiboken6.isValid(desk.window):
            desk.end()


@pytest.fixture
def desk(open_desk: Callable[[], Desk]) -> Desk:
    return open_desk()


def order_of(hub: HubServer, name: str, folder: Path | None = None) -> Order:
    pairing = Pairing(BIG, DRAFTER) if name == BIG else None
    return Order((item_of(hub.repos[name]),), folder, pairing)


def press(button: QPushButton) -> None:
    QApplication.processEvents()  # a new row shows with the next turn of the event loop
    assert button.isVisible()
    assert button.accessibleName() or button.text()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def answer(row: DownloadRow, words: str) -> None:
    """Answer the question that a row asks."""
    (question,) = row.findChildren(QMessageBox)
    (button,) = (each for each in question.buttons() if each.text() == words)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_from_nothing_to_chat_now(desk: Desk, hub: HubServer, until: Until) -> None:
    until(lambda: desk.work.idle)
    assert desk.page.empty
    assert not desk.tray.isVisible()
    assert not desk.badge.isVisible()
    hub.sending.rate = 6 * MIB
    desk.board.add(order_of(hub, BIG))
    until(lambda: desk.done("big Q4_K_M") > MIB)
    row = desk.row("big Q4_K_M")
    until(lambda: "left" in row.numbers)
    assert "of 4 MB · drafter 1 MB" in row.pieces
    assert "drafter next" in desk.tray.accessibleName()
    assert "MB/s" in desk.tray.accessibleName()
    assert row.bar.accessibleDescription().endswith("of 5 MB")
    assert desk.badge.text().endswith("%")
    desk.page.hide()
    until(lambda: bool(desk.finished))
    assert desk.finished[0].name == "big-Q4_K_M.gguf"
    assert desk.finished[0].stat().st_size == 4 * MIB
    assert "Finished: big Q4_K_M" in desk.tray.accessibleName()
    asked: list[Path] = []
    desk.tray.chat_wanted.connect(asked.append)
    press(desk.tray.chat)
    assert asked == desk.finished
    assert not desk.tray.isVisible()
    desk.page.chat_wanted.connect(asked.append)
    desk.page.show()
    press(row.chat)
    assert asked == desk.finished * 2
    press(desk.page.clear)
    until(lambda: desk.page.empty)
    assert desk.finished[0].exists()


def test_the_tray_and_the_badge_open_the_list_with_the_keyboard(
    desk: Desk, hub: HubServer, until: Until
) -> None:
    hub.sending.rate = MIB
    desk.board.add(order_of(hub, BIG))
    until(lambda: desk.tray.isVisible() and desk.badge.isVisible())
    opened: list[str] = []
    desk.tray.opened.connect(lambda: opened.append("tray"))
    desk.badge.opened.connect(lambda: opened.append("badge"))
    for each in (desk.tray, desk.badge):
        each.setFocus()
        QTest.keyClick(each, Qt.Key.Key_Space)
    assert opened == ["tray", "badge"]


def test_pause_and_resume(desk: Desk, hub: HubServer, until: Until) -> None:
    hub.sending.rate = 4 * MIB
    desk.board.add(order_of(hub, BIG))
    until(lambda: desk.done("big Q4_K_M") > MIB)
    row = desk.row("big Q4_K_M")
    press(row.pause)
    until(lambda: row.state == "Paused")
    assert "Paused" in desk.tray.accessibleName()
    assert not row.pause.isVisible()
    hub.sending.rate = 0
    press(row.resume)
    until(lambda: row.state == "Done")
    assert sent(hub) <= 7 * MIB


def ways(row: DownloadRow) -> list[str]:
    """What helps after its failure."""
    return [button.text() for button in row.trouble.buttons()]


def way(row: DownloadRow, words: str) -> QPushButton:
    return next(button for button in row.trouble.buttons() if button.text() == words)


def test_a_failure_says_what_helps_and_does_not_keep_the_others(
    desk: Desk, hub: HubServer, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.repos[BIG].gated = "auto"
    desk.board.add(order_of(hub, BIG))
    desk.board.add(order_of(hub, SMALL))
    until(lambda: desk.state("big Q4_K_M") == "Failed" and desk.state("small Q8_0") == "Done")
    assert desk.failed == ["gated"]
    row = desk.row("big Q4_K_M")
    trouble = row.trouble
    assert "only for signed-in people" in trouble.text
    assert "HF_TOKEN" not in trouble.text
    assert not trouble.facts
    press(trouble.details)
    assert "HTTP status: 401" in trouble.facts
    asked: list[str] = []
    desk.page.token_wanted.connect(asked.append)
    assert ways(row) == ["Enter a token", "Try again", "Open its page"]
    press(way(row, "Enter a token"))
    assert asked == [row.standing.id]
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    press(way(row, "Try again"))
    until(lambda: ways(row) == ["Open its page", "Try again"])
    hub.repos[BIG].gated = False
    desk.board.resume(asked[0])
    until(lambda: row.state == "Done")
    assert not trouble.isVisible()


class Opener(QObject):
    """Stands for the programs of the system that open addresses."""

    def __init__(self, *schemes: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        for scheme in schemes:
            QDesktopServices.setUrlHandler(scheme, self, "take")  # type: ignore[arg-type]

    @Slot(QUrl)
    def take(self, url: QUrl) -> None:
        self.opened.append(url.toString())


@pytest.fixture
def opener() -> Iterator[Opener]:
    made = Opener("file", "http")
    yield made
    for scheme in ("file", "http"):
        QDesktopServices.unsetUrlHandler(scheme)


def test_the_page_of_a_repository_and_the_folder_of_a_file_can_be_shown(
    desk: Desk, hub: HubServer, until: Until, opener: Opener, tmp_path: Path
) -> None:
    hub.repos[BIG].gated = "auto"
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "small-Q8_0.gguf").write_bytes(b"another file")
    desk.board.add(order_of(hub, BIG))
    desk.board.add(order_of(hub, SMALL, folder))
    desk.board.add(order_of(hub, OTHER, folder))
    until(lambda: [desk.state(t) for t in ("small Q8_0", "other Q8_0")] == ["Failed", "Done"])
    press(way(desk.row("big Q4_K_M"), "Open its page"))
    press(way(desk.row("small Q8_0"), "Show the folder"))
    if sys.platform == "linux":
        press(desk.row("other Q8_0").folder)
    shown = QUrl.fromLocalFile(str(folder)).toString()
    assert opener.opened[:2] == [f"{hub.endpoint}/{BIG}", shown]
    assert opener.opened[2:] in ([], [shown])


def test_a_damaged_file_is_told_and_can_be_tried_again(
    desk: Desk, hub: HubServer, until: Until
) -> None:
    hub.repos[SMALL].files[0].sending.corrupt_at = 1000
    desk.board.add(order_of(hub, SMALL))
    until(lambda: desk.state("small Q8_0") == "Failed")
    row = desk.row("small Q8_0")
    assert "arrived damaged" in row.trouble.text
    hub.repos[SMALL].files[0].sending.corrupt_at = None
    assert ways(row) == ["Try again"]
    press(way(row, "Try again"))
    until(lambda: row.state == "Done")


def test_it_says_what_it_waits_for(desk: Desk, hub: HubServer, until: Until) -> None:
    hub.faults.resolve += [429]
    hub.faults.retry_after = 1
    desk.board.add(order_of(hub, SMALL))
    until(lambda: desk.state("small Q8_0") == "Tries again in 1 s: the Hub is busy")
    until(lambda: desk.state("small Q8_0") == "Done")


def test_what_the_network_broke_off_is_tried_again_and_says_when(
    open_desk: Callable[..., Desk], hub: HubServer, until: Until
) -> None:
    desk = open_desk(lambda: Downloads(patience=HURRIED, waits=(50.0,)))
    hub.faults.resolve += [503] * HURRIED.tries
    desk.board.add(order_of(hub, SMALL))
    until(lambda: "cannot answer now" in desk.state("small Q8_0"))
    row = desk.row("small Q8_0")
    assert row.state.startswith("127.0.0.1 cannot answer now.")
    assert "Tries again" in desk.tray.accessibleName()
    assert desk.badge.text() == "Waiting"
    assert desk.failed == []
    press(row.pause)
    until(lambda: row.state == "Paused")
    assert row.resume.accessibleName() == "Go on with small Q8_0"
    press(row.resume)
    until(lambda: row.state == "Done")


def test_the_keyboard_stays_at_the_button_that_tries_again_now(
    open_desk: Callable[..., Desk], hub: HubServer, until: Until
) -> None:
    desk = open_desk(lambda: Downloads(patience=HURRIED, waits=(50.0,)))
    hub.faults.resolve += [503] * HURRIED.tries
    desk.board.add(order_of(hub, SMALL))
    until(lambda: "cannot answer now" in desk.state("small Q8_0"))
    row = desk.row("small Q8_0")
    assert row.resume.accessibleName() == "Try small Q8_0 again now"
    row.resume.setFocus()
    until(lambda: 0 < (row.standing.entry.again or 0) < 49)
    assert row.resume.hasFocus()
    QTest.keyClick(row.resume, Qt.Key.Key_Space)
    until(lambda: row.state == "Done")


def test_cancel_asks_whether_to_keep_what_arrived(
    desk: Desk, hub: HubServer, until: Until, tmp_path: Path
) -> None:
    def parts() -> list[Path]:
        return list(tmp_path.rglob("*.part"))

    hub.sending.rate = 3 * MIB
    desk.board.add(order_of(hub, BIG))
    until(lambda: desk.done("big Q4_K_M") > MIB // 2)
    press(desk.row("big Q4_K_M").cancel)
    answer(desk.row("big Q4_K_M"), "Do not cancel")
    assert desk.state("big Q4_K_M") == "Downloading"
    press(desk.row("big Q4_K_M").cancel)
    answer(desk.row("big Q4_K_M"), "Cancel and keep it")
    until(lambda: desk.page.empty)
    assert parts()
    desk.board.add(order_of(hub, BIG))
    until(lambda: desk.done("big Q4_K_M") > MIB)
    press(desk.row("big Q4_K_M").cancel)
    answer(desk.row("big Q4_K_M"), "Cancel and delete it")
    until(lambda: desk.page.empty and not parts())
    assert not desk.tray.isVisible()


def test_what_has_not_begun_is_cancelled_without_a_question(
    desk: Desk, hub: HubServer, until: Until
) -> None:
    hub.sending.rate = MIB
    desk.board.add(order_of(hub, BIG))
    desk.board.add(order_of(hub, SMALL))
    until(lambda: desk.state("small Q8_0") == "Waiting for its turn")
    press(desk.row("small Q8_0").cancel)
    until(lambda: desk.page.titles == ["big Q4_K_M"])


def test_the_order_is_changed_with_buttons_and_keys(
    desk: Desk, hub: HubServer, until: Until
) -> None:
    hub.sending.rate = MIB
    for name in (BIG, SMALL, OTHER):
        desk.board.add(order_of(hub, name))
    big, small, other = "big Q4_K_M", "small Q8_0", "other Q8_0"
    until(lambda: desk.page.titles == [big, small, other])
    row = desk.row(other)
    press(row.up)
    until(lambda: desk.page.titles == [big, other, small])
    row.cancel.setFocus()
    QTest.keyClick(row.cancel, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    until(lambda: desk.page.titles == [other, big, small])
    assert row.cancel.hasFocus()
    assert not row.up.isEnabled()
    QTest.keyClick(row.cancel, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    until(lambda: desk.page.titles == [big, other, small])


def test_the_speed_limit_acts_at_once(desk: Desk, hub: HubServer, until: Until) -> None:
    desk.page.limit.setValue(1)
    desk.board.add(order_of(hub, BIG))
    until(lambda: "left" in (desk.row("big Q4_K_M").numbers if desk.page.rows else ""))
    assert desk.row("big Q4_K_M").standing.progress.speed < 2_500_000  # type: ignore[operator]
    assert settings.load().settings.download_limit == 1
    desk.page.limit.setValue(0)
    assert desk.page.limit.text() == "None"
    until(lambda: desk.state("big Q4_K_M") == "Done", 3)


def test_a_new_start_goes_on_with_what_was_running(
    open_desk: Callable[[], Desk], hub: HubServer, until: Until
) -> None:
    hub.sending.rate = 4 * MIB
    first = open_desk()
    first.board.add(order_of(hub, BIG))
    first.board.add(order_of(hub, SMALL))
    until(lambda: first.done("big Q4_K_M") > MIB)
    first.end()
    hub.sending.rate = 0
    second = open_desk()
    until(lambda: [second.state(t) for t in ("big Q4_K_M", "small Q8_0")] == ["Done", "Done"])
    assert [path.name for path in second.finished] == ["big-Q4_K_M.gguf", "small-Q8_0.gguf"]
    assert sent(hub) < 9 * MIB
    second.end()
    third = open_desk()
    until(lambda: third.state("small Q8_0") == "Done")
    assert not third.finished  # it is no news
    assert not third.tray.isVisible()


def test_a_list_that_cannot_be_read_for_a_while_goes_on_afterwards(
    desk: Desk, hub: HubServer, until: Until
) -> None:
    until(lambda: desk.board.standings == () and not desk.page.rows)
    folder = downloads_folder()
    aside = folder.rename(folder.with_name("aside"))
    folder.write_text("in its way")
    desk.board.add(order_of(hub, SMALL))
    until(lambda: bool(desk.notices))
    assert desk.finished == []
    folder.unlink()
    aside.rename(folder)
    desk.board.add(order_of(hub, OTHER))
    until(lambda: desk.state("other Q8_0") == "Done")
    assert desk.state("small Q8_0") == ""


def test_what_another_program_downloads_is_shown_and_left_alone(
    desk: Desk, hub: HubServer, until: Until
) -> None:
    until(lambda: desk.work.idle)
    records = Records(downloads_folder())
    record = records.add(order_of(hub, BIG), "paused")
    lock = records.hold(record.id)
    assert lock is not None
    records.set_stage(record.id, "running")
    desk.page.hide()
    desk.page.show()
    until(lambda: desk.state("big Q4_K_M") == "Another program is at it")
    row = desk.row("big Q4_K_M")
    assert not row.pause.isVisible()
    assert not row.cancel.isVisible()
    desk.board.pause(record.id)
    until(lambda: bool(desk.notices))
    assert "Another program" in desk.notices[0].text
    lock.release()
    desk.board.add(order_of(hub, SMALL))
    until(lambda: row.state == "Done")


def test_the_library_hears_of_what_another_program_completed(
    desk: Desk, hub: HubServer, until: Until
) -> None:
    heard: list[bool] = []
    desk.board.ended_elsewhere.connect(lambda: heard.append(True))
    records = Records(downloads_folder())
    record = records.add(order_of(hub, BIG), "paused")
    lock = records.hold(record.id)
    assert lock is not None
    records.set_stage(record.id, "running")
    desk.page.hide()
    desk.page.show()
    until(lambda: desk.state("big Q4_K_M") == "Another program is at it")
    records.remove(record.id)
    until(lambda: desk.state("big Q4_K_M") == "")
    assert heard == [True]
    lock.release()


def test_what_was_asked_for_just_before_the_end_is_not_lost(
    desk: Desk, hub: HubServer, until: Until, open_desk: Callable[[], Desk]
) -> None:
    until(lambda: desk.work.idle)
    desk.board.add(order_of(hub, SMALL))
    desk.board.add(order_of(hub, OTHER))
    desk.board.shut_down()
    kept = Records(downloads_folder()).all()
    assert {one.order.items[0].repo for one in kept} == {SMALL, OTHER}


def test_what_was_asked_for_before_the_queue_was_open_is_not_lost(
    qapp: QApplication, hub: HubServer
) -> None:
    board = DownloadBoard(Work(), Preferences())
    board._wishes.append(lambda queue: queue.add(order_of(hub, SMALL)))
    board.shut_down()
    assert [one.order.items[0].repo for one in Records(downloads_folder()).all()] == [SMALL]


def test_the_same_is_not_downloaded_twice(desk: Desk, hub: HubServer, until: Until) -> None:
    hub.sending.rate = 8 * MIB
    for _ in range(2):
        desk.board.add(order_of(hub, SMALL))
    until(lambda: desk.state("small Q8_0") == "Done")
    assert len(desk.page.rows) == 1
    desk.board.add(order_of(hub, SMALL))
    until(lambda: len(desk.finished) == 2)
    assert len(desk.page.rows) == 1


def test_models_of_one_name_are_told_apart_by_their_repository(
    desk: Desk, hub: HubServer, until: Until
) -> None:
    other = "somebody/small-GGUF"
    hub.repos[other] = Repo(other, [HubFile("small-Q8_0.gguf", Made(MIB, 5))])
    desk.board.add(order_of(hub, SMALL))
    desk.board.add(order_of(hub, OTHER))
    until(lambda: desk.state("other Q8_0") == "Done")
    assert desk.row("small Q8_0").state == "Done"
    desk.board.add(order_of(hub, other))
    until(lambda: len(desk.finished) == 3)
    assert set(desk.page.titles) == {
        f"small Q8_0 ({SMALL})",
        "other Q8_0",
        f"small Q8_0 ({other})",
    }
    row = desk.row(f"small Q8_0 ({other})")
    assert row.chat.accessibleName() == f"Chat now with small Q8_0 ({other})"
    assert f"Finished: small Q8_0 ({other})" in desk.tray.accessibleName()


def test_every_control_has_a_name(desk: Desk, hub: HubServer, until: Until) -> None:
    hub.repos[BIG].gated = "auto"
    desk.board.add(order_of(hub, BIG))
    desk.board.add(order_of(hub, SMALL))
    until(lambda: desk.state("small Q8_0") == "Done")
    for button in desk.window.findChildren(QPushButton):
        if button.isVisible():
            assert button.accessibleName() or button.text()
            assert button.focusPolicy() & Qt.FocusPolicy.TabFocus
    assert desk.row("small Q8_0").cancel.accessibleName() == "Take small Q8_0 out of this list"
    assert desk.row("big Q4_K_M").accessibleName().startswith("big Q4_K_M, 0 percent, 0 of 5 MB")


def test_the_window_starts_without_the_modules_of_the_hub() -> None:
    code = (
        "import sys, slipstream.ui.downloads.list_page, slipstream.ui.downloads.tray\n"
        "sys.exit(bool({'httpx2', 'huggingface_hub'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
