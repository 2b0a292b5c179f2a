"""Whether a drafter fits a target, proven from the two headers.

The rules are the checks of llama.cpp at load, and those it does not make: a drafter of the wrong
width aborts its process, one of another vocabulary never hits.
"""

from collections.abc import Callable
from dataclasses import dataclass

from slipstream.drafters.identify import FileRole, mtp_layers, role_of, trunk_layers
from slipstream.drafters.lineage import made_for, own_names
from slipstream.drafters.vocabulary import different_tokens, same_tokenizer
from slipstream.errors import SlipstreamError
from slipstream.weights.header import Header

# llama.cpp's own tolerance for a plain draft model (common/speculative.cpp).
MAX_SIZE_DIFFERENCE = 128
FIRST_CHECKED_TOKEN = 5

# Architectures whose graphs can do it in the engine this app ships. One that is not here may work
# with a newer engine: it is offered, but not called proven.
# fmt: off
MTP_TARGETS = frozenset(
    {
        "bailingmoe3", "cohere2moe", "deepseek2", "deepseek32", "deepseek4", "glm-dsa", "glm4moe",
        "glm5-next", "glm5next", "hy_v3", "mimo2", "nemotron_h_moe", "qwen35", "qwen35moe",
        "qwen3next", "step35",
    }
)
FEATURE_TARGETS = frozenset(
    {
        "bailingmoe3", "deepseek4", "gemma4", "gpt-oss", "hunyuan_vl", "hunyuan-vl", "lfm2",
        "llama", "mimo2", "minimax-01", "minimax-m2", "muse-glimmer", "nanbeige", "nemotron_h",
        "qwen3", "qwen35", "qwen35moe", "qwen3moe", "qwen3next", "qwen4exp",
    }
)
# fmt: on


@dataclass(frozen=True)
class Proof:
    """Whether a drafter fits a target.

    Attributes:
        fits: nothing in the headers speaks against it.
        proven: the headers also show that it was made for this model.
        reason: one sentence for a person.
    """

    fits: bool
    proven: bool
    reason: str


Rule = Callable[[Header, Header], str | None]
"""Takes target and drafter; returns what is wrong, or None."""


def prove(target: Header, drafter: Header) -> Proof:
    """Compare a target's header with a possible drafter's; never raises for what they say."""
    role = role_of(drafter)
    rules = RULES.get(role)
    if rules is None:
        return Proof(False, False, f"This file cannot draft: it is {_A_FILE[role]}.")
    try:
        problem = next(filter(None, (rule(target, drafter) for rule in rules)), None)
        if problem:
            return Proof(False, False, problem)
        doubt = None if role is FileRole.TARGET else _doubt(role, target, drafter)
    except (SlipstreamError, OSError):
        return Proof(False, False, "Its file can no longer be read.")
    if doubt:
        return Proof(True, False, doubt)
    return Proof(True, True, _WHY[role])


def prove_embedded(target: Header) -> Proof:
    """Whether the target's own MTP head can draft."""
    if not mtp_layers(target):
        return Proof(False, False, "This model has no MTP head.")
    doubt = _unknown_architecture(target, MTP_TARGETS)
    if doubt:
        return Proof(True, False, doubt)
    return Proof(True, True, "The head is part of the model.")


def _same_architecture(target: Header, drafter: Header) -> str | None:
    mine, other = drafter.architecture, target.architecture
    return None if mine == other else f"It is made for {mine} models, this model is {other}."


def _gemma4_target(target: Header, _: Header) -> str | None:
    kind = target.architecture
    return None if kind == "gemma4" else f"It is made for Gemma 4, this model is {kind}."


def _equal(what: str, mine: int | None, other: int | None) -> str | None:
    return None if mine == other else f"Its {what} is {mine}, this model's is {other}."


def _same_width(target: Header, drafter: Header) -> str | None:
    return _equal("hidden size", drafter.hidden_size, target.hidden_size)


def _output_width(target: Header, drafter: Header) -> str | None:
    return _equal("hidden size", drafter.number("embedding_length_out"), target.hidden_size)


def _target_width(target: Header, drafter: Header) -> str | None:
    made_for_width = drafter.number("target_hidden_size") or drafter.hidden_size
    return _equal("hidden size", made_for_width, target.hidden_size)


def _same_trunk(target: Header, drafter: Header) -> str | None:
    return _equal("number of layers", trunk_layers(drafter), trunk_layers(target))


def _same_heads(target: Header, drafter: Header) -> str | None:
    for key in ("attention.key_length", "attention.key_length_swa"):
        problem = _equal("attention head size", drafter.number(key), target.number(key))
        if problem:
            return problem
    return None


def _layers_exist(target: Header, drafter: Header) -> str | None:
    layers = drafter.numbers("target_layers")
    if not layers:
        return "It does not say which layers of its target it reads."
    there = trunk_layers(target)
    if max(layers) > there:
        return f"It reads layer {max(layers)} of its target, this model has {there}."
    return None


