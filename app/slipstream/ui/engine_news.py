"""What the engine reports, told to the user: what did not work, why, and the button that helps."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal

from slipstream.drafters.kinds import Unfit
from slipstream.engine.events import FellBack
from slipstream.engine.failures import ENGINE_PROBLEMS
from slipstream.engine.remedies import Remedy, RemedyKind, remedy_for
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
        library_wanted: the user wants to see which models are here.
    """

    noticed = Signal(object)
    withdrawn = Signal(object)
    library_wanted = Signal()

    def __init__(
        self, desk: ModelDesk, preferences: Preferences, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._desk = desk
        self._control = desk.control
        self._trouble: Notice | None = None  # ends with the next load
        self._looked_for: object = None  # what helps against the last failure; ends likewise
        self._fall: FellBack | None = None  # the last one of the load that runs
        self._left_out: list[Unfit] = []  # by the load that runs
        self._reason: Notice | None = None  # why that loads what ran before
        self._told: Notice | None = None  # of these; ends with the next load
        self._control.load_began.connect(self._on_load_began)
        self._control.loaded_model.connect(self._on_loaded)
        self._control.fell_back.connect(self._on_fell_back)
        self._control.left_out.connect(self._on_left_out)
        self._control.load_failed.connect(self._on_load_failed)
        self._control.went_back.connect(self._on_went_back)
        self._control.died.connect(self._on_died)

    def tell_failed_reply(self, error: BaseException, chat_id: int) -> None:
        """Tell why a reply in this chat ended."""
        nothing_to_restart = isinstance(error, SlipstreamError) and error.code == "no_model"
        if nothing_to_restart or self._control.phase in (Phase.READY, Phase.LOADING):
            self._tell(replace(notice_of(error), chat_id=chat_id))
        else:
            self._tell_trouble(error, tr("Restart"), self._desk.selection)

    def _on_load_began(self) -> None:
        self._withdraw()
        if self._told is not None:
            self.withdrawn.emit(self._told)
        self._told = None
        self._fall, self._left_out, self._looked_for, self._reason = None, [], None, None

    def _withdraw(self) -> None:
        if self._trouble is not None:
            self.withdrawn.emit(self._trouble)
        self._trouble = None

    def _on_loaded(self) -> None:
        self._withdraw()
        if self._way():
            self._tell_way()

    def _on_fell_back(self, event: FellBack) -> None:
        self._fall = event
        self._tell_way()

    def _way(self) -> str:
        """How what runs, or is being loaded, differs from what was asked for."""
        loading = self._control.phase is Phase.LOADING
        if self._fall is not None:
            return next_attempt(self._fall) if loading else attempt_that_works(self._fall)
        return "" if loading else " ".join(map(not_used, self._left_out))

    def _tell_way(self) -> None:
        """Beside the reason for going back to it, if there is one."""
        reason = self._reason or Notice("", Level.WARNING)
        self._told = replace(reason, text=f"{reason.text} {self._way()}".strip())
        self.noticed.emit(self._told)

    def _on_left_out(self, unfit: Unfit) -> None:
        self._left_out.append(unfit)

    def _on_load_failed(self, failed: Selection, error: BaseException) -> None:
        if self._is_of_chosen_engine(error):
            button = tr("Use the built-in engine")
            self._tell(notice_of(error, button=button, act=partial(self._build_in, failed)))
        else:
            self._look_for_help(failed, error, partial(self._tell_failed_load, failed, error))

    def _tell_failed_load(
        self, failed: Selection, error: BaseException, remedy: Remedy | None
    ) -> None:
        if remedy is not None:
            self._tell_trouble(error, tr(remedy.label), _selection(remedy, failed))
        elif self._control.phase is Phase.READY:
            gone = isinstance(error, SlipstreamError) and error.code == "not_found"
            button = tr("Show my models") if gone else ""
            self._tell(notice_of(error, button=button, act=self.library_wanted.emit))
        else:
            back = self._control.last_loaded
            back = back if back.ref and back != failed else Selection(models.DEMO)
            title = self._desk.title_of(back.ref)
            self._tell_trouble(error, tr("Back to {model}").format(model=title), back)

    def _on_went_back(self, failed: Selection, error: BaseException) -> None:
        self._look_for_help(failed, error, partial(self._tell_going_back, failed, error))

    def _tell_going_back(
        self, failed: Selection, error: BaseException, remedy: Remedy | None
    ) -> None:
        """The reason stays when the other model is loaded: it is why that one runs."""
        reason = notice_of(error)
        if remedy is not None:
            act = partial(self._control.load, _selection(remedy, failed))
            reason = replace(reason, button=tr(remedy.label), act=act)
        going = tr("Going back to {model}.").format(model=self._desk.title)
        self._reason = replace(reason, text=f"{reason.text} {going}")
        self._tell_way()

    def _look_for_help(
        self, failed: Selection, error: BaseException, tell: Callable[[Remedy | None], None]
    ) -> None:
        """Find what helps, which may read the disk, and tell then, unless another load began."""
        looked_for = self._looked_for = object()
        found: list[Remedy] = []

        def tell_now(_error: BaseException | None = None) -> None:
            if self._looked_for is looked_for:
                tell(found[0] if found else None)

        self._desk.work.start(
            lambda _cancel: _remedies(failed, error),
            on_values=found.extend,
            on_done=tell_now,
            on_error=tell_now,
        )

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


def _remedies(failed: Selection, error: BaseException) -> Iterator[Remedy]:
    """The one thing that helps, if there is one. Raises: SlipstreamError, if the file is gone."""
    if isinstance(error, SlipstreamError):
        remedy = remedy_for(error, failed.request())
        if remedy is not None:
            yield remedy


def _selection(remedy: Remedy, failed: Selection) -> Selection:
    """What to load, as the window asks for it."""
    request = remedy.request
    other_file = remedy.kind is RemedyKind.OTHER_QUANTIZATION
    return Selection(
        ref=str(request.model) if other_file else failed.ref,
        spec=request.spec,
        draft_tokens=request.draft_tokens or 0,
        context=request.context,
        anyway=request.anyway,
        own_settings=request.own_settings,
    )
