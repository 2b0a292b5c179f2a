"""The models on this computer: every one is listed, and can be removed with undo."""

import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from gguf_files import write_dflash, write_eagle3, write_projector, write_target
from local_stores import MAIN, in_cache, in_ollama, own_stores
from slipstream.drafters.identify import FileRole
from slipstream.hub.downloads.orders import Item, Order
from slipstream.hub.downloads.records import Records
from slipstream.hub.files import RepoFile
from slipstream.hub.library import watch as watching
from slipstream.hub.library.models import Library, LocalModel, Place
from slipstream.hub.library.stored import LocalFile, Source
from slipstream.hub.library.uses import note_use
from slipstream.paths import downloads_folder
from slipstream.ui.library.folders import Drops
from slipstream.ui.library.local_list import LocalList
from slipstream.ui.library.overview import Overview
from slipstream.ui.library.rows import Order as SortedBy
from slipstream.ui.library.shelf import Found, Shelf
from slipstream.ui.look import Look
from slipstream.ui.preferences import Preferences
from slipstream.ui.widgets.notice_bar import Notice
from slipstream.ui.work import Work

Until = Callable[..., None]
REPO = "owner/Test-GGUF"


class EngineOfTests:
    """What removals know of an engine; ``slow`` is one that takes its time to end."""

    def __init__(self) -> None:
        self.model_in_use: Path | None = None
        self.wanted: Path | None = None
        self.slow = False
        self.unloaded = 0

    @property
    def leaving(self) -> bool:
        return self.wanted != self.model_in_use

    def load(self, path: Path) -> None:
        self.wanted = self.model_in_use = path

    def unload(self) -> Callable[[], None]:
        self.unloaded += 1
        before, self.wanted = self.wanted, None
        assert before is not None
        if not self.slow:
            self.model_in_use = None
        return lambda: None if self.wanted else self.load(before)


class Desk:
    """The lists of local models, as a window holds them."""

    def __init__(self, until: Until, folder: Path) -> None:
        self.until = until
        self.folder = folder
        self.cache = folder.parent / "cache"
        self.engine = EngineOfTests()
        self.preferences = Preferences()
        self.preferences.set("model_folders", (str(folder),))
        self.work = Work()
        self.shelf = Shelf(self.work, self.preferences, self.engine)
        look = Look()
        self.page = Overview(look, self.shelf)
        self.list = LocalList(look, self.shelf)
        self.notices: list[Notice] = []
        self.shelf.noticed.connect(self.notices.append)
        self.page.noticed.connect(self.notices.append)

    def look(self) -> "Desk":
        self.shelf.refresh()
        return self.idle()

    def idle(self) -> "Desk":
        self.until(lambda: self.work.idle)
        return self

    def model(self, name: str) -> LocalModel:
        return next(one for one in self.shelf.library.models if one.path.name == name)

    def names(self) -> list[str]:
        return [one.path.name for one in self.shelf.library.models]

    def titles(self) -> list[str]:
        return [row.title for row in self.page.list.rows]

    def pills(self, name: str) -> list[str]:
        key = str(self.model(name).path)
        return [pill.words for row in self.page.list.rows if row.key == key for pill in row.pills]

    def ask(self, name: str) -> None:
        """Select a model and press Delete."""
        self.page.list.select(str(self.model(name).path))
        QTest.keyClick(self.page.list, Qt.Key.Key_Delete)
        self.idle()

    def remove(self, name: str) -> None:
        self.ask(name)
        self.page.question.remove.click()


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until: Until, qapp: QApplication
) -> Iterator[Desk]:
    computer = tmp_path / "computer"
    computer.mkdir()
    own_stores(computer, monkeypatch)
    (computer / "models").mkdir()
    made = Desk(until, computer / "models")
    yield made
    made.shelf.finalise_all()
    made.work.stop(10)


@pytest.fixture
def several(desk: Desk, tmp_path: Path) -> Desk:
    """Two quantizations that share a projector, one of them used; and one in a folder."""
    for number, quant in enumerate(("Q4_K_M", "Q8_0")):
        file = write_target(
            tmp_path / f"Test-{quant}.gguf", "qwen35", name="Test", padding=1 + number, mtp=1
        )
        entry = in_cache(desk.cache, REPO, file)
    in_cache(desk.cache, REPO, write_projector(tmp_path / "mmproj-F16.gguf"))
    note_use(entry)
    write_target(desk.folder / "Own-Q8_0.gguf", name="Own", padding=50)
    write_dflash(desk.folder / "dflash-Own-Q8_0.gguf", name="Own")
    return desk.look()


