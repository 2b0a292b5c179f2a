"""What the engine reports, told to the user: what did not work, why, and the button that helps."""

from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal

from slipstream.drafters.kinds import Unfit
from slipstream.engine.events import FellBack
from slipstream.engine.failures import ENGINE_PROBLEMS
from slipstream.errors import SlipstreamError
from slipstream.settings import EMBEDDED
from slipstream.ui import models
from slipstream.ui.engine_control import Phase
from slipstream.ui.i18n import tr
from slipstream.ui.model_desk import ModelDesk
from slipstream.ui.models import Selection
from slipstream.ui.preferences import Preferences
from slipstream.ui.widgets.notice_bar import Level, Notice, notice_of
from slipstream.ui.wording import attempt_that_works, next_attempt, not_used


class EngineNews(QObject):
    """Makes notices of what happens to the model.

    Attributes:
        noticed: a Notice for the user.
        withdrawn: a Notice that is no longer true.
    """

    noticed = Signal(object)
    withdrawn = Signal(object)

    def __init__(
        self, desk: ModelDesk, preferences: Preferences, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._desk = desk
        self._control = desk.control
        self._trouble: Notice | None = None  # ends with the next load
        self._fall: FellBack | None = None  # the last one of the load that runs
        self._left_out: list[Unfit] = []  # by the load that runs
        self._control.load_began.connect(self._on_load_began)
        self._control.loaded_model.connect(self._on_loaded)
        self._control.fell_back.connect(self._on_fell_back)
        self._control.left_out.connect(self._on_left_out)
        self._control.load_failed.connect(self._on_load_failed)
        self._control.went_back.connect(self._on_went_back)
        self._control.died.connect(self._on_died)

    def tell_failed_reply(self, error: BaseException, chat_id: int) -> None:
        """Tell why a reply in this chat ended."""
        if self._control.phase in (Phase.READY, Phase.LOADING):
            self._tell(replace(notice_of(error), chat_id=chat_id))
        else:
            self._tell_trouble(error, tr("Restart"), self._desk.selection)

    def _on_load_began(self) -> None:
        self._withdraw()
        self._fall, self._left_out = None, []

    def _withdraw(self) -> None:
        if self._trouble is not None:
            self.withdrawn.emit(self._trouble)
        self._trouble = None

    def _on_loaded(self) -> None:
        self._withdraw()
        if self._fall is not None:
            self.noticed.emit(Notice(attempt_that_works(self._fall), Level.WARNING))
        elif self._left_out:
            self.noticed.emit(Notice(" ".join(map(not_used, self._left_out)), Level.WARNING))

    def _on_fell_back(self, event: FellBack) -> None:
        self._fall = event
        self.noticed.emit(Notice(next_attempt(event), Level.WARNING))

    def _on_left_out(self, unfit: Unfit) -> None:
        self._left_out.append(unfit)

    def _on_load_failed(self, failed: Selection, error: BaseException) -> None:
        if isinstance(error, SlipstreamError) and error.code == "no_drafter":
            self._tell_trouble(error, tr("Choose automatically"), Selection(failed.ref))
        elif self._is_of_chosen_engine(error):
            button = tr("Use the built-in engine")
            self._tell(notice_of(error, button=button, act=partial(self._build_in, failed)))
        elif self._control.phase is Phase.READY:
            self._tell(notice_of(error))
        else:
            back = self._control.last_loaded
            back = back if back.ref and back != failed else Selection(models.DEMO)
            title = self._desk.title_of(back.ref)
            self._tell_trouble(error, tr("Back to {model}").format(model=title), back)

    def _on_went_back(self, _failed: Selection, error: BaseException) -> None:
        """The reason stays when the other model is loaded: it is why that one runs."""
        reason = notice_of(error)
        going = tr("Going back to {model}.").format(model=self._desk.title)
        self.noticed.emit(replace(reason, text=f"{reason.text} {going}"))

    def _is_of_chosen_engine(self, error: BaseException) -> bool:
        """Whether the engine that the user chose is at fault, whatever it is to run."""
        if self._preferences.values.engine == EMBEDDED or not isinstance(error, SlipstreamError):
            return False
        return error.code in ENGINE_PROBLEMS or "engine" in error.facts

    def _build_in(self, wanted: Selection) -> None:
        """Go back to the engine that comes with the app, and load what was asked for."""
        try:
            self._preferences.set("engine", EMBEDDED)
        except SlipstreamError as error:
            self._tell(notice_of(error))
            return
        self._control.load(wanted)

    def _on_died(self, error: BaseException) -> None:
        if self._control.phase is Phase.FAILED:  # otherwise it is started again already
            self._tell_trouble(error, tr("Restart"), self._desk.selection)

    def _tell_trouble(self, error: BaseException, button: str, remedy: Selection) -> None:
        """Tell what is no longer true when a model is loaded, which the button does."""
        self._tell(notice_of(error, button=button, act=partial(self._control.load, remedy)))

    def _tell(self, notice: Notice) -> None:
        self._trouble = notice
        self.noticed.emit(notice)
