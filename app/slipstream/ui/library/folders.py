"""Files and folders that were dropped onto the window: opened, or their folder remembered."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from slipstream.cancel import CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub.library.dropped import Dropped, OpenModel, ShowFolders, dropped
from slipstream.paths import expanded, printable
from slipstream.ui.i18n import tr
from slipstream.ui.preferences import Preferences
from slipstream.ui.widgets.notice_bar import Level, Notice, notice_of, warning_of
from slipstream.ui.work import Work
from slipstream.words import several


class Drops(QObject):
    """Takes what was dropped.

    Attributes:
        open_wanted: the path of a model to load, as text.
        shown_wanted: the models on this computer are to be shown.
        noticed: a Notice for the user.
    """

    open_wanted = Signal(str)
    shown_wanted = Signal()
    noticed = Signal(object)

    def __init__(self, work: Work, preferences: Preferences, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work = work
        self._preferences = preferences

    def take(self, paths: Sequence[Path]) -> None:
        """Find out what was dropped; one of the signals follows."""
        known = [expanded(Path(text)) for text in self._preferences.values.model_folders]

        def steps(cancel: CancelToken) -> Iterator[Dropped]:
            yield dropped(paths, known, cancel)

        self._work.start(
            steps,
            on_values=lambda values: self._on_known(values[-1]),
            on_error=lambda error: self.noticed.emit(warning_of(error)),
        )

    def add(self, folders: Sequence[Path]) -> bool:
        """Put folders on the user's list of folders with models; whether that could be kept."""
        listed = self._preferences.values.model_folders
        new = (str(folder) for folder in folders if str(folder) not in listed)
        try:
            self._preferences.set("model_folders", (*listed, *new))
        except SlipstreamError as error:
            self.noticed.emit(notice_of(error))
            return False
        return True

    def _add_and_show(self, folders: Sequence[Path]) -> None:
        if self.add(folders):
            self.shown_wanted.emit()

    def _on_known(self, what: Dropped) -> None:
        match what:
            case OpenModel(path):
                self.open_wanted.emit(str(path))
            case ShowFolders(new=()):
                self.shown_wanted.emit()
            case ShowFolders(new=new):
                self.noticed.emit(self._question(new))

    def _question(self, folders: Sequence[Path]) -> Notice:
        """Asks once; the models stay where they are."""
        if len(folders) == 1:
            name = printable(folders[0].name or folders[0])
            text = tr("{folder} holds models. They can be used where they are.").format(folder=name)
        else:
            named = several(len(folders), tr("folder"))
            text = tr("{folders} hold models. They can be used where they are.")
            text = text.format(folders=named)
        button = tr("Add to my models")
        return Notice(text, Level.INFO, (), button, lambda: self._add_and_show(folders))
