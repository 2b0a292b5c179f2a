"""The top of the chat page: which model runs, how, and what it can be changed to."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QIcon, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QProgressBar, QPushButton, QVBoxLayout, QWidget

from slipstream.engine.requests import Loaded
from slipstream.ui import icons
from slipstream.ui.engine_control import Phase
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.model_desk import ModelDesk
from slipstream.ui.models import Choice, demos
from slipstream.ui.spec_options import offered
from slipstream.ui.widgets.choice import ChoiceButton
from slipstream.ui.widgets.labels import Pill, wear_kind
from slipstream.ui.wording import mode_pill, speculation
from slipstream.words import context_words


class Header(QWidget):
    """Shows the model and its state.

    Attributes:
        model_chosen: the reference of the model the user wants.
        open_wanted: the user wants to open a file.
        cancel_wanted: the user wants loading to stop.
        speculation_chosen: "auto", "off" or a kind of drafter.
        speed_toggled: whether the user wants the speed panel.
        mode: shows how it speculates, and offers other ways.
        speed: opens the speed panel.
    """

    model_chosen = Signal(str)
    open_wanted = Signal()
    cancel_wanted = Signal()
    speculation_chosen = Signal(str)
    speed_toggled = Signal(bool)

    def __init__(self, look: Look, desk: ModelDesk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._desk = desk
        self._control = desk.control
        self.setObjectName("header")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._model = QPushButton()
        self._menu = QMenu(self._model)
        self._choices: list[QAction] = []
        self._stale = True  # the menu does not offer what the desk does
        self._model.setMenu(self._menu)
        self.mode = ChoiceButton(tr("Speculation"), look, kind="pill")
        self.mode.setCursor(Qt.CursorShape.PointingHandCursor)
        self.mode.chosen.connect(self.speculation_chosen)
        self._context = Pill()
        self._cancel = QPushButton(tr("Cancel"))
        self._cancel.setProperty("kind", "link")
        self._cancel.setAccessibleName(tr("Cancel loading"))
        self._cancel.clicked.connect(self.cancel_wanted)
        self.speed = QPushButton(tr("Speed"))
        self.speed.setProperty("kind", "outline")
        self.speed.setCheckable(True)
        self.speed.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self.speed.setAccessibleName(tr("Show the speed panel"))
        icons.wear(self.speed, "chevron-right", look, role="accent_text", size=14)
        self.speed.toggled.connect(self.speed_toggled)
        self._row = QHBoxLayout()
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._progress.setAccessibleName(tr("Loading progress"))
        self._lay_out()
        self._menu.aboutToShow.connect(self._fill)
        self._on_offered()
        self._control.changed.connect(self.refresh)
        desk.offered.connect(self._on_offered)
        look.changed.connect(self.refresh)

    @property
    def model_text(self) -> str:
        """What the button with the model says."""
        return self._model.text()

    def offered(self) -> list[str]:
        """What the menu offers, headings included, without the last entry."""
        self._fill()
        titles = []
        for action in self._menu.actions()[:-1]:
            titles.append(action.text())
            below = action.menu()
            titles += [each.text() for each in below.actions()] if isinstance(below, QMenu) else []
        return [each for each in titles if each]

    def marked(self) -> list[str]:
        """Which entries of the menu are marked as the model that runs."""
        self._fill()
        return list(dict.fromkeys(each.text() for each in self._choices if each.isChecked()))

    def _on_offered(self) -> None:
        """The menu is filled when it is opened: there may be a thousand models."""
        self._stale = True
        self.refresh()

    def _fill(self) -> None:
        """Offer the models there are: the demos first, then the user's own."""
        if not self._stale:
            return
        self._stale = False
        offer = self._desk.offer
        self._menu.clear()
        self._choices.clear()
        self._add(self._menu, demos())
        if offer.recent:
            self._menu.addSeparator()
            self._menu.addAction(tr("Opened before")).setEnabled(False)
            self._add(self._menu, offer.recent)
        if offer.here:
            self._menu.addSeparator()
            self._add(self._menu.addMenu(tr("On this computer")), offer.here)
        self._menu.addSeparator()
        opener = self._menu.addAction(tr("Open a GGUF file…"))
        opener.setShortcut("Ctrl+O")
        opener.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)  # the window owns the keys
        opener.triggered.connect(self.open_wanted)
        self._mark_running()

    def _on_chosen(self, ref: str) -> None:
        self._mark_running()  # Qt has marked what was clicked, which is not loaded yet
        self.model_chosen.emit(ref)

    def _mark_running(self) -> None:
        """Mark the model that runs, or is to."""
        mark = QIcon(icons.check(self._look))
        for action in self._choices:
            running = action.data() == self._desk.selection.ref
            action.setChecked(running)
            action.setIcon(mark if running else QIcon())

    def _add(self, menu: QMenu, choices: Sequence[Choice]) -> None:
        menu.setToolTipsVisible(True)
        for choice in choices:
            action = menu.addAction(choice.title)
            action.setToolTip(choice.detail)
            action.setStatusTip(choice.detail)
            action.setCheckable(True)
            action.setData(choice.ref)
            action.triggered.connect(lambda _on, ref=choice.ref: self._on_chosen(ref))
            self._choices.append(action)

    def show_speed(self, shown: bool) -> None:
        """Show on the button whether the panel is open."""
        self.speed.blockSignals(True)
        self.speed.setChecked(shown)
        self.speed.blockSignals(False)

    def refresh(self) -> None:
        """Show what the engine does now."""
        loading = self._control.phase is Phase.LOADING
        self._show_state()
        self._mark_running()
        loaded = None if loading else self._control.loaded
        self._context.show_text("" if loaded is None else context_words(loaded.context))
        self.mode.setVisible(loaded is not None)
        if loaded is not None:
            self._show_mode(loaded)
        self._cancel.setVisible(loading)
        self._progress.setVisible(loading)
        progress = self._control.progress
        self._progress.setRange(0, 0 if progress is None else 100)
        self._progress.setValue(round((progress or 0) * 100))
        self._fit()

    def _show_state(self) -> None:
        theme, name = self._look.theme, self._name()
        colour = {
            Phase.READY: theme.accent,
            Phase.LOADING: theme.warning,
            Phase.FAILED: theme.danger,
            Phase.EMPTY: theme.text_faint,
        }[self._control.phase]
        side = self._look.px(9)
        self._model.setIcon(icons.dot(colour, side))
        self._model.setIconSize(QSize(side + self._look.px(4), side))
        self._model.setToolTip(name)
        self._model.setAccessibleName(f"{tr('Model')}: {name}{self._state()}")

    def _fit(self) -> None:
        """Where there is no room for everything, the context goes first, then part of the name."""
        self._context.setVisible(bool(self._context.text()))
        room = max(self._look.px(110), round(self.width() * 0.4))
        taken = self._show_name(room)
        if self._excess() > 0:
            self._context.setVisible(False)
        if self._excess() > 0:
            self._show_name(max(self._look.px(40), taken - self._excess()))

    def _excess(self) -> int:
        self._row.invalidate()  # what was just hidden or renamed counts as it is now
        return self._row.minimumSize().width() - self.width()

    def _show_name(self, room: int) -> int:
        """Show the name in this many pixels at most; returns how many it takes."""
        metrics = self._model.fontMetrics()
        shown = metrics.elidedText(self._name(), Qt.TextElideMode.ElideMiddle, room)
        self._model.setText(f" {shown}{self._state()} ▾")
        return metrics.horizontalAdvance(shown)

    def _name(self) -> str:
        return self._desk.title or tr("No model")

    def _show_mode(self, loaded: Loaded) -> None:
        drafting = loaded.spec.kind is not None
        kind = "pill-warning" if loaded.fallback else "pill-accent" if drafting else "pill"
        wear_kind(self.mode, kind)
        self.mode.show_choices(offered(loaded), str(loaded.request.spec))
        self.mode.show_words(mode_pill(loaded.spec))
        self.mode.setToolTip(f"{speculation(loaded)}\n{tr('Click to speculate in another way.')}")

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: D102, N802
        super().resizeEvent(event)
        self._fit()

    def _state(self) -> str:
        if self._control.phase is Phase.LOADING:
            return tr(" · loading…")
        if self._control.phase is Phase.READY or not self._desk.selection.ref:
            return ""
        return tr(" · not running")

    def _lay_out(self) -> None:
        row = self._row
        row.setContentsMargins(18, 9, 18, 6)
        row.setSpacing(10)
        for each in (self._model, self.mode, self._context, self._cancel):
            row.addWidget(each)
        row.addStretch()
        row.addWidget(self.speed)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        holder = QVBoxLayout()
        holder.setContentsMargins(0, 0, 0, 0)
        holder.addWidget(self._progress)
        column.addLayout(holder)
        self._progress.setMaximumHeight(3)
        policy = self._progress.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._progress.setSizePolicy(policy)