def test_every_model_is_listed_with_what_belongs_to_it(several: Desk) -> None:
    assert several.titles() == ["Own Q8_0", "Test Q4_K_M", "Test Q8_0"]
    assert several.pills("Own-Q8_0.gguf") == ["DFlash"]
    assert several.pills("Test-Q8_0.gguf") == ["MTP inside", "Reads images"]
    own, _, used = several.page.list.rows
    assert (own.note, used.note) == ("models", "Hugging Face cache · used today")
    assert own.spoken == f"Own Q8_0, DFlash, {own.amount}, models"
    assert several.page.summary.startswith("3 models, ")
    assert " free on this disk" in several.page.summary
    narrow = several.list.list.rows[0]
    assert narrow.detail == f"{own.amount} · models"
    assert narrow.spoken == f"Own Q8_0, {narrow.detail}, DFlash"


def test_the_list_is_filtered_and_sorted(several: Desk) -> None:
    several.page.filter.setText("q8 test")
    assert several.titles() == ["Test Q8_0"]
    several.page.filter.setText("nothing")
    assert several.titles() == []
    assert "is called so" in several.page.nothing.text
    several.page.filter.clear()
    for order, first in ((SortedBy.SIZE, "Own Q8_0"), (SortedBy.USED, "Test Q8_0")):
        several.page.order.show_value(order)
        several.page.order.chosen.emit(order)
        assert several.titles()[0] == first
    several.list.show_filtered("models")
    assert [row.title for row in several.list.list.rows] == ["Own Q8_0"]


def test_the_question_tells_what_goes_and_what_stays(several: Desk) -> None:
    several.ask("Test-Q4_K_M.gguf")
    text = several.page.question.text
    assert text.startswith("Remove Test Q4_K_M?\nGoes: Test Q4_K_M (")
    assert "Stays: mmproj-F16.gguf: Test Q8_0 needs it." in text
    assert "It disappears from the Hugging Face cache." in text
    QTest.keyClick(several.page.question.keep, Qt.Key.Key_Escape)
    assert several.page.question.proposal is None
    assert "Test-Q4_K_M.gguf" in several.names()


def test_a_removed_model_is_gone_at_once_and_comes_back(several: Desk) -> None:
    file = several.model("Own-Q8_0.gguf").path
    several.remove("Own-Q8_0.gguf")
    assert several.titles() == ["Test Q4_K_M", "Test Q8_0"]
    assert [row.title for row in several.list.list.rows] == ["Test Q4_K_M", "Test Q8_0"]
    notice = several.notices[-1]
    assert notice.text.startswith("Own Q8_0 was removed. That frees ")
    assert notice.button == "Undo"
    several.look()
    assert "Own-Q8_0.gguf" not in several.names()
    assert file.exists()
    assert notice.act is not None
    notice.act()
    assert several.titles()[0] == "Own Q8_0"
    several.shelf.finalise_all()
    assert file.exists()


def test_the_notice_tells_what_stays(several: Desk) -> None:
    several.remove("Test-Q4_K_M.gguf")
    assert several.notices[-1].text.endswith(" mmproj-F16.gguf stays. Test Q8_0 needs it.")


def test_a_removal_becomes_final_with_time(desk: Desk, until: Until) -> None:
    file = write_target(desk.folder / "a.gguf")
    withdrawn: list[Notice] = []
    desk.shelf.withdrawn.connect(withdrawn.append)
    desk.look()
    desk.shelf._removals._timer.setInterval(30)
    desk.remove("a.gguf")
    until(lambda: not file.exists())
    desk.idle()
    assert desk.names() == []
    assert withdrawn == desk.notices
    desk.shelf.undo()
    assert desk.names() == []


def test_another_removal_and_the_end_of_the_app_make_it_final(several: Desk) -> None:
    own, other = (several.model(name).path for name in ("Own-Q8_0.gguf", "Test-Q4_K_M.gguf"))
    several.remove("Own-Q8_0.gguf")
    several.remove("Test-Q4_K_M.gguf")
    several.idle()
    assert (own.exists(), other.exists()) == (False, True)
    assert several.titles() == ["Test Q8_0"]
    several.shelf.finalise_all()
    assert not other.exists()


