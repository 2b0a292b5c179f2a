"""Whether a drafter fits a target, proven from the two headers and their names.

Beside the rules for each kind: a drafter of another vocabulary, or made for another model of the
same shape, is never right.
"""

from dataclasses import dataclass
from functools import partial

from slipstream.drafters.identify import FileRole, mtp_layers, role_of
from slipstream.drafters.lineage import (
    ModelName,
    Place,
    also_made_for,
    made_for,
    other_name,
    own_name,
    place_of,
)
from slipstream.drafters.rules import RULES
from slipstream.drafters.vocabulary import (
    Tokens,
    different_tokens,
    same_tokenizer,
    tokens_in_file,
)
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


@dataclass(frozen=True)
class _Pair:
    """A target, a drafter, and what else is known of them."""

    target: Header
    drafter: Header
    role: FileRole
    target_place: Place | None
    drafter_place: Place | None
    tokens: Tokens

    def different_tokens(self, first: int = 0) -> int:
        return different_tokens(self.target, self.drafter, first=first, tokens=self.tokens)

    @property
    def target_name(self) -> ModelName | None:
        return own_name(self.target, self.target_place)

    @property
    def other_target_name(self) -> ModelName | None:
        """What the target's repository is called, if that is another model, and not the drafter's
        repository as well."""
        target = self.target_place or place_of(self.target.path)
        drafter = self.drafter_place or place_of(self.drafter.path)
        same = target.repository.lower() == drafter.repository.lower()
        return None if same else other_name(self.target, target)

    @property
    def drafter_name(self) -> ModelName | None:
        return made_for(self.drafter, self.drafter_place, head=self.role is FileRole.MTP)


def prove(
    target: Header,
    drafter: Header,
    *,
    target_place: Place | None = None,
    drafter_place: Place | None = None,
    tokens: Tokens = tokens_in_file,
) -> Proof:
    """Compare a target's header with a possible drafter's; never raises for what they say.

    Args:
        target, drafter: the headers of the whole models.
        target_place, drafter_place: where their files lie; None asks their paths on this computer.
        tokens: gets the tokens of either; asked only when the headers leave open whether these
            are the same.

    Raises: what ``tokens`` raises, but for SlipstreamError and OSError.
    """
    role = role_of(drafter)
    if role not in RULES:
        return Proof(False, False, f"This file cannot draft: it is {_A_FILE[role]}.")
    pair = _Pair(target, drafter, role, target_place, drafter_place, tokens)
    try:
        problem = _problem(pair)
        if problem:
            return Proof(False, False, problem)
        if role is FileRole.TARGET:
            return Proof(True, True, "It uses the same tokens as this model.")
        doubt = _doubt(pair)
    except (SlipstreamError, OSError):
        return Proof(False, False, "Its file can no longer be read.")
    return Proof(True, False, doubt) if doubt else Proof(True, True, _why(pair))


def names_target(
    target: Header,
    drafter: Header,
    target_place: Place | None = None,
    drafter_place: Place | None = None,
) -> bool:
    """Whether a drafter calls itself one of this model."""
    pair = _Pair(target, drafter, role_of(drafter), target_place, drafter_place, tokens_in_file)
    return _same(pair.target_name, pair.drafter_name)


def prove_embedded(target: Header) -> Proof:
    """Whether the target's own MTP head can draft."""
    if not mtp_layers(target):
        return Proof(False, False, "This model has no MTP head.")
    doubt = _unknown_architecture(target, MTP_TARGETS)
    if doubt:
        return Proof(True, False, doubt)
    return Proof(True, True, "The head is part of the model.")


def can_be_proven(target: Header) -> bool:
    """Whether the engine this app ships knows any drafter for models of this architecture."""
    return target.architecture in MTP_TARGETS | FEATURE_TARGETS


def _problem(pair: _Pair) -> str | None:
    """What speaks against a drafter; None if it fits. Vocabularies are compared last."""
    vocabulary = _compatible_vocabulary if pair.role is FileRole.TARGET else _same_vocabulary
    rules = (partial(rule, pair.target, pair.drafter) for rule in RULES[pair.role])
    return next(filter(None, (rule() for rule in (*rules, partial(vocabulary, pair)))), None)


def _same_vocabulary(pair: _Pair) -> str | None:
    """Equal sizes; a few renamed tokens (the unused ones of a fine-tune) are left to doubt."""
    mine, other = pair.drafter.vocabulary_size, pair.target.vocabulary_size
    if not mine:
        return None
    if mine != other:
        return f"Its vocabulary has {mine} tokens, this model's has {other}."
    if not same_tokenizer(pair.target, pair.drafter):
        return "It splits text into tokens in another way than this model."
    if pair.different_tokens() > MAX_SIZE_DIFFERENCE:
        return "Its vocabulary has as many tokens as this model's, but other ones."
    return None


def _compatible_vocabulary(pair: _Pair) -> str | None:
    """llama.cpp's own check of a plain draft model."""
    target, drafter = pair.target, pair.drafter
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
    if pair.different_tokens(first=FIRST_CHECKED_TOKEN):
        return "Some of its tokens are not those of this model."
    return None


def _doubt(pair: _Pair) -> str | None:
    """What is not certain about a drafter that fits by its shape."""
    supported = MTP_TARGETS if pair.role is FileRole.MTP else FEATURE_TARGETS
    if pair.role is not FileRole.GEMMA4_ASSISTANT:
        unknown = _unknown_architecture(pair.target, supported)
        if unknown:
            return unknown
    if not pair.drafter.vocabulary_size:
        return "It carries no vocabulary to compare with this model's."
    changed = pair.different_tokens()
    if changed:
        return f"{changed} of its tokens are not those of this model."
    mine, other = pair.drafter_name, pair.target_name
    if not mine:
        return "It has the right shape, but does not say which model it was made for."
    if not other:
        return "It has the right shape, but nothing says which model this is."
    if not _same(mine, other) and not _named_beside(pair, other):
        return f"It has the right shape, but its name is of another model ({mine.text})."
    around = pair.other_target_name
    if around:
        return f"It has the right shape, but this model may be another one ({around.text})."
    return None


def _named_beside(pair: _Pair, target: ModelName) -> bool:
    size = pair.target.text("general.size_label")
    return pair.role is not FileRole.MTP and also_made_for(pair.drafter, target, size)


def _same(one: ModelName | None, other: ModelName | None) -> bool:
    return one is not None and other is not None and one.same_model(other)


def _why(pair: _Pair) -> str:
    mine, other = pair.drafter_name, pair.target_name
    reason = "Its shape, vocabulary and name are those of a drafter made for this model"
    if mine and other and mine.qat != other.qat:
        # Reported as a mild loss of acceptance, so it is taken.
        version = "the version" if mine.qat else "a version not"
        return f"{reason}, for {version} trained for low precision (QAT): some drafts may miss."
    return f"{reason}."


def _unknown_architecture(target: Header, supported: frozenset[str]) -> str | None:
    if target.architecture in supported:
        return None
    return f"It is not known to work with {target.architecture} models."


_A_FILE = {
    FileRole.FORK_DRAFTER: "a drafter for a fork of llama.cpp",
    FileRole.PROJECTOR: "a projector for images",
    FileRole.IMATRIX: "an importance matrix",
    FileRole.ADAPTER: "an adapter",
    FileRole.VOCABULARY: "a vocabulary without a model",
}
