"""Chats are kept: branches, deleting with a way back, power cuts, two apps, damaged files."""

import json
import multiprocessing
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from slipstream.chats import database, migrations
from slipstream.chats.migrations import STEPS, Step, migrate
from slipstream.chats.store import ChatStore, open_chats
from slipstream.errors import SlipstreamError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "chats.sqlite3"


@pytest.fixture
def store(file: Path) -> Iterator[ChatStore]:
    with closing(open_chats(file).store) as opened:
        yield opened


def test_a_reply_comes_back_with_everything_that_was_measured(store: ChatStore, file: Path) -> None:
    chat = store.create_chat(model="demo", speculation="mtp", draft_tokens=3)
    question = store.add_message(chat.id, "user", "Tell me a story.")
    reply = store.add_message(chat.id, "assistant")
    store.update_message(reply.id, content="Once")
    store.update_message(
        reply.id,
        content="Once upon",
        reasoning="Hm.",
        pieces=[(7, False), (5, True)],
        numbers={"tokens": 4, "by_position": [0.5]},
        spec={"kind": "mtp", "draft_tokens": 3},
        finish="stop",
    )
    with closing(open_chats(file).store) as again:
        assert again.list_chats() == store.list_chats()
        assert again.list_chats()[0].model == "demo"
        first, second = again.messages(chat.id)
    assert first == question
    assert (second.parent_id, second.role, second.content) == (
        question.id,
        "assistant",
        "Once upon",
    )
    assert (second.reasoning, second.pieces) == ("Hm.", ((7, False), (5, True)))
    assert second.numbers == {"tokens": 4, "by_position": [0.5]}
    assert (second.spec, second.finish) == ({"kind": "mtp", "draft_tokens": 3}, "stop")


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
def test_only_the_user_can_read_the_chats(store: ChatStore, file: Path) -> None:
    store.create_chat()
    rights = {path.name: path.stat().st_mode & 0o777 for path in file.parent.iterdir()}
    assert file.name in rights
    assert set(rights.values()) == {0o600}


def test_a_folder_that_cannot_be_made_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "file"))
    with pytest.raises(SlipstreamError) as caught:
        open_chats()
    assert caught.value.code == "home_not_writable"


def test_the_first_message_of_the_user_gives_the_title(store: ChatStore) -> None:
    chat = store.create_chat()
    store.add_message(chat.id, "system", "Be kind.")
    assert store.chat(chat.id).title == ""
    store.add_message(chat.id, "user", "A\nquestion")
    store.add_message(chat.id, "user", "Another")
    assert store.chat(chat.id).title == "A question"
    store.set_title(chat.id, "Mine")
    assert store.chat(chat.id).title == "Mine"


def test_the_chat_with_the_newest_message_is_first(store: ChatStore) -> None:
    first, second = store.create_chat(), store.create_chat()
    assert [chat.id for chat in store.list_chats()] == [second.id, first.id]
    store.add_message(first.id, "user", "Hello")
    assert [chat.id for chat in store.list_chats()] == [first.id, second.id]


def test_a_second_reply_is_a_branch_and_the_first_stays_in_the_file(
    store: ChatStore, file: Path
) -> None:
    chat = store.create_chat()
    question = store.add_message(chat.id, "user", "Hello")
    store.add_message(chat.id, "assistant", "first")
    other = store.add_message(chat.id, "assistant", "second", after=question.id)
    assert other.parent_id == question.id
    assert [message.content for message in store.messages(chat.id)] == ["Hello", "second"]
    with closing(sqlite3.connect(file)) as raw:
        assert raw.execute("SELECT count(*) FROM messages").fetchone() == (3,)


