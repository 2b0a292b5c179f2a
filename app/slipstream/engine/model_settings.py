"""What the user can choose for one model, as chat, compare and server use it alike."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from slipstream.drafters.kinds import SpecChoice
from slipstream.engine.embedded_values import KV_TYPES
from slipstream.engine.requests import ReplyOptions
from slipstream.settings import Kind, declare, declared
from slipstream.words import SPECULATION

_LONGEST_TEMPLATE = 30_000
"""Characters: the engine gets it in its command line, which Windows limits to 32,767."""
_LONGEST_EXTRA = 2_000
_MOST_SEED = 2**31 - 1

KV_MEANINGS: Mapping[str, str] = {
    "f16": "As the model was made; the safe choice",
    "f32": "Twice the memory, for nothing that anybody notices",
    "q8_0": "Half the memory, next to no loss",
    "q4_0": "A quarter of the memory, a loss that may show",
}
"""What is to be known of the types of the KV cache, where there is something."""
_AUTOMATIC = (None, "Automatic")
_OF_MODEL = (None, "Model's own")


@dataclass(frozen=True)
class Preset:
    """Values of sampling under one name; None leaves a value to the model."""

    name: str
    meaning: str
    values: ReplyOptions


PRESETS: Mapping[str, Preset] = {
    "": Preset("Model's own", "What the model's file or the engine says", ReplyOptions()),
    "precise": Preset(
        "Precise",
        "Keeps to what is likeliest: facts, code, summaries",
        ReplyOptions(temperature=0.2, top_k=40, top_p=0.9, min_p=0.05, repeat_penalty=1.0),
    ),
    "balanced": Preset(
        "Balanced",
        "Some variety, rarely odd: everyday questions",
        ReplyOptions(temperature=0.7, top_k=40, top_p=0.95, min_p=0.05, repeat_penalty=1.0),
    ),
    "creative": Preset(
        "Creative",
        "Much variety: stories and ideas",
        ReplyOptions(temperature=1.1, top_k=0, top_p=1.0, min_p=0.05, repeat_penalty=1.05),
    ),
}
"""The built-in presets of sampling, by the value of ``preset``."""


@dataclass(frozen=True)
class ModelSettings:
    """The values; None, or empty text, leaves one to the app's settings, the model or the engine.

    The order is the order in which they are shown.
    """

    context: int | None = declare(
        None,
        Kind.NUMBER,
        "Memory",
        "Context",
        "How many tokens the conversation and the reply share. More context needs more memory.",
        minimum=512,
        maximum=1_048_576,
        step=1024,
        unit="tokens",
        special=(None, "As in Settings"),
        restarts_engine=True,
    )
    kv_type: str = declare(
        "",
        Kind.CHOICE,
        "Memory",
        "Type of the context's memory",
        "How exactly the model remembers the conversation (the KV cache). A smaller type makes "
        "room for more context.",
        choices={"": "As usual (f16)", **{name: name for name in KV_TYPES}},
        meanings=KV_MEANINGS,
        restarts_engine=True,
    )
    gpu_layers: int | None = declare(
        None,
        Kind.NUMBER,
        "Memory",
        "Layers on the GPU",
        "Automatic gives the GPU as many layers as it holds. With 0 the processor does all.",
        maximum=999,
        special=_AUTOMATIC,
        restarts_engine=True,
    )
    spec: SpecChoice | None = declare(  # noqa: RUF009 - it is a field
        None,
        Kind.CHOICE,
        "Speculation",
        "Speculation",
        "What “Automatic” means for this model wherever it is loaded.",
        choices={word: way.name for word, way in SPECULATION.items() if word != "auto"},
        meanings={word: way.meaning for word, way in SPECULATION.items()},
        special=_AUTOMATIC,
        restarts_engine=True,
    )
    draft_tokens: int | None = declare(
        None,
        Kind.NUMBER,
        "Speculation",
        "Draft tokens",
        "The most tokens a drafter proposes at once. Automatic takes what suits the drafter.",
        minimum=1,
        maximum=64,
        special=_AUTOMATIC,
        restarts_engine=True,
    )
    reasoning: str = declare(
        "auto",
        Kind.CHOICE,
        "Conversation",
        "Thinking",
        "Whether the model is asked to think before it answers, if it can.",
        choices={"auto": "As the model does", "on": "On", "off": "Off"},
        restarts_engine=True,
    )
    use_projector: bool = declare(
        True,
        Kind.SWITCH,
        "Conversation",
        "Images",
        "Loads what lets the model read images, if it is here. Off saves its memory.",
        restarts_engine=True,
    )
    chat_template: str = declare(
        "",
        Kind.TEXT,
        "Conversation",
        "Chat template",
        "Jinja text that replaces the model's own template. Leave it empty unless replies are "
        "broken.",
        maximum=_LONGEST_TEMPLATE,
        restarts_engine=True,
    )
    preset: str = declare(
        "",
        Kind.CHOICE,
        "Sampling",
        "Preset",
        "How freely the model chooses its words. The values below go before the preset's.",
        choices={word: preset.name for word, preset in PRESETS.items()},
        meanings={word: preset.meaning for word, preset in PRESETS.items()},
    )
    temperature: float | None = declare(
        None,
        Kind.DECIMAL,
        "Sampling",
        "Temperature",
        "0 always takes the likeliest token; higher values vary more.",
        maximum=5,
        special=_OF_MODEL,
    )
    top_k: int | None = declare(
        None,
        Kind.NUMBER,
        "Sampling",
        "Top k",
        "Chooses among so many of the likeliest tokens; 0 among all.",
        maximum=1000,
        special=_OF_MODEL,
    )
    top_p: float | None = declare(
        None,
        Kind.DECIMAL,
        "Sampling",
        "Top p",
        "Chooses among the likeliest tokens that have this probability together; 1 among all.",
        maximum=1,
        special=_OF_MODEL,
    )
    min_p: float | None = declare(
        None,
        Kind.DECIMAL,
        "Sampling",
        "Min p",
        "Leaves out tokens less likely than this share of the likeliest one; 0 leaves out none.",
        maximum=1,
        special=_OF_MODEL,
    )
    repeat_penalty: float | None = declare(
        None,
        Kind.DECIMAL,
        "Sampling",
        "Repeat penalty",
        "Makes repeated tokens less likely; 1 does nothing.",
        maximum=2,
        special=_OF_MODEL,
    )
    max_tokens: int | None = declare(
        None,
        Kind.NUMBER,
        "Sampling",
        "Longest reply",
        "Ends a reply after so many tokens.",
        minimum=1,
        maximum=1_048_576,
        unit="tokens",
        special=(None, "No limit"),
    )
    seed: int | None = declare(
        None,
        Kind.NUMBER,
        "Sampling",
        "Seed",
        "The same number makes the same reply again, on the same engine and settings.",
        maximum=_MOST_SEED,
        special=(None, "A new one each time"),
    )
    threads: int | None = declare(
        None,
        Kind.NUMBER,
        "Engine",
        "Processor threads",
        "How many processor threads the engine uses for this model.",
        minimum=1,
        maximum=512,
        special=(None, "As in Settings"),
        restarts_engine=True,
    )
    batch: int | None = declare(
        None,
        Kind.NUMBER,
        "Engine",
        "Batch",
        "How many tokens of a prompt are handed over at once.",
        minimum=32,
        maximum=16_384,
        step=32,
        unit="tokens",
        special=_AUTOMATIC,
        restarts_engine=True,
    )
    micro_batch: int | None = declare(
        None,
        Kind.NUMBER,
        "Engine",
        "Micro-batch",
        "How many of those are computed at once. More needs more memory.",
        minimum=32,
        maximum=16_384,
        step=32,
        unit="tokens",
        special=_AUTOMATIC,
        restarts_engine=True,
    )
    flash_attention: str = declare(
        "auto",
        Kind.CHOICE,
        "Engine",
        "Flash attention",
        "A way to compute that needs less memory, where the engine has it.",
        choices={"auto": "Automatic", "on": "On", "off": "Off"},
        restarts_engine=True,
    )
    extra: str = declare(
        "",
        Kind.TEXT,
        "Engine",
        "Extra arguments",
        "For experts: further options of the engine's command line.",
        maximum=_LONGEST_EXTRA,
        restarts_engine=True,
    )

    @property
    def changes_launch(self) -> bool:
        """Whether the engine is started otherwise than without them."""
        of_launch = (one for one in declared(ModelSettings) if one.restarts_engine)
        return any(getattr(self, one.key) != one.default for one in of_launch)

    @property
    def sampling(self) -> ReplyOptions:
        """The values of sampling: the preset's, and over them those that are set one by one."""
        keys = {one.key for one in declared(ModelSettings)}
        names = (item.name for item in fields(ReplyOptions) if item.name in keys)
        own = ReplyOptions(**{name: getattr(self, name) for name in names})
        return own.over(PRESETS[self.preset].values)
