"""Which model is wanted, and how it is to speculate: turns the user's choice into a launch."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from slipstream.drafters.kinds import DrafterKind, SpecChoice
from slipstream.engine.requests import LoadRequest
from slipstream.errors import SlipstreamError
from slipstream.settings import Settings
from slipstream.ui import models
from slipstream.ui.engine_control import EngineControl, Phase


class ModelDesk(QObject):
    """Opens models.

    Attributes:
        opened: the reference of a model that is loaded now.
        failed: what was raised instead.
        control: the engine.
        ref: what is wanted: "demo", "demo-small" or a path; empty at first.
        spec, draft_tokens: how it is to speculate; 0 draft tokens is the kind's own number.
        failed_ref: the reference that could not be loaded last.
    """

    opened = Signal(str)
    failed = Signal(object)

    def __init__(
        self,
        control: EngineControl,
        settings: Callable[[], Settings],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.control = control
        self._settings = settings
        self.ref = ""
        self.spec: SpecChoice = "auto"
        self.draft_tokens = 0
        self.failed_ref = ""
        self._running: tuple[str, SpecChoice, int] = ("", "auto", 0)
        control.loaded_model.connect(self._on_loaded)
        control.load_failed.connect(self._on_load_failed)

    @property
    def last_good(self) -> str:
        """The reference that was loaded last; empty if none was."""
        return self._running[0]

    @property
    def title(self) -> str:
        """The name of the model for people; empty if none is wanted."""
        loaded = self.control.loaded
        if (
            loaded is not None
            and self.control.phase is Phase.READY
            and not models.is_demo(self.ref)
        ):
            return loaded.name
        return models.title(self.ref) if self.ref else ""

    def open(self, ref: str, spec: str = "", draft_tokens: int | None = None) -> None:
        """Load another model.

        Args:
            ref: "demo", "demo-small" or a path.
            spec: "auto", "off" or a kind of drafter; empty takes the setting.
            draft_tokens: 0 for the kind's own number; None takes the setting.
        """
        chosen = self._settings()
        try:
            file = models.file_of(ref)
        except SlipstreamError as error:
            self.failed.emit(error)
            return
        self.ref = ref
        self.spec = spec_choice(spec or chosen.speculation)
        self.draft_tokens = chosen.draft_tokens if draft_tokens is None else draft_tokens
        self.control.load(
            LoadRequest(model=file, spec=self.spec, draft_tokens=self.draft_tokens or None)
        )

    def speculate(self, spec: str, draft_tokens: int) -> None:
        """Load the same model again, speculating in another way."""
        if self.ref:
            self.open(self.ref, spec, draft_tokens)

    def reload(self) -> None:
        """Load the same model again as the settings say now."""
        if self.ref:
            self.open(self.ref)

    def restart(self) -> None:
        """Load the same model again in the same way."""
        self.speculate(self.spec, self.draft_tokens)

    def _on_loaded(self) -> None:
        self._running = (self.ref, self.spec, self.draft_tokens)
        self.opened.emit(self.ref)

    def _on_load_failed(self, error: BaseException) -> None:
        self.failed_ref = self.ref
        if self.control.loaded is not None:
            self.ref, self.spec, self.draft_tokens = self._running
            self.control.forget_failure()
        self.failed.emit(error)


def spec_choice(word: str) -> SpecChoice:
    """The choice a word stands for; what is not known is "auto"."""
    if word == "off":
        return "off"
    try:
        return DrafterKind(word)
    except ValueError:
        return "auto"
