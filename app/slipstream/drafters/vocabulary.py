"""Whether two models read and write text in the same tokens."""

from collections.abc import Callable, Sequence

from slipstream.weights.header import TOKENS, Header, read_header
from slipstream.weights.parser import ArrayInfo, Value

Tokens = Callable[[Header], Sequence[Value]]
"""Gets the texts of a model's tokens, which headers leave out: they are long."""


def same_tokenizer(one: Header, other: Header) -> bool:
    """Whether two headers name the same kind of tokenizer with the same splitting of text."""
    keys = ("tokenizer.ggml.model", "tokenizer.ggml.pre")
    return all(one.text(key) == other.text(key) for key in keys)


def tokens_in_file(header: Header) -> Sequence[Value]:
    """The tokens of a model on this computer, read again from its file.

    Raises: SlipstreamError, if the file can no longer be read.
    """
    return tokens_of(read_header(header.path, keep_arrays=(TOKENS,)))


def tokens_of(header: Header) -> Sequence[Value]:
    """The tokens of a header that was read with them."""
    tokens = header.keys.get(TOKENS)
    return tokens if isinstance(tokens, tuple) else ()


def different_tokens(
    one: Header, other: Header, *, first: int = 0, tokens: Tokens = tokens_in_file
) -> int:
    """How many of the tokens that both have, from id ``first`` on, are not the same text.

    Args:
        one, other: headers; where they show that all tokens are the same, these are not fetched.
        first: id of the first token that counts.
        tokens: gets the tokens of either.

    Raises: what ``tokens`` raises.
    """
    if (digest := _digest(one)) and digest == _digest(other):
        return 0
    pairs = zip(tokens(one)[first:], tokens(other)[first:], strict=False)
    return sum(mine != theirs for mine, theirs in pairs)


def _digest(header: Header) -> str:
    """Of the token array as it stands in the file: equal digests are equal vocabularies."""
    array = header.keys.get(TOKENS)
    return array.digest if isinstance(array, ArrayInfo) else ""
