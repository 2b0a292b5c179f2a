"""True dimensions of well-known models: every key and every tensor, worked out from a table.

``architectures.json`` says how to read it. Its expressions are of whole numbers, in Python's way of
writing them, and with letters for the dimensions of one block: ``H*K,D`` or ``(i+1) % 4 != 0``.
"""

import ast
import json
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

Key = str | bool | int | float | list[int] | list[bool]
Letters = Mapping[str, int]

_TABLE = Path(__file__).with_name("architectures.json")
_LETTERS = {
    "H": "attention.head_count",
    "F": "feed_forward_length",
    "E": "expert_count",
    "X": "expert_feed_forward_length",
    "S": "expert_shared_feed_forward_length",
    "C": "ssm.conv_kernel",
    "I": "ssm.inner_size",
    "N": "ssm.state_size",
    "T": "ssm.time_step_rank",
    "R": "ssm.group_count",
    "Q": "attention.q_lora_rank",
    "KL": "attention.kv_lora_rank",
    "Km": "attention.key_length_mla",
    "Ym": "attention.value_length_mla",
    "P": "embedding_length_per_layer_input",
    "SC": "shortconv.l_cache",
    "KD": "kda.head_dim",
    "IN": "attention.indexer.head_count",
    "IH": "attention.indexer.key_length",
    "LW": "attention.decay_lora_rank",
    "LA": "attention.iclr_lora_rank",
    "LV": "attention.value_residual_mix_lora_rank",
    "LG": "attention.gate_lora_rank",
}
"""Letters that are a key's number; the others are worked out in ``_letters``."""
_OPERATORS: dict[type[ast.operator | ast.cmpop], Callable[[Any, Any], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.Gt: operator.gt,
    ast.In: lambda item, items: item in items,
    ast.NotIn: lambda item, items: item not in items,
}


@dataclass(frozen=True)
class TensorShape:
    """One tensor; ``shape`` as numpy has it, the contiguous dimension last.

    ``block`` is None for what belongs to no block.
    """

    name: str
    shape: tuple[int, ...]
    block: int | None


@dataclass(frozen=True)
class Facts:
    """What the table says of one model.

    Attributes:
        name: of the model.
        architecture: ``general.architecture``.
        vocabulary: tokens.
        keys: the header's keys without the architecture before them, arrays written out.
        groups: of tensors: ``GROUP`` or ``GROUP if CONDITION``.
        letters: expressions of this model's own letters.
        tied: the token embeddings serve as the output as well.
        published_tensors: how many tensors a published file has, where that is known.
    """

    name: str
    architecture: str
    vocabulary: int
    keys: Mapping[str, Key]
    groups: Sequence[str]
    letters: Mapping[str, str]
    tied: bool = False
    published_tensors: int | None = None

    @property
    def blocks(self) -> int:
        """Blocks, those of an MTP head included."""
        return self._whole("block_count")

    @property
    def heads(self) -> int:
        """Blocks of an MTP head; 0 without one."""
        return self._whole("nextn_predict_layers")

    @property
    def trained_context(self) -> int:
        """Tokens that the model was trained for."""
        return self._whole("context_length")

    def tensors(self) -> Iterator[TensorShape]:
        """Every tensor, those that belong to no block first."""
        letters = [_letters(self, block) for block in range(self.blocks)]
        yield from self._group_tensors(letters[0], None)
        for block in range(self.blocks):
            yield from self._group_tensors(letters[block], block)

    def _group_tensors(self, letters: Letters, block: int | None) -> Iterator[TensorShape]:
        for entry in self.groups:
            group, _, condition = entry.partition(" if ")
            if condition and not evaluate(condition, letters):
                continue
            for rule in _table()["rules"][group]:
                name, _, shape = rule.partition(" = ")
                if name.startswith("blk.") == (block is not None):
                    full_name = name.replace("blk.", f"blk.{block}.", 1)
                    yield TensorShape(full_name, evaluate(f"({shape},)", letters), block)

    def _whole(self, key: str) -> int:
        value = self.keys.get(key, 0)
        assert isinstance(value, int)
        return value


def models() -> Sequence[str]:
    """Names of the models whose dimensions are true."""
    return tuple(_table()["models"])


def relatives() -> Sequence[str]:
    """Names of models with a true relative's dimensions, under an architecture of their own."""
    return tuple(_table()["relatives"])


def facts_of(name: str) -> Facts:
    """What the table says of one model. Raises: KeyError, if it does not know the name."""
    table = _table()
    entry = table["models"].get(name) or table["relatives"][name]
    original = facts_of(entry["like"]) if "like" in entry else None
    keys: dict[str, Any] = dict(original.keys if original else {})
    facts = Facts(
        name=name,
        architecture=entry["architecture"],
        vocabulary=entry.get("vocabulary") or (original.vocabulary if original else 0),
        keys={},
        groups=entry.get("tensors") or (original.groups if original else ()),
        letters={**(original.letters if original else {}), **entry.get("letters", {})},
        tied=entry.get("tied", original.tied if original else False),
        published_tensors=entry.get("published_tensors"),
    )
    keys |= entry.get("keys", {})
    blocks = int(keys["block_count"])
    written_out = {
        key: _written_out(value, blocks) for key, value in keys.items() if value is not None
    }
    return replace(facts, keys=written_out)


def evaluate(text: str, letters: Letters) -> Any:
    """The value of one expression. Raises: ValueError, for anything that the table has no use for.

    The text is taken apart by Python's own parser, and only the parts below are computed: nothing
    of it is ever run.
    """
    return _value(_parsed(text), letters)


def _value(node: ast.expr, letters: Letters) -> Any:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=letter) if letter in letters:
            return letters[letter]
        case ast.Tuple(elts=items):
            return tuple(_value(item, letters) for item in items)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return not _value(inner, letters)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, letters), _value(right, letters))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, letters), _value(right, letters))
        case ast.BoolOp(op=op, values=parts):
            each = (bool(_value(part, letters)) for part in parts)
            return all(each) if isinstance(op, ast.And) else any(each)
        case ast.IfExp(test=test, body=then, orelse=other):
            return _value(then if _value(test, letters) else other, letters)
    raise ValueError(f"the table cannot say {ast.unparse(node)!r}")


