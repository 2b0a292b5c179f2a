"""The models that are here and those that are on their way."""

from PySide6.QtCore import QObject, Signal

from slipstream.ui.downloads.board import DownloadBoard
from slipstream.ui.engine_control import EngineControl
from slipstream.ui.library.shelf import Shelf
from slipstream.ui.preferences import Preferences
from slipstream.ui.work import Work


class Stock(QObject):
    """Keeps the shelf and the downloads in step.

    Attributes:
        noticed: a Notice for the user.
        withdrawn: a Notice that is no longer true.
        shelf: the models on this computer.
        board: the downloads.
    """

    noticed = Signal(object)
    withdrawn = Signal(object)

    def __init__(
        self,
        work: Work,
        control: EngineControl,
        preferences: Preferences,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.shelf = Shelf(work, preferences, control, self)
        self.board = DownloadBoard(work, preferences, parent=self)
        self.shelf.noticed.connect(self.noticed)
        self.shelf.withdrawn.connect(self.withdrawn)
        self.shelf.finish_wanted.connect(self.board.add)
        self.board.noticed.connect(self.noticed)
        self.board.ordered.connect(self.shelf.want)
        self.board.finished.connect(lambda _one, _path: self.shelf.refresh())
        self.board.ended_elsewhere.connect(self.shelf.refresh)
        control.changed.connect(self.shelf.look_at_engine)
        control.load_failed.connect(self._on_load_failed)

    def start(self) -> None:
        """Go on with what was interrupted, and look at what is here."""
        self.board.start()
        self.shelf.refresh()

    def stop_downloads(self) -> None:
        """The app ends; what runs goes on at the next start."""
        self.board.shut_down()

    def _on_load_failed(self) -> None:
        """Its file may be gone, or damaged by now."""
        self.shelf.refresh()

    def finish_removals(self) -> None:
        """The app ends, and the engine has ended: what was removed goes for good."""
        self.shelf.finalise_all()
