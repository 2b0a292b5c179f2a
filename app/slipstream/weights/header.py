"""The header of a GGUF file: what it says about the model, and where its tensors lie.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import os
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from slipstream.errors import Fact, SlipstreamError
from slipstream.weights.cursor import Damage, Readable
from slipstream.weights.parser import (
    ALIGNMENT,
    DEFAULT_ALIGNMENT,
    ArrayInfo,
    NotGguf,
    Tensor,
    Unsupported,
    Value,
    parse,
)

TOKENS = "tokenizer.ggml.tokens"


@dataclass(frozen=True)
class Header:
    """What one GGUF file, or the first of a set of shards, says about itself.

    Attributes:
        path: the file.
        version: of the format.
        architecture: name of the model's architecture; empty where the file names none.
        keys: metadata by its full key; long arrays are an ``ArrayInfo``.
        types: of each key the type of its value, for an array that of its elements, by its number
            in the format.
        tensors: the tensor table in file order.
        data_start, data_end: bytes from the start of the file between which the tensors lie.
        file_bytes: size of the file.
        missing_bytes: tensor data the file ends before; 0 for a whole file.
    """

    path: Path
    version: int
    architecture: str
    keys: Mapping[str, Value]
    types: Mapping[str, int]
    tensors: tuple[Tensor, ...]
    data_start: int
    data_end: int
    file_bytes: int
    missing_bytes: int

    def text(self, key: str) -> str | None:
        """The value of a full key, if it is text."""
        value = self.keys.get(key)
        return value if isinstance(value, str) else None

    def integer(self, key: str) -> int | None:
        """The value of a full key, if it is a whole number."""
        value = self.keys.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def number(self, name: str) -> int | None:
        """A whole number of the architecture: ``number("block_count")``."""
        return self.integer(f"{self.architecture}.{name}")

    def numbers(self, name: str) -> tuple[int, ...]:
        """A short array of whole numbers of the architecture; empty if it is not there."""
        value = self.keys.get(f"{self.architecture}.{name}")
        if not isinstance(value, tuple):
            return ()
        return tuple(item for item in value if isinstance(item, int))

    @cached_property
    def by_name(self) -> Mapping[str, Tensor]:
        """The tensors by name."""
        return {tensor.name: tensor for tensor in self.tensors}

    @property
    def layers(self) -> int:
        """Blocks of the model, those that only predict further tokens included."""
        return self.number("block_count") or 0

    @cached_property
    def blocks(self) -> frozenset[str]:
        """Numbers of the blocks that have tensors, as text."""
        names = (tensor.name.split(".", 2) for tensor in self.tensors)
        return frozenset(parts[1] for parts in names if parts[0] == "blk" and len(parts) > 1)

    def context(self, wanted: int) -> int:
        """Tokens of context that the model was trained for, at most ``wanted``."""
        trained = self.number("context_length") or 0
        return min(wanted, trained) if trained > 0 else wanted

    @property
    def hidden_size(self) -> int:
        """Width of the hidden state."""
        return self.number("embedding_length") or 0

    @property
    def vocabulary_size(self) -> int:
        """Number of tokens; 0 without a vocabulary."""
        tokens = self.keys.get(TOKENS)
        if isinstance(tokens, ArrayInfo):
            return tokens.length
        return len(tokens) if isinstance(tokens, tuple) else 0

    @property
    def token_count(self) -> int:
        """Number of tokens; without a vocabulary, what its sizes say."""
        return self.vocabulary_size or self.number("vocab_size") or self._embeddings

    @property
    def _embeddings(self) -> int:
        embedding = self.by_name.get("token_embd.weight")
        return embedding.shape[1] if embedding and len(embedding.shape) > 1 else 0

    @property
    def alignment(self) -> int:
        """Bytes that the place of each tensor is a multiple of."""
        return self.integer(ALIGNMENT) or DEFAULT_ALIGNMENT


def read_header(path: Path, *, keep_arrays: Collection[str] = ()) -> Header:
    """Read the header of a GGUF file.

    Args:
        path: the file.
        keep_arrays: full keys whose arrays are built whatever their length.

    Raises: SlipstreamError: ``not_found``, ``unreadable``, ``not_a_model``, ``damaged_file``,
        ``unsupported_file``.
    """
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            raise _unreadable(
                path, "It is a folder." if stat.S_ISDIR(mode) else "It is not a file."
            )
        with path.open("rb") as stream:
            return header_of(path, stream, os.fstat(stream.fileno()).st_size, keep_arrays)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise SlipstreamError(
            "not_found",
            f"There is no file {path}.",
            facts={"path": str(path)},
            action="Check the path.",
        ) from error
    except OSError as error:
        raise _unreadable(path, f"{error.strerror}.") from error


def header_of(
    path: Path,
    stream: Readable,
    file_bytes: int,
    keep_arrays: Collection[str] = (),
    *,
    if_damaged: str = "Download it again.",
) -> Header:
    """The header that a stream of a file starts with.

    Args:
        path: what the file is called.
        stream: stands at the start of the file.
        file_bytes: size of the file.
        keep_arrays: as for ``read_header``.
        if_damaged: what to do about a damaged file.

    Raises: SlipstreamError ``not_a_model``, ``damaged_file``, ``unsupported_file``; what the
        stream raises.
    """
    facts: dict[str, Fact] = {"path": str(path), "file_bytes": file_bytes}
    try:
        parsed = parse(stream, file_bytes, frozenset(keep_arrays))
    except NotGguf as error:
        raise SlipstreamError(
            "not_a_model",
            f"This is not a GGUF file: {path.name}.",
            facts=facts,
            action="Choose a model in GGUF format.",
        ) from error
    except Unsupported as error:
        raise SlipstreamError(
            "unsupported_file", f"{path.name} {error}.", facts=facts, action="Get a newer version."
        ) from error
    except Damage as error:
        raise SlipstreamError(
            "damaged_file",
            f"{path.name} is damaged: {error}.",
            facts=facts,
            action=if_damaged,
        ) from error
    architecture = parsed.keys.get("general.architecture")
    return Header(
        path=path,
        version=parsed.version,
        architecture=architecture if isinstance(architecture, str) else "",
        keys=MappingProxyType(parsed.keys),
        types=MappingProxyType(parsed.types),
        tensors=parsed.tensors,
        data_start=parsed.data_start,
        data_end=parsed.data_end,
        file_bytes=file_bytes,
        missing_bytes=max(0, parsed.data_end - file_bytes),
    )


def _unreadable(path: Path, why: str) -> SlipstreamError:
    return SlipstreamError(
        "unreadable",
        f"{path} cannot be read. {why}",
        facts={"path": str(path)},
        action="Choose a file that you may read.",
    )