def _three_layers(_: Header, drafter: Header) -> str | None:
    count = len(drafter.numbers("target_layers"))
    return None if count == 3 else f"It reads {count} layers of its target; EAGLE-3 needs 3."


def _input_width(_: Header, drafter: Header) -> str | None:
    tensor = drafter.by_name.get("fc.weight")
    if tensor is None:
        return "It lacks the layer that reads its target."
    width = tensor.shape[0] if tensor.shape else 0
    expected = len(drafter.numbers("target_layers")) * drafter.hidden_size
    return None if width == expected else f"Its input has {width} values instead of {expected}."


def _mask_token(target: Header, drafter: Header) -> str | None:
    mask = drafter.integer("tokenizer.ggml.mask_token_id")
    size = target.vocabulary_size
    if mask is not None and mask >= size:
        return f"Its mask token is number {mask}, this model has {size} tokens."
    return None


def _block_size(_: Header, drafter: Header) -> str | None:
    return None if drafter.number("block_size") else "It does not say how many tokens it drafts."


def _same_vocabulary(target: Header, drafter: Header) -> str | None:
    """Equal sizes; a few renamed tokens (the unused ones of a fine-tune) are left to doubt."""
    mine, other = drafter.vocabulary_size, target.vocabulary_size
    if not mine:
        return None
    if mine != other:
        return f"Its vocabulary has {mine} tokens, this model's has {other}."
    if not same_tokenizer(target, drafter):
        return "It splits text into tokens in another way than this model."
    if different_tokens(target, drafter) > MAX_SIZE_DIFFERENCE:
        return "Its vocabulary has as many tokens as this model's, but other ones."
    return None


def _compatible_vocabulary(target: Header, drafter: Header) -> str | None:
    """llama.cpp's own check of a plain draft model."""
    mine, other = drafter.vocabulary_size, target.vocabulary_size
    if not mine or not other or abs(mine - other) > MAX_SIZE_DIFFERENCE:
        return f"Its vocabulary has {mine} tokens, this model's has {other}."
    keys = ["tokenizer.ggml.model"]
    for name in ("bos", "eos"):
        keys += [f"tokenizer.ggml.{name}_token_id", f"tokenizer.ggml.add_{name}_token"]
    # A key that is not there stands for the tokenizer's own habit, which is the same for both.
    stated = [key for key in keys if key in target.keys and key in drafter.keys]
    if any(target.keys[key] != drafter.keys[key] for key in stated):
        return "It starts, ends or splits text in another way than this model."
    if different_tokens(target, drafter, first=FIRST_CHECKED_TOKEN):
        return "Some of its tokens are not those of this model."
    return None


def _doubt(role: FileRole, target: Header, drafter: Header) -> str | None:
    """What is not certain about a drafter that fits by its shape."""
    supported = MTP_TARGETS if role is FileRole.MTP else FEATURE_TARGETS
    unknown = role is not FileRole.GEMMA4_ASSISTANT and _unknown_architecture(target, supported)
    if unknown:
        return unknown
    if not drafter.vocabulary_size:
        return "It carries no vocabulary to compare with this model's."
    changed = different_tokens(target, drafter)
    if changed:
        return f"{changed} of its tokens are not those of this model."
    named = made_for(drafter)
    if not named:
        return "It has the right shape, but does not say which model it was made for."
    if named & own_names(target):
        return None
    return f"It has the right shape, but its name is of another model ({_name(drafter)})."


def _unknown_architecture(target: Header, supported: frozenset[str]) -> str | None:
    if target.architecture in supported:
        return None
    return f"It is not known to work with {target.architecture} models."


def _name(header: Header) -> str:
    return header.text("general.name") or header.path.stem


_DFLASH: tuple[Rule, ...] = (
    _same_width,
    _layers_exist,
    _input_width,
    _mask_token,
    _same_vocabulary,
)
RULES: dict[FileRole, tuple[Rule, ...]] = {
    FileRole.MTP: (_same_architecture, _same_width, _same_trunk, _same_vocabulary),
    FileRole.GEMMA4_ASSISTANT: (_gemma4_target, _output_width, _same_heads, _same_vocabulary),
    FileRole.DFLASH: _DFLASH,
    FileRole.DFLASH2: _DFLASH,
    FileRole.DSPARK: (*_DFLASH, _block_size),
    FileRole.EAGLE3: (_target_width, _three_layers, _layers_exist, _same_vocabulary),
    FileRole.TARGET: (_compatible_vocabulary,),
}
_WHY: dict[FileRole, str] = dict.fromkeys(
    RULES, "Its shape, vocabulary and name are those of a drafter made for this model."
) | {FileRole.TARGET: "It uses the same tokens as this model."}
_A_FILE = {
    FileRole.FORK_DRAFTER: "a drafter for a fork of llama.cpp",
    FileRole.PROJECTOR: "a projector for images",
    FileRole.IMATRIX: "an importance matrix",
    FileRole.ADAPTER: "an adapter",
    FileRole.VOCABULARY: "a vocabulary without a model",
}
