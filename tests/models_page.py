"""What a user does on the Models page."""

from collections.abc import Callable

from slipstream.ui.app import Running
from slipstream.ui.picker.model_look import Stage
from slipstream.ui.picker.page import ModelsPage

Until = Callable[..., None]


def opened(running: Running) -> ModelsPage:
    """The page, in a window of a usual size."""
    running.window.resize(1280, 800)
    running.window.show_page("models")
    return running.window.pages.models


def shown(page: ModelsPage, until: Until, repo: str) -> ModelsPage:
    """The page of a repository, when there is no more to find out."""
    page.show_repository(repo)
    until(lambda: page.model.stage in (Stage.SHOWN, Stage.FAILED))
    until(lambda: not page.model.looking_further)
    return page


def press_row(page: ModelsPage, label: str) -> None:
    """Press the first button of a quantization."""
    row = next(row for row in page.view.rows.rows if row.line and row.line.label == label)
    if page.view.rows.chosen is None or page.view.rows.chosen.label != label:
        row.click()
    page.view.rows.breakdown.buttons.press()