def test_a_deleted_chat_can_be_restored_until_it_is_purged(store: ChatStore, file: Path) -> None:
    kept, gone = store.create_chat(title="kept"), store.create_chat(title="gone")
    store.add_message(gone.id, "user", "Hello")
    store.delete_chat(gone.id)
    assert store.list_chats() == [kept]
    assert store.purge_deleted(older_than=3600) == 0
    store.restore_chat(gone.id)
    assert len(store.list_chats()) == 2
    assert len(store.messages(gone.id)) == 1
    store.delete_chat(gone.id)
    assert store.purge_deleted(older_than=-1) == 1
    store.restore_chat(gone.id)
    assert store.list_chats() == [kept]
    assert store.messages(gone.id) == []
    with pytest.raises(SlipstreamError) as caught:
        store.add_message(gone.id, "user", "Hello?")
    assert caught.value.code == "chat_not_found"


def test_the_last_open_chat_is_remembered(store: ChatStore) -> None:
    assert store.last_open_chat() is None
    first, second = store.create_chat(), store.create_chat()
    store.mark_opened(first.id)
    store.mark_opened(second.id)
    store.mark_opened(first.id)
    assert store.last_open_chat() == first
    store.delete_chat(first.id)
    assert store.last_open_chat() == second


def test_half_a_character_does_not_stop_a_message(store: ChatStore) -> None:
    chat = store.create_chat()
    assert store.add_message(chat.id, "user", "a\ud83db").content == "a?b"


def test_threads_share_a_store(store: ChatStore) -> None:
    chat = store.create_chat()

    def write() -> None:
        for _ in range(20):
            store.add_message(chat.id, "user", "Hello")

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.messages(chat.id)) == 80


def _write_chat(file: Path, name: str, count: int) -> None:
    with closing(open_chats(file).store) as store:
        chat = store.create_chat(title=name)
        for number in range(count):
            message = store.add_message(chat.id, "user", f"{name} {number}")
            store.update_message(message.id, finish="stop")


def test_several_apps_that_start_and_write_at_once_lose_nothing(file: Path) -> None:
    context = multiprocessing.get_context("spawn")
    names = ["a", "b", "c"]
    apps = [context.Process(target=_write_chat, args=(file, name, 15)) for name in names]
    for app in apps:
        app.start()
    for app in apps:
        app.join(30)
    assert [app.exitcode for app in apps] == [0] * len(apps)
    opened = open_chats(file)
    assert opened.notices == ()
    with closing(opened.store) as store:
        assert sorted(chat.title for chat in store.list_chats()) == names
        for chat in store.list_chats():
            texts = [message.content for message in store.messages(chat.id)]
            assert texts == [f"{chat.title} {number}" for number in range(15)]
            assert all(message.finish == "stop" for message in store.messages(chat.id))


_ENDLESS = """
import sys
from pathlib import Path
from slipstream.chats import database, migrations
from slipstream.chats.store import open_chats
store = open_chats(Path(sys.argv[1])).store
chat = store.create_chat()
store.add_message(chat.id, "user", "Count.")
reply = store.add_message(chat.id, "assistant")
text, number = "", 0
while True:
    number += 1
    text += f"{number} "
    store.update_message(reply.id, content=text)
    print(number, flush=True)
"""


def test_killed_in_the_middle_of_a_reply_at_most_the_last_piece_is_lost(file: Path) -> None:
    app = subprocess.Popen(
        [sys.executable, "-c", _ENDLESS, str(file)], stdout=subprocess.PIPE, text=True
    )
    assert app.stdout
    for line in app.stdout:
        if int(line) == 50:
            app.kill()
            break
    saved = int((app.stdout.read().split() or [line])[-1])
    app.stdout.close()
    app.wait()
    opened = open_chats(file)
    assert opened.notices == ()
    with closing(opened.store) as store:
        (chat,) = store.list_chats()
        question, reply = store.messages(chat.id)
    numbers = [int(word) for word in reply.content.split()]
    assert question.content == "Count."
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= saved
    assert reply.finish == ""


