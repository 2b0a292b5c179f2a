"""The look as one typed object: colours that palette, style sheet and painting share."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Theme:
    """Colours (``#rrggbb``) of one appearance; names say what a colour is for."""

    name: str
    dark: bool
    rail: str
    page: str
    surface: str
    raised: str
    border: str
    text: str
    text_muted: str
    text_faint: str
    accent: str
    accent_text: str
    accent_soft: str
    on_accent: str
    pill: str
    bubble: str
    code: str
    warning: str
    warning_soft: str
    danger: str
    danger_soft: str
    weights: str
    context: str
    compute: str
    projector: str


LIGHT = Theme(
    name="light",
    dark=False,
    rail="#eef0f3",
    page="#f6f7f9",
    surface="#ffffff",
    raised="#ffffff",
    border="#e1e4e9",
    text="#1a1d23",
    text_muted="#667085",
    text_faint="#98a2b3",
    accent="#0f8f7f",
    accent_text="#0c7f70",
    accent_soft="#dff5f0",
    on_accent="#ffffff",
    pill="#e3e7ed",
    bubble="#eceff3",
    code="#f1f3f6",
    warning="#9a6700",
    warning_soft="#fff3d6",
    danger="#b42318",
    danger_soft="#fde8e6",
    weights="#4f7fe6",
    context="#9666d6",
    compute="#d99a17",
    projector="#cf5c93",
)

DARK = Theme(
    name="dark",
    dark=True,
    rail="#12151a",
    page="#15181d",
    surface="#1c2027",
    raised="#232830",
    border="#2b313b",
    text="#e7eaf0",
    text_muted="#98a2b3",
    text_faint="#7b8494",
    accent="#37c9b1",
    accent_text="#4fd6bf",
    accent_soft="#15372f",
    on_accent="#0c1512",
    pill="#262c35",
    bubble="#262c35",
    code="#1c2027",
    warning="#f0b429",
    warning_soft="#3a2d10",
    danger="#f97066",
    danger_soft="#3b1d1b",
    weights="#6c9cf8",
    context="#b58ae8",
    compute="#e6b450",
    projector="#e58ab5",
)
