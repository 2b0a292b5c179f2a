"""One editor per kind of setting: shows the value, reports the new one."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QFileDialog,
    QHBoxLayout,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from slipstream.settings import Kind, Setting, Value
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.widgets.choice import ChoiceButton, Option
from slipstream.ui.widgets.labels import label
from slipstream.ui.widgets.limited_text import LimitedText

Report = Callable[[Value], None]

_UNSET = "\0"  # in a menu, what stands for None
_DECIMAL_STEP = 0.05
_TEXT_HEIGHT = 76


def _nothing() -> None:
    """Nothing waits to be taken over."""


@dataclass(frozen=True)
class Editor:
    """What edits one setting: its widget, how it shows a value that was set elsewhere, how what is
    being typed is taken over at once, and what stands below it where it has something to say."""

    widget: QWidget
    show: Callable[[Value], None]
    flush: Callable[[], None] = _nothing
    note: QWidget | None = None


def editor_of(setting: Setting, report: Report, look: Look) -> Editor:
    """An editor for a setting; ``report`` gets every new value."""
    makers = {
        Kind.CHOICE: _choice,
        Kind.NUMBER: _number,
        Kind.SWITCH: _switch,
        Kind.FILE: _file,
        Kind.FOLDERS: _folders,
        Kind.DECIMAL: _decimal,
        Kind.TEXT: _text,
    }
    return makers[setting.kind](setting, report, look)


def _choice(setting: Setting, report: Report, look: Look) -> Editor:
    """A menu of the choices; where something else may decide, that comes first."""
    button = ChoiceButton(tr(setting.label), look)
    options = [
        Option(key, tr(title), tr(setting.meanings.get(key, "")))
        for key, title in setting.choices.items()
    ]
    if setting.default is None:
        options.insert(0, Option(_UNSET, tr(setting.words(None))))

    def show(value: Value) -> None:
        button.show_value(_UNSET if value is None else str(value))

    button.show_choices(options, "")
    show(setting.default)
    button.chosen.connect(lambda value: report(None if value == _UNSET else value))
    return Editor(button, show)


def _number(setting: Setting, report: Report, _look: Look) -> Editor:
    """A number with its unit; a special value is shown in words."""
    box = QSpinBox()
    lowest = int(setting.minimum) - (setting.default is None)
    box.setRange(lowest, int(setting.maximum))
    box.setSingleStep(int(setting.step))
    box.setGroupSeparatorShown(True)
    return _of_numbers(box, setting, report, lowest)


def _decimal(setting: Setting, report: Report, _look: Look) -> Editor:
    """A number with a fraction; a special value is shown in words."""
    box = QDoubleSpinBox()
    step = _DECIMAL_STEP
    lowest = setting.minimum - (step if setting.default is None else 0)
    box.setDecimals(2)
    box.setRange(lowest, setting.maximum)
    box.setSingleStep(step)
    return _of_numbers(box, setting, report, lowest)


def _of_numbers(
    box: QSpinBox | QDoubleSpinBox, setting: Setting, report: Report, lowest: float
) -> Editor:
    """What both kinds of number have in common; the lowest value stands for the special one."""
    unset = setting.default is None
    box.setKeyboardTracking(False)  # not every digit that is typed is a value
    box.setSuffix(f" {setting.unit}" if setting.unit else "")
    if setting.special is not None and (unset or setting.special[0] == setting.minimum):
        box.setSpecialValueText(tr(setting.special[1]))
    box.setAlignment(Qt.AlignmentFlag.AlignRight)
    box.setAccessibleName(tr(setting.label))
    box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def show(value: Value) -> None:
        box.blockSignals(True)
        if isinstance(value, int | float):
            box.setValue(value)  # type: ignore[arg-type]
        elif unset:
            box.setValue(lowest)  # type: ignore[arg-type]
        box.blockSignals(False)

    show(setting.default)
    box.valueChanged.connect(
        lambda value: report(None if unset and value < setting.minimum else value)
    )
    return Editor(box, show, box.interpretText)


def _text(setting: Setting, report: Report, look: Look) -> Editor:
    """Several lines of text."""
    field = LimitedText(report, int(setting.maximum))
    field.setObjectName("settingText")
    field.setAccessibleName(tr(setting.label))
    field.setTabChangesFocus(True)

    def fit() -> None:
        field.setFont(look.mono(13))
        field.setFixedHeight(look.px(_TEXT_HEIGHT))

    fit()
    look.changed.connect(fit)

    def show(value: Value) -> None:
        field.show_text(str(value or ""))

    return Editor(field, show, field.flush, field.note)


def _switch(setting: Setting, report: Report, _look: Look) -> Editor:
    """On or off."""
    button = QPushButton(tr("Off"))
    button.setCheckable(True)
    button.setProperty("kind", "pill")
    button.setAccessibleName(tr(setting.label))
    button.toggled.connect(lambda on: button.setText(tr("On") if on else tr("Off")))
    button.clicked.connect(report)
    return Editor(button, lambda value: button.setChecked(bool(value)))


def _file(setting: Setting, report: Report, _look: Look) -> Editor:
    """The file in words, and buttons to choose another one or go back to the default."""
    widget = QWidget()
    shown = label("", "muted")
    choose = QPushButton(tr("Choose…"))
    choose.setAccessibleName(tr("Choose: {name}").format(name=tr(setting.label)))
    reset = QPushButton(tr(setting.words(setting.default)))
    reset.setAccessibleName(f"{tr(setting.label)}: {reset.text()}")

    def show(value: Value) -> None:
        words = tr(setting.words(value))
        shown.setText(words if len(words) < 40 else f"…{words[-38:]}")
        shown.setToolTip(words)
        reset.setVisible(value != setting.default)

    def ask() -> None:
        path, _ = QFileDialog.getOpenFileName(widget, tr(setting.label))
        if path:
            report(path)

    choose.clicked.connect(ask)
    reset.clicked.connect(lambda: report(setting.default))
    row = QHBoxLayout()
    row.addWidget(choose)
    row.addWidget(reset)
    column = QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    column.addWidget(shown, 0, Qt.AlignmentFlag.AlignRight)
    column.addLayout(row)
    return Editor(widget, show)


def _folders(setting: Setting, report: Report, _look: Look) -> Editor:
    """The folders, each with a button to take it out, and a button to add one."""
    widget = QWidget()
    folders: list[str] = []
    rows = QVBoxLayout()
    add = QPushButton(tr("Add a folder…"))

    def show(value: Value) -> None:
        folders[:] = value if isinstance(value, tuple) else ()
        while (item := rows.takeAt(0)) is not None:
            if (row := item.widget()) is not None:
                row.deleteLater()
        for folder in folders:
            rows.addWidget(_folder_row(folder, partial(remove, folder)))

    def remove(folder: str) -> None:
        report(tuple(each for each in folders if each != folder))

    def ask() -> None:
        path = QFileDialog.getExistingDirectory(widget, tr(setting.label))
        if path and path not in folders:
            report((*folders, path))

    add.clicked.connect(ask)
    column = QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    column.addLayout(rows)
    column.addWidget(add, 0, Qt.AlignmentFlag.AlignRight)
    return Editor(widget, show)


def _folder_row(folder: str, remove: Callable[[], None]) -> QWidget:
    holder = QWidget()
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 0, 0)
    shown = label(folder if len(folder) < 40 else f"…{folder[-38:]}", "muted")
    shown.setToolTip(folder)
    button = QPushButton(tr("Remove"))
    button.setProperty("kind", "link")
    button.setAccessibleName(tr("Remove {folder}").format(folder=folder))
    button.clicked.connect(remove)
    row.addWidget(shown, 1)
    row.addWidget(button)
    return holder