def test_a_loaded_model_is_unloaded_first(several: Desk) -> None:
    file = several.model("Own-Q8_0.gguf").path
    several.engine.load(file)
    several.shelf.look_at_engine()
    several.idle()
    assert "Loaded" in several.pills("Own-Q8_0.gguf")
    several.ask("Own-Q8_0.gguf")
    assert "It is loaded now, and is unloaded first." in several.page.question.text
    assert several.page.question.remove.text().startswith("Unload and remove")
    several.page.question.remove.click()
    assert several.engine.unloaded == 1
    several.shelf.finalise_all()
    assert not file.exists()


def test_undo_loads_again_what_was_unloaded(several: Desk) -> None:
    file = several.model("Own-Q8_0.gguf").path
    several.engine.load(file)
    several.shelf.look_at_engine()
    several.ask("Own-Q8_0.gguf")
    several.page.question.remove.click()
    several.shelf.undo()
    assert (several.engine.unloaded, several.engine.model_in_use) == (1, file)


def test_undo_leaves_what_was_loaded_meanwhile(several: Desk) -> None:
    other = several.model("Test-Q8_0.gguf").path
    several.engine.load(several.model("Own-Q8_0.gguf").path)
    several.shelf.look_at_engine()
    several.ask("Own-Q8_0.gguf")
    several.page.question.remove.click()
    several.engine.load(other)
    several.shelf.undo()
    assert several.engine.model_in_use == other


def test_a_model_that_was_loaded_meanwhile_comes_back(several: Desk) -> None:
    file = several.model("Own-Q8_0.gguf").path
    several.remove("Own-Q8_0.gguf")
    several.engine.load(file)
    several.shelf._removals._timer.timeout.emit()
    several.idle()
    assert several.notices[-1].text.startswith("Own Q8_0 is loaded, so it was not removed.")
    assert file.exists()
    assert "Own-Q8_0.gguf" in several.names()


def test_a_model_that_was_replaced_meanwhile_comes_back(several: Desk) -> None:
    file = several.model("Own-Q8_0.gguf").path
    several.remove("Own-Q8_0.gguf")
    shutil.copy(file, file.with_name("new"))
    file.with_name("new").replace(file)
    several.shelf._removals._timer.timeout.emit()
    several.idle()
    assert several.notices[-1].text.startswith("Nothing was deleted: ")
    assert "Own-Q8_0.gguf" in several.names()


def test_a_model_that_was_overwritten_meanwhile_comes_back(several: Desk) -> None:
    file = several.model("Own-Q8_0.gguf").path
    several.remove("Own-Q8_0.gguf")
    with file.open("r+b") as same_file:
        same_file.write(b"GGUF, but another one")
    several.shelf._removals._timer.timeout.emit()
    several.idle()
    assert several.notices[-1].text.startswith("Nothing was deleted: ")
    assert file.exists()


def test_ordering_again_what_was_removed_takes_the_removal_back(several: Desk) -> None:
    model = several.model("Test-Q4_K_M.gguf")
    several.remove("Test-Q4_K_M.gguf")
    digest = model.path.resolve().name
    file = RepoFile(model.path.name, model.bytes, digest, digest)
    several.shelf.want(Order((Item(REPO, "f" * 40, "main", (file,)),), None))
    assert "Test-Q4_K_M.gguf" not in several.names()  # that is another revision's
    several.shelf.want(Order((Item(REPO, MAIN, "main", (file,)),), None))
    assert "Test-Q4_K_M.gguf" in several.names()
    several.shelf.finalise_all()
    assert model.path.exists()


def test_who_agreed_to_remove_did_not_agree_to_unload(several: Desk) -> None:
    several.ask("Own-Q8_0.gguf")
    several.engine.load(several.model("Own-Q8_0.gguf").path)
    several.page.question.remove.click()
    several.idle()
    assert several.page.question.remove.text().startswith("Unload and remove")
    assert several.engine.unloaded == 0
    several.page.question.remove.click()
    assert several.engine.unloaded == 1
    assert "Own-Q8_0.gguf" not in several.names()