def test_what_was_deleted_long_ago_leaves_the_file_when_it_is_purged(file: Path) -> None:
    with closing(open_chats(file).store) as store:
        long_ago, lately = store.create_chat(title="long ago"), store.create_chat(title="lately")
        for chat in (long_ago, lately):
            store.add_message(chat.id, "user", f"A secret of {chat.title}")
            store.delete_chat(chat.id)
    with closing(sqlite3.connect(file)) as raw, raw:
        raw.execute("UPDATE chats SET deleted = deleted - 31 * 86400 WHERE id = ?", (long_ago.id,))
    with closing(open_chats(file).store) as store:
        assert store.purge_deleted() == 1
        store.restore_chat(long_ago.id)
        store.restore_chat(lately.id)
        assert store.list_chats() == [store.chat(lately.id)]
    assert b"A secret of lately" in file.read_bytes()
    assert b"A secret of long ago" not in file.read_bytes()


_READ_ONLY = """
import json, sys
from pathlib import Path
from slipstream.chats import database, migrations
from slipstream.chats.store import open_chats
opened = open_chats(Path(sys.argv[1]))
(chat,) = opened.store.list_chats()
before = [message.content for message in opened.store.messages(chat.id)]
opened.store.add_message(chat.id, "user", "Hello?")
after = [message.content for message in opened.store.messages(chat.id)]
print(json.dumps([before, after, opened.notices]))
"""


