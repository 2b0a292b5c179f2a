"""What the page of local models shows where there are none: the ways to get one."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from slipstream.ui import icons
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.widgets.flow import FlowLayout
from slipstream.ui.widgets.labels import label


class NoModels(QWidget):
    """The ways to get a model.

    Attributes:
        find_wanted: the user wants to search the Hub.
        folder_wanted: the user wants to choose a folder with models.
        file_wanted: the user wants to open a file.
    """

    find_wanted = Signal()
    folder_wanted = Signal()
    file_wanted = Signal()

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = label("", "section", wrap=True)
        self._text = label("", "muted", wrap=True)
        self.search = QPushButton(tr("Find a model"))
        self.search.setProperty("kind", "primary")
        icons.wear(self.search, "search", look, role="on_accent", size=16)
        self.search.clicked.connect(self.find_wanted)
        self.folder = QPushButton(tr("Add a folder with models"))
        icons.wear(self.folder, "folder-open", look, role="text_muted", size=16)
        self.folder.clicked.connect(self.folder_wanted)
        self.file = QPushButton(tr("Open a GGUF file"))
        self.file.clicked.connect(self.file_wanted)
        self._buttons = QWidget()
        flow = FlowLayout(self._buttons, gap=8)
        for each in (self.search, self.folder, self.file):
            flow.addWidget(each)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 24, 0, 24)
        column.setSpacing(10)
        column.addWidget(self._title)
        column.addWidget(self._text)
        column.addWidget(self._buttons)
        column.addStretch()

    @property
    def text(self) -> str:
        """What it says."""
        return f"{self._title.text()} {self._text.text()}"

    def show_state(self, *, looking: bool, filtered: bool) -> None:
        """Say why there is nothing.

        Args:
            looking: this computer was not looked through yet.
            filtered: there are models, but none is called as asked for.
        """
        self._buttons.setVisible(not looking and not filtered)
        if looking:
            self._title.setText(tr("Looking through this computer …"))
            self._text.setText("")
        elif filtered:
            self._title.setText(tr("No model on this computer is called so."))
            self._text.setText(tr("Clear the field above to see all of them."))
        else:
            self._title.setText(tr("There are no models on this computer yet."))
            self._text.setText(
                tr(
                    "Models that the Hugging Face tools, LM Studio or Ollama downloaded appear"
                    " here by themselves, and are used where they are. You can also drop a"
                    " .gguf file, or a folder that holds some, onto this window."
                )
            )