def test_a_model_that_runs_since_the_question_stays_loaded(several: Desk) -> None:
    several.engine.load(several.model("Own-Q8_0.gguf").path)
    several.ask("Own-Q8_0.gguf")
    other = several.model("Test-Q8_0.gguf").path
    several.engine.load(other)
    several.page.question.remove.click()
    several.idle()
    assert (several.engine.unloaded, several.engine.model_in_use) == (0, other)
    assert "Own-Q8_0.gguf" not in several.names()


def test_what_the_engine_still_has_is_deleted_when_it_has_let_go(several: Desk) -> None:
    own, other = (several.model(name).path for name in ("Own-Q8_0.gguf", "Test-Q4_K_M.gguf"))
    several.engine.load(own)
    several.engine.slow = True
    several.remove("Own-Q8_0.gguf")
    several.remove("Test-Q4_K_M.gguf")
    several.idle()
    assert own.exists()
    assert several.titles() == ["Test Q8_0"]
    several.engine.model_in_use = None
    several.shelf.look_at_engine()
    several.idle()
    assert (own.exists(), other.exists()) == (False, True)
    assert several.notices[-1].text.startswith("Test Q4_K_M was removed.")
    several.shelf.undo()
    assert "Test-Q4_K_M.gguf" in several.names()


def test_what_is_ollamas_says_what_to_do_instead(desk: Desk, tmp_path: Path) -> None:
    store = desk.folder.parent / "home" / ".ollama" / "models"
    file = write_target(tmp_path / "a.gguf")
    (blob,) = in_ollama(store, "registry.ollama.ai/library/x/latest", [("model", file)])
    desk.look()
    desk.ask(blob.name)
    assert desk.page.question.proposal is None
    assert desk.notices[-1].text.endswith("Run: ollama rm x:latest")


def test_what_has_no_model_and_what_cannot_be_read_is_listed(desk: Desk) -> None:
    write_eagle3(desk.folder / "eagle3-Gone.gguf", name="Gone")
    (desk.folder / ("d" * 64 + ".part")).write_bytes(b"x" * 3000)
    gone = desk.folder.parent / "gone"
    desk.preferences.set("model_folders", (str(desk.folder), str(gone)))
    desk.look()
    assert desk.titles() == [
        "Drafters and projectors without a model",
        "eagle3-Gone.gguf",
        "Unfinished downloads",
        "A download of another program",
        "What could not be looked at",
        f"The folder {gone} is not there.",
    ]
    (begun,) = (row for row in desk.page.list.rows if row.title == "A download of another program")
    assert begun.note == desk.folder.name
    desk.page.list.select(str(desk.folder / "eagle3-Gone.gguf"))
    QTest.keyClick(desk.page.list, Qt.Key.Key_Delete)
    desk.idle()
    desk.page.question.remove.click()
    desk.shelf.finalise_all()
    assert not (desk.folder / "eagle3-Gone.gguf").exists()


def test_damaged_and_incomplete_models_are_marked(desk: Desk) -> None:
    broken = write_target(desk.folder / "broken.gguf", padding=2)
    broken.write_bytes(broken.read_bytes()[:-1000])
    write_target(desk.folder / "set-00001-of-00002.gguf", padding=1)
    desk.look()
    assert desk.pills("broken.gguf") == ["Damaged"]
    assert desk.pills("set-00001-of-00002.gguf") == ["Unfinished: 1 file missing"]
    actions = desk.page.thing_actions
    for name, said in (
        ("broken.gguf", "It is incomplete"),
        ("set-00001-of-00002.gguf", "Not here"),
    ):
        desk.page.list.select(str(desk.model(name).path))
        assert actions.text.startswith(said)
        shown = [each.text() for each in actions.buttons if each.isVisibleTo(actions)]
        assert shown == ["Show in folder", "Remove …"]


def test_an_unfinished_model_goes_on_with_its_download(desk: Desk) -> None:
    names = [f"set-0000{number}-of-00002.gguf" for number in (1, 2)]
    first = write_target(desk.folder / names[0], padding=1)
    sizes = (first.stat().st_size, 5000)
    files = (
        RepoFile(name, size, "d" * 64, "d" * 64) for name, size in zip(names, sizes, strict=True)
    )
    order = Order((Item(REPO, "a" * 40, "main", tuple(files)),), desk.folder)
    Records(downloads_folder()).add(order, "paused")
    desk.look()
    done, total = (round(number / 1000) for number in (sizes[0], sum(sizes)))
    assert desk.pills(names[0]) == [f"Unfinished: {done} of {total} kB"]
    wanted: list[Order] = []
    desk.shelf.finish_wanted.connect(wanted.append)
    desk.page.list.select(str(first))
    desk.page.thing_actions.finish.click()
    assert wanted == [order]