@cache
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@cache
def _table() -> Any:
    return json.loads(_TABLE.read_text(encoding="utf-8"))


def _written_out(value: Any, blocks: int) -> Key:
    if isinstance(value, dict):
        return [evaluate(value["each"], {"i": block}) for block in range(blocks)]
    known: Key = value
    return known


def _letters(facts: Facts, block: int) -> Letters:
    """The letters of architectures.json for one block."""
    keys = facts.keys

    def at(key: str, default: int = 0) -> Any:
        value = keys.get(key, default)
        return value[block] if isinstance(value, list) else value

    letters = {letter: at(key) for letter, key in _LETTERS.items()}
    trunk = facts.blocks - facts.heads
    letters |= {"i": block, "L": trunk, "D": at("embedding_length"), "V": facts.vocabulary}
    letters |= {"G": at("attention.head_count_kv", letters["H"]), "tied": facts.tied}
    dense = at("leading_dense_block_count")
    letters |= {"mtp": block >= trunk, "moe": letters["E"] > 0 and block >= dense}
    letters["swa"] = at("attention.sliding_window_pattern")
    for letter, expression in facts.letters.items():
        letters[letter] = evaluate(expression, letters)
    heads = keys["attention.head_count"]
    most = max(heads) if isinstance(heads, list) else int(str(heads))
    for letter, part in (("K", "key"), ("Y", "value")):
        length = at(f"attention.{part}_length", letters["D"] // most if most else 0)
        windowed = at(f"attention.{part}_length_swa", length)
        letters[letter] = windowed if letters["swa"] else length
    return {**letters, "rot": at("rope.dimension_count", letters["K"])}
