"""What the headers of a target and a drafter must have in common, by the kind of drafter.

The rules are the checks of llama.cpp at load, and those it does not make: a drafter of the wrong
width aborts its process.
"""

from collections.abc import Callable

from slipstream.drafters.identify import FileRole, trunk_layers
from slipstream.weights.header import Header

Rule = Callable[[Header, Header], str | None]
"""Takes target and drafter; returns what is wrong, or None."""


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


_DFLASH: tuple[Rule, ...] = (
    _same_width,
    _layers_exist,
    _input_width,
    _mask_token,
)
RULES: dict[FileRole, tuple[Rule, ...]] = {
    FileRole.MTP: (_same_architecture, _same_width, _same_trunk),
    FileRole.GEMMA4_ASSISTANT: (_gemma4_target, _output_width, _same_heads),
    FileRole.DFLASH: _DFLASH,
    FileRole.DFLASH2: _DFLASH,
    FileRole.DSPARK: (*_DFLASH, _block_size),
    FileRole.EAGLE3: (_target_width, _three_layers, _layers_exist),
    FileRole.TARGET: (),
}
