"""The top of the chat page: which model runs, how, and what it can be changed to."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QProgressBar, QPushButton, QVBoxLayout, QWidget

from slipstream.ui import icons
from slipstream.ui.engine_control import Phase
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.model_desk import ModelDesk
from slipstream.ui.models import Choice, demos
from slipstream.ui.widgets.labels import Pill
from slipstream.ui.wording import context_pill, mode_pill


class Header(QWidget):
    """Shows the model and its state.

    Attributes:
        model_chosen: the reference of the model the user wants.
        open_wanted: the user wants to open a file.
        cancel_wanted: the user wants loading to stop.
        speed_toggled: whether the user wants the speed panel.
    """

    model_chosen = Signal(str)
    open_wanted = Signal()
    cancel_wanted = Signal()
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
        self._model.setMenu(self._menu)
        self._mode = Pill("pill-accent")
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
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._progress.setAccessibleName(tr("Loading progress"))
        self._lay_out()
        self._show_offer()
        self._control.changed.connect(self.refresh)
        desk.offered.connect(self._show_offer)
        look.changed.connect(self.refresh)

    @property
    def model_text(self) -> str:
        """What the button with the model says."""
        return self._model.text()

    def offered(self) -> list[str]:
        """What the menu offers, headings included, without the last entry."""
        titles = []
        for action in self._menu.actions()[:-1]:
            titles.append(action.text())
            below = action.menu()
            titles += [each.text() for each in below.actions()] if isinstance(below, QMenu) else []
        return [each for each in titles if each]

    def _show_offer(self) -> None:
        """Offer the models there are: the demos first, then the user's own."""
        offer = self._desk.offer
        self._menu.clear()
        self._add(self._menu, demos())
        if offer.recent:
            self._menu.addSeparator()
            self._menu.addAction(tr("Opened before")).setEnabled(False)
            self._add(self._menu, offer.recent)
        if offer.folders:
            self._menu.addSeparator()
            self._add(self._menu.addMenu(tr("In your folders")), offer.folders)
        self._menu.addSeparator()
        opener = self._menu.addAction(tr("Open a GGUF file…"))
        opener.setShortcut("Ctrl+O")
        opener.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)  # the window owns the keys
        opener.triggered.connect(self.open_wanted)
        self.refresh()

    def _add(self, menu: QMenu, choices: Sequence[Choice]) -> None:
        menu.setToolTipsVisible(True)
        for choice in choices:
            action = menu.addAction(choice.title)
            action.setToolTip(choice.detail)
            action.setStatusTip(choice.detail)
            action.triggered.connect(lambda _on, ref=choice.ref: self.model_chosen.emit(ref))

    def show_speed(self, shown: bool) -> None:
        """Show on the button whether the panel is open."""
        self.speed.blockSignals(True)
        self.speed.setChecked(shown)
        self.speed.blockSignals(False)

    def refresh(self) -> None:
        """Show what the engine does now."""
        loading = self._control.phase is Phase.LOADING
        theme = self._look.theme
        colour = {
            Phase.READY: theme.accent,
            Phase.LOADING: theme.warning,
            Phase.FAILED: theme.danger,
            Phase.EMPTY: theme.text_faint,
        }[self._control.phase]
        side = self._look.px(9)
        self._model.setIcon(icons.dot(colour, side))
        self._model.setIconSize(QSize(side + self._look.px(4), side))
        name, state = self._desk.title or tr("No model"), self._state()
        room = max(self._look.px(110), round(self.width() * 0.4))
        shown = self._model.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, room)
        self._model.setText(f" {shown}{state} ▾")
        self._model.setToolTip(name)
        self._model.setAccessibleName(f"{tr('Model')}: {name}{state}")
        loaded = None if loading else self._control.loaded
        if loaded is None:
            self._mode.show_text("")
            self._context.show_text("")
        else:
            drafting = loaded.spec.kind is not None
            kind = "pill-warning" if loaded.fallback else "pill-accent" if drafting else "pill"
            self._mode.show_text(mode_pill(loaded.spec), kind)
            self._mode.setToolTip(loaded.fallback or "")
            self._context.show_text(context_pill(loaded.context))
        self._cancel.setVisible(loading)
        self._progress.setVisible(loading)
        progress = self._control.progress
        self._progress.setRange(0, 0 if progress is None else 100)
        self._progress.setValue(round((progress or 0) * 100))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: D102, N802
        super().resizeEvent(event)
        self.refresh()

    def _state(self) -> str:
        if self._control.phase is Phase.LOADING:
            return tr(" · loading…")
        if self._control.phase is Phase.READY or not self._desk.selection.ref:
            return ""
        return tr(" · not running")

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(18, 9, 18, 6)
        row.setSpacing(10)
        for each in (self._model, self._mode, self._context, self._cancel):
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