def test_duplicates_are_found_and_one_copy_stays(desk: Desk) -> None:
    one = write_target(desk.folder / "one" / "A-Q8_0.gguf", name="A")
    (desk.folder / "two").mkdir()
    two = Path(shutil.copy(one, desk.folder / "two" / "A-Q8_0.gguf"))
    desk.look()
    desk.page.copies.begin.click()
    assert desk.page.copies.text == "Comparing files …"
    desk.idle()
    assert desk.titles() == ["A Q8_0", "A Q8_0", "Duplicates", "A Q8_0", "A Q8_0"]
    desk.page.list.select(f"copy {two}")
    desk.page.thing_actions.remove.click()
    desk.idle()
    assert desk.page.question.text.startswith(f"Remove this copy of A Q8_0?\nGoes: {two}")
    desk.page.question.remove.click()
    assert desk.titles() == ["A Q8_0"]
    desk.shelf.finalise_all()
    assert (one.exists(), two.exists()) == (True, False)
    assert desk.page.copies.text == "No model is on this computer twice."


def test_duplicates_that_were_found_are_in_sight(desk: Desk) -> None:
    for number in range(40):
        write_target(desk.folder / f"a{number}.gguf", name=f"A {number}")
    shutil.copy(desk.folder / "a7.gguf", desk.folder / "b.gguf")
    desk.page.resize(800, 600)
    desk.page.show()
    desk.look()
    desk.page.copies.begin.click()
    desk.idle()
    list_ = desk.page.list
    (row,) = (i for i, one in enumerate(list_.rows) if one.title == "Duplicates")
    at = list_.visualRect(list_.model().index(row, 0))
    assert list_.viewport().rect().contains(at)


def test_models_of_one_name_are_told_apart_by_their_repositories(
    desk: Desk, tmp_path: Path
) -> None:
    for owner in ("one", "two"):
        file = write_target(tmp_path / owner / "A-Q8_0.gguf", name="A", padding=len(owner))
        in_cache(desk.cache, f"{owner}/A-GGUF", file)
    write_target(desk.folder / "B-Q8_0.gguf", name="B")
    desk.look()
    notes = [row.note for row in desk.page.list.rows]
    assert notes == ["one/A-GGUF", "two/A-GGUF", "models"]
    details = [row.detail.split(" · ")[-1] for row in desk.list.list.rows]
    assert details == ["one/A-GGUF", "two/A-GGUF", "models"]


def test_the_search_for_duplicates_can_be_stopped(desk: Desk) -> None:
    one = write_target(desk.folder / "a.gguf")
    shutil.copy(one, desk.folder / "b.gguf")
    desk.look()
    desk.page.copies.begin.click()
    desk.page.copies.cancel.click()
    desk.idle()
    assert not desk.shelf.copies.running
    assert desk.page.copies.begin.isEnabled()


def test_what_changes_on_the_disk_is_seen_while_somebody_looks(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, until: Until
) -> None:
    monkeypatch.setattr(watching, "watch", partial(watching.watch, every=0.02))
    write_target(desk.folder / "a.gguf")
    desk.page.show()
    until(lambda: desk.names() == ["a.gguf"])
    write_target(desk.folder / "b.gguf", padding=1)
    until(lambda: desk.names() == ["a.gguf", "b.gguf"])
    desk.idle()
    assert not desk.work.ticking
    desk.page.hide()
    assert not desk.shelf._watcher.watching


def test_the_keyboard_is_enough(several: Desk) -> None:
    wanted: list[LocalModel] = []
    several.page.chat_wanted.connect(wanted.append)
    several.page.list.select(str(several.model("Own-Q8_0.gguf").path))
    QTest.keyClick(several.page.list, Qt.Key.Key_Down)
    QTest.keyClick(several.page.list, Qt.Key.Key_Return)
    assert [one.path.name for one in wanted] == ["Test-Q4_K_M.gguf"]
    menu = several.page.menu()
    assert menu is not None
    assert [each.text() for each in menu.actions()] == [
        "Chat", "Settings", "Show in folder", "Remove …",
    ]  # fmt: skip
    for each in several.page.findChildren(QWidget):
        if each.focusPolicy() & Qt.FocusPolicy.TabFocus and each.isVisibleTo(several.page):
            assert each.accessibleName() or getattr(each, "text", lambda: "")(), each


