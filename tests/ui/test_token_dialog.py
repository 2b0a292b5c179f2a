"""A gated model is explained, and a token is kept once the Hub has said whose it is."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from browsing import Browser, browsing
from hub_server import TOKEN, USER, HubServer
from keyrings import Memory, using
from slipstream.hub.connection import connect
from slipstream.ui.look import Look
from slipstream.ui.token_dialog import TokenDialog
from slipstream.ui.work import Work

Until = Callable[..., None]
REPO = "meta-llama/Llama-3.2-3B-Instruct-GGUF"


@pytest.fixture(scope="module")
def served() -> Iterator[HubServer]:
    with HubServer() as hub:
        yield hub


@pytest.fixture(autouse=True)
def hub(served: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HubServer:
    monkeypatch.setenv("HF_ENDPOINT", served.endpoint)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    served.forget()
    return served


@pytest.fixture(autouse=True)
def ring() -> Iterator[Memory]:
    backend = Memory()
    with using(backend):
        yield backend


@pytest.fixture
def work(qapp: QApplication) -> Iterator[Work]:
    made = Work()
    yield made
    made.stop(5)


@pytest.fixture
def dialog(work: Work) -> Iterator[TokenDialog]:
    made = TokenDialog(Look(), work, REPO)
    made.show()
    yield made
    if shiboken6.isValid(made):
        made.close()


def enter(dialog: TokenDialog, work: Work, until: Until, token: str) -> str:
    dialog.field.setText(token)
    dialog.save.click()
    until(lambda: work.idle)
    return dialog.state.text()


def token() -> str | None:
    with connect() as connection:
        return connection.token


@pytest.fixture
def browser() -> Iterator[Browser]:
    with browsing() as made:
        yield made


def test_its_page_and_that_of_tokens_are_opened(
    dialog: TokenDialog, browser: Browser, hub: HubServer
) -> None:
    dialog.open_page.click()
    dialog.get_token.click()
    assert browser.opened == [f"{hub.endpoint}/{REPO}", f"{hub.endpoint}/settings/tokens"]


def test_a_token_is_kept_after_the_hub_said_whose_it_is(
    dialog: TokenDialog, work: Work, until: Until, hub: HubServer
) -> None:
    told: list[str] = []
    dialog.saved.connect(told.append)
    said = enter(dialog, work, until, f"  {TOKEN}\n")
    assert said == f"The token belongs to {USER}. It is kept in the system's keyring."
    assert told == [USER]
    assert token() == TOKEN
    assert dialog.field.text() == ""
    assert len(hub.requests) == 1


def test_a_token_that_the_hub_does_not_know_is_not_kept(
    dialog: TokenDialog, work: Work, until: Until, ring: Memory
) -> None:
    said = enter(dialog, work, until, "hf_wrong")
    assert said.startswith("127.0.0.1 does not know this token. Copy it again")
    assert ring.held == {}
    assert dialog.field.text() == "hf_wrong"
    assert dialog.save.isEnabled()


def test_without_a_keyring_the_way_out_is_told(
    dialog: TokenDialog, work: Work, until: Until, ring: Memory
) -> None:
    ring.trouble = RuntimeError("locked")
    said = enter(dialog, work, until, TOKEN)
    assert said == "The system's keyring cannot be used. Set the token as HF_TOKEN instead."


def test_a_keyring_that_forgets_is_noticed(
    dialog: TokenDialog, work: Work, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Memory, "set_password", lambda *_: None)
    said = enter(dialog, work, until, TOKEN)
    assert "no keyring that keeps it" in said
    assert "HF_TOKEN" in said


def test_a_token_that_comes_first_is_named(
    dialog: TokenDialog, work: Work, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_another")
    said = enter(dialog, work, until, TOKEN)
    assert said.startswith(f"The token of {USER} is saved, but another one comes first: HF_TOKEN.")


def test_a_saved_token_is_removed(
    dialog: TokenDialog, work: Work, until: Until, ring: Memory
) -> None:
    enter(dialog, work, until, TOKEN)
    dialog.remove.click()
    until(lambda: work.idle)
    assert dialog.state.text() == "The saved token is gone."
    assert ring.held == {}
    assert token() is None


def test_no_token_is_asked_for_where_none_may_be_sent(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example")
    dialog = TokenDialog(Look(), work, REPO)
    assert "never sends a token there" in dialog.state.text()
    assert not dialog.field.isEnabled()
    dialog.field.setText(TOKEN)
    assert not dialog.save.isEnabled()


def test_the_token_is_hidden_until_it_is_asked_for(dialog: TokenDialog) -> None:
    assert dialog.field.echoMode() is QLineEdit.EchoMode.Password
    dialog.show_token.click()
    assert dialog.field.echoMode() is QLineEdit.EchoMode.Normal
    dialog.show_token.click()
    assert dialog.field.echoMode() is QLineEdit.EchoMode.Password


def test_nothing_is_saved_when_the_dialog_is_closed_meanwhile(
    dialog: TokenDialog, work: Work, until: Until, hub: HubServer, ring: Memory
) -> None:
    hub.faults.latency = 0.3
    dialog.field.setText(TOKEN)
    dialog.save.click()
    assert not dialog.save.isEnabled()
    dialog.leave.click()
    assert dialog.isHidden()
    until(lambda: work.idle)
    hub.faults.latency = 0
    assert ring.held == {}


@pytest.mark.parametrize("leaving", ["button", "key", "window"])
def test_nothing_of_the_token_outlives_the_dialog(
    work: Work, until: Until, hub: HubServer, leaving: str
) -> None:
    page = QWidget()
    dialog = TokenDialog(Look(), work, REPO, page)
    dialog.open()
    dialog.show_token.click()  # a hidden text has no undo
    QTest.keyClicks(dialog.field, TOKEN)
    match leaving:
        case "button":
            dialog.leave.click()
        case "key":
            QTest.keyClick(dialog, Qt.Key.Key_Escape)
        case "window":
            dialog.close()
    assert dialog.field.text() == ""
    dialog.field.undo()
    assert dialog.field.text() == ""
    until(lambda: not page.findChildren(QWidget))


def test_a_token_that_was_kept_cannot_be_brought_back_in_the_field(
    dialog: TokenDialog, work: Work, until: Until
) -> None:
    dialog.show_token.click()  # a hidden text has no undo
    QTest.keyClicks(dialog.field, TOKEN)
    dialog.save.click()
    until(lambda: work.idle)
    dialog.field.undo()
    assert dialog.field.text() == ""


@pytest.mark.parametrize("odd", ["hf_the–wrong–dash", "hf_with a word behind", "hf_" + "x" * 9000])
def test_what_can_be_no_token_is_told_without_asking_the_hub(
    dialog: TokenDialog, work: Work, until: Until, hub: HubServer, ring: Memory, odd: str
) -> None:
    said = enter(dialog, work, until, odd)
    assert said.startswith("This is not an access token")
    assert "Copy it again" in said
    assert hub.requests == []
    assert ring.held == {}
