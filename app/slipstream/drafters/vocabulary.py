"""Whether two models read and write text in the same tokens."""

from slipstream.weights.header import TOKENS, Header, read_header
from slipstream.weights.parser import ArrayInfo, Value


def same_tokenizer(one: Header, other: Header) -> bool:
    """Whether two headers name the same kind of tokenizer with the same splitting of text."""
    keys = ("tokenizer.ggml.model", "tokenizer.ggml.pre")
    return all(one.text(key) == other.text(key) for key in keys)


def different_tokens(one: Header, other: Header, *, first: int = 0) -> int:
    """How many of the tokens that both have, from id ``first`` on, are not the same text.

    Raises: SlipstreamError, if a file can no longer be read.
    """
    if (digest := _digest(one)) and digest == _digest(other):
        return 0
    pairs = zip(_tokens(one)[first:], _tokens(other)[first:], strict=False)
    return sum(mine != theirs for mine, theirs in pairs)


def _digest(header: Header) -> str:
    """Of the token array as it stands in the file: equal digests are equal vocabularies."""
    array = header.keys.get(TOKENS)
    return array.digest if isinstance(array, ArrayInfo) else ""


def _tokens(header: Header) -> tuple[Value, ...]:
    tokens = read_header(header.path, keep_arrays=(TOKENS,)).keys.get(TOKENS)
    return tokens if isinstance(tokens, tuple) else ()
