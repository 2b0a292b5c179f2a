"""The rows of quantizations say all they have to say, however large the text, small the page."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtGui import QFontMetrics

from slipstream.engine.picture import Picture
from slipstream.ui.app import Running
from slipstream.ui.look import Look
from slipstream.ui.picker.columns import columns_for
from slipstream.ui.picker.model_look import Model, Stage
from slipstream.ui.picker.wording import remark
from slipstream.ui.widgets.pill_painting import pill_size

Until = Callable[..., None]
VERDICTS = (
    "Fits fully on your GPU",
    "Fits in main memory",
    "Too large: needs 112.3 GB, 112.8 GB free",
    "Fits, 24 of 48 layers on the GPU (slower)",
    "Fits in main memory, not on the GPU (slower)",
    "Fits, experts of 24 layers in main memory (slower)",
)


@pytest.fixture
def picture(start: Callable[[], Running], until: Until) -> Picture:
    """A model on this computer, with a name as long as they come."""
    page = start().window.pages.models
    page.show_model(Model("demo"))
    until(lambda: page.model.stage is Stage.SHOWN)
    assert page.model.picture is not None
    return page.model.picture


@pytest.mark.parametrize(
    ("percent", "width"), [(100, 1000), (100, 620), (100, 480), (150, 900), (150, 539)]
)
def test_nothing_in_a_row_is_cut_or_covered(picture: Picture, percent: int, width: int) -> None:
    look = Look()
    look.choose("light", percent)
    for verdict in VERDICTS:
        check(picture, look, width, verdict)


def check(picture: Picture, look: Look, width: int, verdict: str) -> None:
    quantization = replace(picture.lines[0].plan.quantization, label="UD-IQ3_XXS")
    plan = replace(picture.lines[0].plan, quantization=quantization, recommended=True)
    line = replace(picture.lines[0], plan=plan, verdict=verdict)
    assert line.here
    columns = columns_for([line], width, look)
    places = columns.places(width)
    assert places.verdict.width() >= pill_size(verdict, look).width()
    assert places.verdict.height() >= pill_size(verdict, look).height()
    name = QFontMetrics(columns.fonts.bold).horizontalAdvance(line.label)
    below = QFontMetrics(columns.fonts.small).horizontalAdvance(remark(line))
    one_line = columns.lines == 1
    said = max(name, below) if one_line else name + look.px(8) + below
    assert places.label.width() >= said
    parts = [places.label, places.size, places.bar, places.total, places.verdict]
    for number, part in enumerate(parts):
        assert part.left() >= 0
        assert part.right() < width
        assert part.top() >= 0
        assert part.bottom() < columns.height
        assert not any(part.intersects(other) for other in parts[number + 1 :])
    assert places.bar.width() >= look.px(60)