def _without_the_rights_of_root() -> list[str]:
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere")
    return ["setpriv", "--inh-caps=-all", "--bounding-set=-all"]


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
@pytest.mark.parametrize("left_by_a_crash", [False, True])
@pytest.mark.parametrize("closed", ["folder", "file"])
def test_chats_that_cannot_be_written_are_shown_and_that_is_told(
    tmp_path: Path, closed: str, left_by_a_crash: bool
) -> None:
    """After a crash the last messages are still in the journal."""
    folder = tmp_path / "what? a disk %20"
    folder.mkdir()
    file = folder / "chats.sqlite3"
    with closing(open_chats(tmp_path / "chats.sqlite3").store) as store:
        chat = store.create_chat()
        store.add_message(chat.id, "user", "Hello")
        if left_by_a_crash:
            for part in tmp_path.glob("chats.sqlite3*"):
                shutil.copy(part, folder)
    if not left_by_a_crash:
        shutil.copy(tmp_path / "chats.sqlite3", file)
    for path in [*folder.iterdir(), *([folder] if closed == "folder" else [])]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    before = file.read_bytes()
    done = subprocess.run(
        [*_without_the_rights_of_root(), sys.executable, "-c", _READ_ONLY, str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    folder.chmod(0o700)
    assert done.returncode == 0, done.stderr
    shown, with_a_new_one, notices = json.loads(done.stdout)
    assert shown == ["Hello"]
    assert with_a_new_one == ["Hello", "Hello?"]
    assert len(notices) == 1
    assert "not kept" in notices[0]
    assert file.read_bytes() == before


@pytest.fixture(scope="module")
def content_of_full(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("full") / "chats.sqlite3"
    with closing(open_chats(file).store) as store:
        chat = store.create_chat()
        for _ in range(50):
            store.add_message(chat.id, "user", "words " * 300)
    return file.read_bytes()


@pytest.fixture
def full(file: Path, content_of_full: bytes) -> Path:
    """A database of some pages, closed."""
    file.write_bytes(content_of_full)
    return file


def _damage_text(file: Path) -> None:
    file.write_text("These are not chats. " * 100)


def _damage_half(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


def _damage_middle(file: Path) -> None:
    content = bytearray(file.read_bytes())
    for page in range(2, len(content) // 4096, 3):
        content[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    file.write_bytes(content)


def _damage_name_of_column(file: Path) -> None:
    content = file.read_bytes()
    assert b"draft_tokens INTEGER" in content
    file.write_bytes(content.replace(b"draft_tokens INTEGER", b"draft_tokenz INTEGER"))


def _damage_name_of_steps(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"steps", b"stops"))


@pytest.mark.parametrize(
    "damage",
    [
        _damage_text,
        _damage_half,
        _damage_middle,
        _damage_name_of_column,
        _damage_name_of_steps,
    ],
)
def test_a_damaged_file_is_set_aside_and_never_deleted(full: Path, damage: object) -> None:
    damage(full)  # type: ignore[operator]
    damaged = full.read_bytes()
    opened = open_chats(full)
    with closing(opened.store) as store:
        assert store.list_chats() == []
        store.add_message(store.create_chat().id, "user", "A new start")
    (aside,) = full.parent.glob("chats.sqlite3.damaged-*")
    assert aside.read_bytes() == damaged
    assert len(opened.notices) == 1
    assert aside.name in opened.notices[0]
    again = open_chats(full)
    again.store.close()
    assert again.notices == ()


@pytest.mark.parametrize("seed", range(40))
def test_a_file_damaged_anywhere_is_used_or_set_aside_and_told(full: Path, seed: int) -> None:
    chance = random.Random(seed)
    content = bytearray(full.read_bytes())
    for _ in range(chance.choice([1, 3, 10])):
        # The first page holds the shape of the database.
        at = chance.randrange(4096 if chance.random() < 0.5 else len(content))
        content[at : at + 8] = chance.randbytes(len(content[at : at + 8]))
    full.write_bytes(content)
    opened = open_chats(full)
    kept = [path.read_bytes() for path in full.parent.glob("chats.sqlite3.damaged-*")]
    assert kept == ([content] if opened.notices else [])
    with closing(opened.store) as store:
        for chat in store.list_chats():
            try:
                assert len(store.messages(chat.id)) == 50
            except SlipstreamError as error:
                assert error.code == "chat_damaged"  # noqa: PT017 - it may be readable
        store.add_message(store.create_chat().id, "user", "It goes on")


def test_damage_twice_a_day_keeps_both(full: Path) -> None:
    for _ in range(2):
        _damage_text(full)
        open_chats(full).store.close()
    assert len(list(full.parent.glob("chats.sqlite3.damaged-*"))) == 2


def test_a_busy_file_is_told_as_such(
    store: ChatStore, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slipstream.chats.database._WAIT_SECONDS", 0.1)
    with closing(open_chats(file).store) as other, closing(sqlite3.connect(file)) as raw:
        raw.execute("BEGIN IMMEDIATE")
        with pytest.raises(SlipstreamError) as caught:
            other.create_chat()
        assert caught.value.code == "chats_busy"
        raw.rollback()
        other.create_chat()


@pytest.mark.skipif(os.name != "posix", reason="pipes have names there")
def test_a_pipe_in_place_of_the_file_is_told_and_not_waited_for(file: Path) -> None:
    os.mkfifo(file)
    with pytest.raises(SlipstreamError) as caught:
        open_chats(file)
    assert caught.value.code == "chats_not_accessible"


def test_a_folder_in_place_of_the_file_is_told_as_such(file: Path) -> None:
    file.mkdir()
    with pytest.raises(SlipstreamError) as caught:
        open_chats(file)
    assert caught.value.code == "chats_not_accessible"


_HARMLESS = Step("a colour", ("ALTER TABLE chats ADD COLUMN colour TEXT",))
_BREAKING = Step("other words", ("ALTER TABLE chats RENAME COLUMN title TO name",), breaking=True)


def _upgrade(file: Path, *steps: Step) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as raw:
        migrate(raw, file, (*STEPS, *steps))


def test_a_file_with_harmless_newer_steps_is_used(full: Path) -> None:
    _upgrade(full, _HARMLESS)
    with closing(open_chats(full).store) as store:
        (chat,) = store.list_chats()
        store.add_message(chat.id, "user", "Hello")
        assert len(store.messages(chat.id)) == 51


def test_a_file_from_a_newer_version_is_refused_and_left_alone(full: Path) -> None:
    _upgrade(full, _HARMLESS, _BREAKING)
    before = full.read_bytes()
    with pytest.raises(SlipstreamError) as caught:
        open_chats(full)
    assert caught.value.code == "chats_from_newer_version"
    assert caught.value.facts["change"] == "other words"
    assert full.read_bytes() == before
    assert not list(full.parent.glob("*.damaged-*"))


def test_before_a_breaking_step_the_old_file_is_kept(full: Path) -> None:
    _upgrade(full, _HARMLESS)
    assert not list(full.parent.glob("*.before-step-*"))
    _upgrade(full, _HARMLESS, _BREAKING)
    with closing(
        open_chats(full.with_name(f"{full.name}.before-step-{len(STEPS) + 2}")).store
    ) as store:
        (chat,) = store.list_chats()
        assert len(store.messages(chat.id)) == 50


def test_a_step_that_fails_changes_nothing(full: Path) -> None:
    broken = Step("half", ("ALTER TABLE chats ADD COLUMN half TEXT", "NOT SQL"))
    with pytest.raises(sqlite3.OperationalError):
        _upgrade(full, broken)
    _upgrade(full, _HARMLESS)
    with closing(sqlite3.connect(full)) as raw:
        columns = {row[1] for row in raw.execute("PRAGMA table_info(chats)")}
    assert "colour" in columns
    assert "half" not in columns


def test_how_a_reply_was_speculated_is_forgotten_where_it_was_kept_in_words(file: Path) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as raw:
        migrate(raw, file, STEPS[:1])
        raw.execute("INSERT INTO chats VALUES (1, 'Old', 1, 1, NULL, 'auto', 0, 0, NULL)")
        raw.execute(
            "INSERT INTO messages VALUES (1, 1, NULL, 'assistant', 'Yes.', '', '[]', '{}',"
            " 'MTP, 3 draft tokens', 'stop', 1)"
        )
    with closing(open_chats(file).store) as store:
        (message,) = store.messages(1)
    assert message.content == "Yes."
    assert message.spec == {}


def test_a_message_that_is_damaged_is_told_as_such(full: Path) -> None:
    with closing(sqlite3.connect(full, isolation_level=None)) as raw:
        raw.execute("UPDATE messages SET pieces = '[1]' WHERE id = 7")
    with closing(open_chats(full).store) as store, pytest.raises(SlipstreamError) as caught:
        store.messages(store.list_chats()[0].id)
    assert caught.value.code == "chat_damaged"


def test_one_title_that_is_no_text_does_not_hide_the_other_chats(file: Path) -> None:
    with closing(open_chats(file).store) as store:
        store.create_chat()
        store.create_chat()
    with closing(sqlite3.connect(file)) as raw, raw:
        raw.execute("UPDATE chats SET title = CAST(x'4f6bff' AS TEXT) WHERE id = 1")
    with closing(open_chats(file).store) as store:
        assert len(store.list_chats()) == 2


def test_a_database_that_another_app_brings_up_to_date_meanwhile_is_not_damaged(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_chats(file).store.close()
    steps = (*STEPS, Step("colours", ("ALTER TABLE chats ADD colour TEXT",)))
    monkeypatch.setattr(migrations, "STEPS", steps)
    read = migrations.columns
    others: list[sqlite3.Connection] = []

    def read_and_then_the_other_app_starts(connection: sqlite3.Connection) -> dict[str, set[str]]:
        found = read(connection)
        if not others:
            others.append(sqlite3.connect(file, isolation_level=None))
            migrate(others[0], file, steps)
            others[0].close()
        return found

    monkeypatch.setattr(database, "columns", read_and_then_the_other_app_starts)
    with closing(open_chats(file).store) as store:
        assert store.list_chats() == []
    assert others
    assert [path.name for path in file.parent.glob("*damaged*")] == []


def test_what_looks_damaged_in_a_copy_is_left_where_it_is(full: Path) -> None:
    """The copy may have been torn by an app that was writing."""
    _damage_middle(full)
    reason = sqlite3.OperationalError("attempt to write a readonly database")
    with pytest.raises(sqlite3.OperationalError) as raised:
        database._copy_in_memory(full, reason)
    assert raised.value is reason
    assert full.exists()
