"""What a gated model asks for, in plain words, and the place to enter a token."""

from collections.abc import Callable, Iterator

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from slipstream.cancel import CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub.address import HUB, endpoint
from slipstream.ui.browser import open_page
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.widgets.labels import label, wear_kind
from slipstream.ui.wording import our_fault
from slipstream.ui.work import Job, Work

_WIDTH = 520  # pixels at 100 % text size


class TokenDialog(QDialog):
    """Explains a gated model, and keeps the user's token once the Hub has said whose it is.

    Attributes:
        saved: the name of the account whose token was kept.
    """

    saved = Signal(str)

    def __init__(
        self, look: Look, work: Work, repo: str = "", parent: QWidget | None = None
    ) -> None:
        """Build the dialog.

        Args:
            look: theme and text size.
            work: the background work.
            repo: ``owner/name`` of the gated model; empty for a token without one.
            parent: the widget it belongs to.
        """
        from slipstream.hub.connection import may_know

        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._look, self._work, self._repo = look, work, repo
        self._job: Job | None = None
        self._hub = endpoint() or HUB
        self._allowed = may_know(self._hub)
        title = tr("Access to {repo}").format(repo=repo) if repo else tr("Your Hugging Face token")
        self.setWindowTitle(title)
        self.setObjectName("page")
        self.open_page = QPushButton(tr("Open its page"))
        self.open_page.clicked.connect(lambda: open_page(f"{self._hub}/{repo}"))
        self.open_page.setVisible(bool(repo))
        self.get_token = QPushButton(tr("Get a token"))
        self.get_token.clicked.connect(lambda: open_page(f"{self._hub}/settings/tokens"))
        self.field = QLineEdit()
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.field.setPlaceholderText("hf_…")
        self.field.setAccessibleName(tr("Access token"))
        self.show_token = QPushButton(tr("Show"))
        self.show_token.setCheckable(True)
        self.show_token.setAccessibleName(tr("Show the token"))
        self.show_token.toggled.connect(self._on_show)
        self.state = label("", "small", wrap=True)
        self.state.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.remove = QPushButton(tr("Remove the saved token"))
        self.remove.setProperty("kind", "flat")
        self.leave = QPushButton(tr("Close"))
        self.save = QPushButton(tr("Save in the system's keyring"))
        self.save.setProperty("kind", "primary")
        self.save.setDefault(True)
        for each in (self.open_page, self.get_token, self.show_token, self.remove, self.leave):
            each.setAutoDefault(False)
        self._lay_out(title)
        self._connect()
        self._fit()
        if not self._allowed:
            self._say(
                tr(
                    "HF_ENDPOINT names another Hub than Hugging Face. Slipstream never sends a "
                    "token there, so models that need one cannot be had from it."
                )
            )

    def _on_save(self) -> None:
        token = self.field.text()
        self._run(lambda cancel: _keep(token, cancel), self._on_kept, tr("Asking whose it is…"))

    def _on_kept(self, account: str) -> None:
        self._forget_typed()
        self._say(
            tr("The token belongs to {account}. It is kept in the system's keyring.").format(
                account=account
            )
        )
        self.saved.emit(account)

    def _on_remove(self) -> None:
        self._run(_forget, lambda _: self._say(tr("The saved token is gone.")), tr("Removing it…"))

    def _on_failed(self, error: BaseException) -> None:
        self._end()
        self.field.setFocus()
        wear_kind(self.state, "trouble")
        if not isinstance(error, SlipstreamError):
            self._say(our_fault())
            raise error
        self._say(f"{error.message} {error.action}")

    def _on_show(self, shown: bool) -> None:
        echo = QLineEdit.EchoMode.Normal if shown else QLineEdit.EchoMode.Password
        self.field.setEchoMode(echo)
        self.show_token.setText(tr("Hide") if shown else tr("Show"))

    def _run(
        self,
        steps: Callable[[CancelToken], Iterator[str]],
        done: Callable[[str], None],
        words: str,
    ) -> None:
        """Do what takes time, and say so meanwhile."""
        wear_kind(self.state, "small")
        self._say(words)

        def wanted() -> bool:
            return self._job is job

        job = self._work.start(
            steps,
            on_values=lambda values: done(values[-1]) if wanted() else None,
            on_done=lambda: self._end() if wanted() else None,
            on_error=lambda error: self._on_failed(error) if wanted() else None,
        )
        self._job = job
        self._fit()

    def _end(self) -> None:
        self._job = None
        self._fit()

    def _fit(self) -> None:
        """Offer what can be done now."""
        idle = self._job is None
        self.field.setEnabled(idle and self._allowed)
        self.save.setEnabled(idle and self._allowed and bool(self.field.text().strip()))
        self.remove.setEnabled(idle)

    def _say(self, words: str) -> None:
        self.state.setText(words)
        self.state.setAccessibleName(words)
        self.state.setVisible(bool(words))
        self._settle()

    def _settle(self) -> None:
        """Be as high as the words are."""
        width = max(self._look.px(_WIDTH), self.minimumSizeHint().width())
        self.resize(width, self.heightForWidth(width))

    def _connect(self) -> None:
        self.field.textChanged.connect(self._fit)
        self.save.clicked.connect(self._on_save)
        self.remove.clicked.connect(self._on_remove)
        self.leave.clicked.connect(self.reject)
        self.finished.connect(self._on_finished)

    def _forget_typed(self) -> None:
        self.field.setText("")  # clear() can be undone

    def _on_finished(self) -> None:
        self._forget_typed()
        job, self._job = self._job, None
        if job is not None:
            job.cancel()

    def _lay_out(self, title: str) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 22, 24, 20)
        column.setSpacing(10)
        column.addWidget(label(title, "section", wrap=True))
        column.addWidget(label(self._explained(), "muted", wrap=True))
        column.addLayout(_row(self.open_page, self.get_token, None))
        column.addSpacing(6)
        column.addLayout(_row(self.field, self.show_token))
        column.addWidget(self.state)
        self.state.hide()
        column.addSpacing(6)
        column.addLayout(_row(self.remove, None, self.leave, self.save))
        self.field.setFocus()

    def _explained(self) -> str:
        proof = tr(
            "Slipstream needs an access token of your account, one that may read, to prove that "
            "it is you. It goes to Hugging Face alone and is kept in the system's keyring."
        )
        if not self._repo:
            return proof
        first = tr(
            "The owners of this model want everybody to accept their conditions first, "
            "on its page. Some of them then decide whom to let in."
        )
        return f"{first} {proof}"

    def showEvent(self, event: QShowEvent) -> None:  # noqa: D102, N802
        super().showEvent(event)
        self._settle()


def _row(*widgets: QWidget | None) -> QHBoxLayout:
    """Widgets side by side; None takes the room that is left."""
    row = QHBoxLayout()
    row.setSpacing(8)
    for each in widgets:
        if each is None:
            row.addStretch()
        else:
            row.addWidget(each)
    return row


def _keep(token: str, cancel: CancelToken) -> Iterator[str]:
    """In the worker thread."""
    from slipstream.hub.account import keep_token

    yield keep_token(token, cancel)


def _forget(_: CancelToken) -> Iterator[str]:
    """In the worker thread."""
    from slipstream.hub.connection import delete_token

    delete_token()
    yield ""