def test_the_selection_survives_another_look(several: Desk) -> None:
    picked: list[LocalModel] = []
    several.list.picked.connect(picked.append)
    key = str(several.model("Test-Q8_0.gguf").path)
    several.list.list.select(key)
    write_target(several.folder / "A-New-One-Q8_0.gguf", name="A New One", padding=3)
    several.look()
    assert len(several.list.list.rows) == 4
    assert several.list.list.row is not None
    assert several.list.list.row.key == key
    assert len(picked) == 1


def test_without_models_the_page_tells_how_to_get_one(desk: Desk) -> None:
    assert "Looking through this computer" in desk.page.nothing.text
    desk.look()
    assert "There are no models on this computer yet." in desk.page.nothing.text
    wanted: list[str] = []
    for name in ("find", "folder", "file"):
        getattr(desk.page, f"{name}_wanted").connect(partial(wanted.append, name))
    nothing = desk.page.nothing
    for button in (nothing.search, nothing.folder, nothing.file):
        assert button.isVisibleTo(desk.page)
        button.click()
    assert wanted == ["find", "folder", "file"]


def _many(number: int) -> Library:
    folder = Path("/models")

    def model(one: int) -> LocalModel:
        path = folder / f"Model-{one}-Q4_K_M.gguf"
        place = Place(Source.FOLDER, folder, folder, "", None, (LocalFile(path, str(one), 9, 0),))
        return LocalModel(
            path=path, name=f"Model {one}", quant="Q4_K_M", role=FileRole.TARGET,
            places=(place,), ref=str(path),
        )  # fmt: skip

    return Library(models=tuple(map(model, range(number))))


def test_a_thousand_models_need_no_widget_each(desk: Desk, qapp: QApplication) -> None:
    widgets = []
    for number in (3, 1000):
        desk.shelf.found = Found(_many(number))
        desk.shelf.changed.emit()
        for each in (desk.page, desk.list):
            each.resize(700, 600)
            each.grab()
        widgets.append(len(desk.page.list.findChildren(QWidget)))
        assert len(desk.page.list.rows) == len(desk.list.list.rows) == number
    assert widgets[0] == widgets[1]
    desk.page.list.scrollToBottom()
    last = desk.page.list.indexAt(desk.page.list.viewport().rect().bottomLeft())
    assert last.row() >= 998


def test_a_folder_that_is_dropped_is_asked_about_once(desk: Desk, tmp_path: Path) -> None:
    other = tmp_path / "other"
    model = write_target(other / "a.gguf")
    drops = Drops(desk.work, desk.preferences)
    notices: list[Notice] = []
    opened: list[str] = []
    shown: list[bool] = []
    drops.noticed.connect(notices.append)
    drops.open_wanted.connect(opened.append)
    drops.shown_wanted.connect(lambda: shown.append(True))
    drops.take([other])
    desk.idle()
    assert notices[-1].text.startswith("other holds models.")
    act = notices[-1].act
    assert act is not None
    act()
    assert desk.preferences.values.model_folders == (str(desk.folder), str(other))
    drops.take([other])
    desk.idle()
    assert len(shown) == 2
    drops.take([model])
    desk.idle()
    assert opened == [str(model)]
    drops.take([desk.folder])
    desk.idle()
    assert notices[-1].text.startswith("There are no GGUF models in models.")
    assert len(notices) == 2


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="another program is started")
@pytest.mark.parametrize("answers", [True, False])
def test_a_model_is_shown_in_its_folder(
    several: Desk, monkeypatch: pytest.MonkeyPatch, answers: bool
) -> None:
    opened: list[str] = []

    def open_url(url: QUrl) -> bool:
        """Stands where the system's file manager is."""
        opened.append(url.toLocalFile())
        return answers

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    several.page.list.select(str(several.model("Own-Q8_0.gguf").path))
    several.page.thing_actions.show_in_folder.click()
    assert opened == [str(several.folder)]
    told = [notice.text for notice in several.notices]
    assert told == (
        [] if answers else [f"No file manager answered. The folder is {several.folder}."]
    )
