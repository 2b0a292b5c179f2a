"""What is done with a quantization of the model that is looked at, and what was turned is kept."""

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from slipstream.engine.knobs import keep_knobs
from slipstream.engine.picture import Line
from slipstream.errors import SlipstreamError
from slipstream.hub.downloads.orders import Order, target_path
from slipstream.hub.downloads.records import Records
from slipstream.hub.library.models import LocalModel
from slipstream.paths import downloads_folder
from slipstream.ui.downloads.board import DownloadBoard
from slipstream.ui.in_turn import InTurn
from slipstream.ui.picker.model_look import ModelLook
from slipstream.ui.preferences import Preferences
from slipstream.ui.widgets.notice_bar import notice_of

if TYPE_CHECKING:
    from slipstream.hub.downloads.standing import Standing

_log = logging.getLogger(__name__)


class Ordering(QObject):
    """Downloads and loads quantizations as the knobs stand, which counts wherever they are loaded
    from then on.

    Attributes:
        changed: another download waits for its drafter, or does not any more.
        noticed: a Notice for the user.
    """

    changed = Signal()
    noticed = Signal(object)

    def __init__(
        self,
        model: ModelLook,
        board: DownloadBoard,
        tasks: InTurn,
        preferences: Preferences,
        parent: QObject | None = None,
    ) -> None:
        """Prepare.

        Args:
            model: what is looked at.
            board: the downloads.
            tasks: keeps what was turned.
            preferences: the app's settings.
            parent: as Qt has it.
        """
        super().__init__(parent)
        self._model, self._board, self._tasks = model, board, tasks
        self._preferences = preferences
        self._waiting: tuple[Line, ...] = ()  # downloaded as soon as their drafters were looked for

    def download(self, line: Line) -> None:
        """Download a quantization as soon as its drafter was looked for; at once, if that is asked
        for again."""
        if self._model.looking_further and not self.waits(line):
            self._waiting += (line,)
            self.changed.emit()
        else:
            self._order(line)

    def waits(self, line: Line) -> bool:
        """Whether it is to be downloaded as soon as its drafter was looked for."""
        return any(_same(each, line) for each in self._waiting)

    def order_all(self) -> None:
        """The drafters were looked for, or nobody waits for them any more."""
        for line in self._as_they_stand():
            self._order(line)

    def load(self, line: Line, then: Callable[[], None]) -> None:
        """Keep what was turned for a quantization that is here, then load it."""
        if line.path is not None:
            self._keep(line.path, line, then)

    def standing_of(self, line: Line) -> "Standing | None":
        """How its download stands; None if there is none."""
        if line.row is None:
            return None
        repo, path = self._model.model.repo, line.row.files.path
        for one in self._board.standings:
            item = one.entry.record.order.items[0]
            if (item.repo, item.files[0].path) == (repo, path):
                return one
        return None

    def finish(self) -> None:
        """Note down what still waits; for the end of the program, when nobody downloads any more
        and no work runs."""
        for line in self._as_they_stand():
            order = self._model.order(line)
            if order is None:
                continue
            try:
                _note(order)
                self._keeping(target_path(order), line)()
            except (SlipstreamError, OSError) as error:
                _log.error("not ordered: %s", error)

    def _order(self, line: Line) -> None:
        """The order comes first: it may be the last thing that is done in this window."""
        self._waiting = tuple(each for each in self._waiting if not _same(each, line))
        order = self._model.order(line)
        if order is not None:
            self._board.add(order)
            self._keep(target_path(order), line)
        self.changed.emit()

    def _keep(self, path: Path, line: Line, then: Callable[[], None] = lambda: None) -> None:
        def failed(error: BaseException) -> None:
            self.noticed.emit(notice_of(error))
            then()

        self._tasks.run(self._keeping(path, line), lambda _: then(), on_error=failed)

    def _keeping(self, path: Path, line: Line) -> Callable[[], None]:
        """What keeps the knobs as they stand now; for a worker."""
        picture = self._model.picture
        assert picture is not None  # a line is of one
        usual = self._preferences.values.default_context
        return partial(keep_knobs, path, picture.knobs, line.spec, usual, self._model.usual)

    def _as_they_stand(self) -> Iterator[Line]:
        """What waits, as it is planned now."""
        lines = self._model.picture.lines if self._model.picture else ()
        for line in self._waiting:
            yield next((each for each in lines if _same(each, line)), line)


def model_in_use(models: Sequence[LocalModel], loaded: Path | None) -> LocalModel | None:
    """Of the quantizations of one model, the one that is loaded, or else was loaded last.

    Args:
        models: that are on this computer.
        loaded: the file of the model that is loaded.
    """

    def use(one: LocalModel) -> tuple[bool, float]:
        return loaded in one.files, one.last_used or 0.0

    return max(models, key=use, default=None)


def _same(one: Line, other: Line) -> bool:
    """Whether two pictures show the same quantization."""
    return one.plan.quantization.files == other.plan.quantization.files


def _note(order: Order) -> None:
    """Put an order where the next start finds it. Raises: SlipstreamError; OSError."""
    records = Records(downloads_folder())
    records.set_stage(records.for_order(order).id, "waiting")
