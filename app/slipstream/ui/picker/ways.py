"""What helps when a model cannot be shown, or not be downloaded."""

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QWidget

from slipstream.errors import SlipstreamError
from slipstream.hub.address import HUB, endpoint
from slipstream.hub.library.models import LocalModel
from slipstream.ui import browser
from slipstream.ui.downloads.wording import Step, help_for
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.picker.model_look import ModelLook
from slipstream.ui.picker.wording import model_words
from slipstream.ui.stock import Stock
from slipstream.ui.token_dialog import TokenDialog
from slipstream.ui.widgets.trouble import Way
from slipstream.ui.work import Work

_NO_MODEL = frozenset({"only_drafters", "no_gguf"})
"""Somebody else's repository may have what this one has not."""


class Ways:
    """The ways out of the failures of one page."""

    def __init__(
        self,
        look: Look,
        work: Work,
        model: ModelLook,
        stock: Stock,
        search_for: Callable[[str], None],
        page: QWidget,
    ) -> None:
        """Prepare.

        Args:
            look: colours and sizes.
            work: the background work.
            model: what is looked at.
            stock: what is on this computer and on its way.
            search_for: searches the Hub for words.
            page: dialogs stand before it.
        """
        self._look, self._work, self._page = look, work, page
        self._model, self._stock, self._search_for = model, stock, search_for

    def of(self, error: BaseException) -> list[Way]:
        """What helps when a model cannot be shown, the best first; the same as with a download."""
        again = (tr("Try again"), self._look_again)
        if not isinstance(error, SlipstreamError):
            return [again]
        repo = self._model.model.repo
        if error.code in _NO_MODEL:
            words = model_words(repo)
            find = partial(self._search_for, words)
            return [(tr("Search for “{words}”").format(words=words), find)] if words else []
        token = (tr("Enter a token"), partial(self._ask_for_token, repo, self._model.again))
        page = (tr("Open its page"), partial(browser.open_page, f"{endpoint() or HUB}/{repo}"))
        match help_for(error).step:
            case Step.TOKEN:
                return [token, page, again]
            case Step.PAGE:
                return [page, token, again]
        return [again]

    def ask_for_download(self, name: str) -> None:
        """A download needs a token; with one it goes on.

        Args:
            name: id of the download.
        """
        board = self._stock.board
        repo = next((one.repo for one in board.standings if one.id == name), "")
        self._ask_for_token(repo, partial(board.resume, name))

    def _look_again(self) -> None:
        """With what is on this computer now."""
        self._model.again()
        if isinstance(self._model.model.what, LocalModel):
            self._stock.shelf.refresh()

    def _ask_for_token(self, repo: str, then: Callable[[], None]) -> None:
        dialog = TokenDialog(self._look, self._work, repo, self._page)
        dialog.saved.connect(lambda _account: then())
        dialog.open()
